"""The single door to Numba, so that the JIT policy stands in one place.

Kernels release the GIL (probes run in threads) and are cached on disk (a command line starts often). Numba itself takes
longer to load than a small batch takes, so it is loaded when the first kernel runs, and no kernel is made ready before
it is called. Set `NUMBA_DISABLE_JIT=1` to run them as plain Python, for debugging and for coverage.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, TypeVar, cast

from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., object])


class _Kernel:
    """A function that becomes machine code when it is first called, here or in another kernel."""

    def __init__(self, function: Callable[..., object], **options: Any) -> None:
        update_wrapper(self, function)
        self._function, self._options = function, options

    def __call__(self, *values: Any) -> Any:
        return self.compiled(*values)

    @property
    def targetoptions(self) -> dict[str, Any]:
        """What Numba looks at, with `py_func`, to make a function part of the one that calls it."""
        return self._options

    @property
    def py_func(self) -> Callable[..., object]:
        """The function as it was written."""
        return self._function

    @cached_property
    def compiled(self) -> Any:
        """What Numba makes of the function."""
        import numba
        from numba.extending import typeof_impl

        if _Kernel not in typeof_impl.registry:  # other kernels see this one as what it becomes
            typeof_impl.register(_Kernel)(lambda kernel, context: typeof_impl(kernel.compiled, context))
        return numba.njit(nogil=True, boundscheck=False, **self._options)(self._function)


def kernel(function: F) -> F:
    """Compile `function` to machine code on first use."""
    return cast(F, _Kernel(function, cache=True))


def is_ready(function: Callable[..., object]) -> bool:
    """Whether a kernel has been called in this process: the first call takes some milliseconds, that of the first of
    all kernels many.
    """
    return "compiled" in vars(function)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: memory-mapped arrays are read-only, and a kernel is compiled anew for each mix of flags."""
    view = array.view()
    view.flags.writeable = False
    return view


def inlined(function: F) -> F:
    """Make `function` part of each kernel that calls it: for a few lines that a kernel runs once a key, where handing
    arrays over would cost more than the lines.
    """
    return cast(F, _Kernel(function, inline="always"))
