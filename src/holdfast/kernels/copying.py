"""Copies between arrays, element by element.

Numba makes a slice that is set to another array raise an error where the lengths differ. It takes a second to compile
that error and its sentence; a loop takes no time.
"""

from typing import Any

from numpy.typing import NDArray

from holdfast.kernels.jit import kernel


@kernel
def copy_to(target: NDArray[Any], source: NDArray[Any]) -> None:
    """Copy an array of one axis. OUT target, as long as the source"""
    for i in range(len(target)):
        target[i] = source[i]
