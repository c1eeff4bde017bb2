"""The single door to Numba, so that the JIT policy stands in one place.

Kernels release the GIL (probes run in threads) and are cached on disk (a command line starts often). Numba itself takes
longer to load than a small batch takes, so it is loaded when the first kernel needs it, and no kernel is made ready
before it is called.

A kernel that says how many steps a call takes (`measured`) runs as it was written, in Python, while that is cheaper
than to load Numba: as long as the process has not loaded it, and all steps so taken stay within `PATIENCE`. Set
`NUMBA_DISABLE_JIT=1` to run all kernels as plain Python, for debugging and for coverage.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial, update_wrapper
from pathlib import Path
from threading import Timer
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from holdfast.progress import note_of_process

F = TypeVar("F", bound=Callable[..., object])
Steps = Callable[..., int]

_ALL_PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"
LONG = 1.0  # seconds of compiling, after which people hear of it
PATIENCE = 250_000  # steps of Python, each of about a microsecond, that take no longer than to load Numba
_taken = [0]  # steps of Python so far; a thread that loses some of another one's does no harm
_plain_names: dict[str, dict[str, Any]] = {}  # of each module, what its kernels see when they run as Python


class _Kernel:
    """A function that becomes machine code when it is first called, here or in another kernel."""

    def __init__(self, function: Callable[..., object], steps: Steps | None = None, **options: Any) -> None:
        update_wrapper(self, function)
        self._function, self._steps, self._options = function, steps, options

    def __call__(self, *values: Any) -> Any:
        if "compiled" not in self.__dict__ and self._is_plain(values):
            with np.errstate(over="ignore"):  # integers wrap, as those of machine code do
                return self.plain(*values)
        return self.compiled(*values)

    def _is_plain(self, values: Sequence[Any]) -> bool:
        """Whether a call runs as Python, given its arguments."""
        return _ALL_PLAIN or (self._steps is not None and _are_cheaper(int(self._steps(*values))))

    @property
    def targetoptions(self) -> dict[str, Any]:
        """What Numba looks at, with `py_func`, to make a function part of the one that calls it."""
        return self._options

    @property
    def py_func(self) -> Callable[..., object]:
        """The function as it was written."""
        return self._function

    @cached_property
    def plain(self) -> Callable[..., object]:
        """The function as it was written, calling other kernels as they were written."""
        function = cast(FunctionType, self._function)
        if (names := _plain_names.get(function.__module__)) is None:
            names = _plain_names[function.__module__] = dict(function.__globals__)
            names |= {name: each.plain for name, each in names.items() if isinstance(each, _Kernel)}
        return FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)

    @cached_property
    def compiled(self) -> Any:
        """What Numba makes of the function for calls from Python."""
        made = self._made_by_numba()
        if self._options.get("cache"):
            _remove_unreadable_index(Path(made.stats.cache_path), cast(FunctionType, self._function))
        return made

    @cached_property
    def called(self) -> Any:
        """What Numba makes of the function for calls from other kernels: without what Python needs, and not cached, as
        the machine code of a caller holds that of all it calls.
        """
        return self._made_by_numba(cache=False, no_cpython_wrapper=True)

    def _made_by_numba(self, **more: Any) -> Any:
        import numba

        _let_kernels_call_kernels()
        _watch_the_clock()
        options: dict[str, Any] = {"nogil": True, "boundscheck": False, "no_cfunc_wrapper": True}
        return numba.njit(**options | self._options | more)(self._function)


class Clock:
    """Says once that this process compiles, if that takes long altogether: with a full cache it takes no time."""

    def __init__(self) -> None:
        self._inside, self._spent, self._begun = 0, 0.0, 0.0
        self._alarm: Timer | None = None
        self._said = False

    def start(self) -> None:
        """A kernel is compiled; those that it calls are compiled meanwhile."""
        self._inside += 1
        if self._inside == 1 and not self._said:
            self._begun = time.monotonic()
            self._alarm = Timer(LONG - self._spent, self._say)
            self._alarm.daemon = True
            self._alarm.start()

    def stop(self) -> None:
        """It is compiled."""
        self._inside -= 1
        if self._inside == 0 and self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
            self._spent += time.monotonic() - self._begun

    def _say(self) -> None:
        self._said = True
        note_of_process("Compiling for this machine (at first use only) …")


@cache
def _watch_the_clock() -> None:
    """Let Numba say when it compiles, and not when it reads its cache."""
    from numba.core import event

    clock = Clock()

    class Listener(event.Listener):
        def on_start(self, event: Any) -> None:  # noqa: ARG002  # Numba names it
            clock.start()

        def on_end(self, event: Any) -> None:  # noqa: ARG002
            clock.stop()

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]


def _remove_unreadable_index(folder: Path, function: FunctionType) -> None:
    """Remove what the cache has of a kernel, where it names classes that are gone by now: Numba would fail on it."""
    import numba

    source, python = Path(function.__code__.co_filename).stem, f"py{sys.version_info.major}{sys.version_info.minor}"
    index = folder / f"{source}.{function.__qualname__}-{function.__code__.co_firstlineno}.{python}.nbi"
    with suppress(OSError), index.open("rb") as file:
        try:
            if pickle.load(file) == numba.__version__:  # of another version Numba reads no more, either
                pickle.loads(file.read())
        except (AttributeError, ImportError, EOFError, pickle.UnpicklingError):
            index.unlink()


@cache
def _let_kernels_call_kernels() -> None:
    """Numba would compile a called kernel again for each constant that it is called with, and for each width of an
    integer. Once is enough: LLVM puts most of them into their callers, and sees the constants there.
    """
    from numba import types
    from numba.extending import models, register_model, typeof_impl

    def widened(given: Any) -> Any:
        plain = given.literal_type if isinstance(given, types.Literal) else given
        return types.int64 if plain == types.int32 else plain

    class Called(types.Dispatcher):
        def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
            return super().get_call_type(context, tuple(map(widened, args)), {k: widened(v) for k, v in kws.items()})

    register_model(Called)(models.OpaqueModel)
    typeof_impl.register(_Kernel)(lambda kernel, _context: Called(kernel.called))


def _are_cheaper(steps: int) -> bool:
    """Whether these steps in Python, after those already taken, are cheaper than to load Numba."""
    if "numba" in sys.modules or _taken[0] + steps > PATIENCE:
        return False
    _taken[0] += steps
    return True


def kernel(function: F) -> F:
    """Compile `function` to machine code on first use."""
    return cast(F, _Kernel(function, cache=True))


def measured(steps: Steps) -> Callable[[F], F]:
    """The same, of a function whose arguments say about how many steps it takes: few steps run as Python."""
    return cast(Callable[[F], F], partial(_Kernel, steps=steps, cache=True))


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: memory-mapped arrays are read-only, and a kernel is compiled again for each mix of flags."""
    view = array.view()
    view.flags.writeable = False
    return view


def inlined(function: F) -> F:
    """Make `function` part of each kernel that calls it: for a few lines that a kernel runs once a key, where handing
    arrays over would cost more than the lines.
    """
    return cast(F, _Kernel(function, inline="always"))
