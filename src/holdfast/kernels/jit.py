"""The single door to Numba, so that the JIT policy stands in one place.

Kernels release the GIL (probes run in threads) and are cached on disk (a command line starts often). Set
`NUMBA_DISABLE_JIT=1` to run them as plain Python, for debugging and for coverage.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile `function` to machine code on first use."""
    return cast(F, numba.njit(cache=True, nogil=True, boundscheck=False)(function))


def inlined(function: F) -> F:
    """Make `function` part of each kernel that calls it: for a few lines that a kernel runs once a key, where handing
    arrays over would cost more than the lines.
    """
    return cast(F, numba.njit(inline="always", nogil=True, boundscheck=False)(function))
