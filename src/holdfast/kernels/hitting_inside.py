"""Which sets are inside others."""

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.hitting_bits import Words
from holdfast.kernels.jit import kernel

Places = NDArray[np.int64]


@kernel
def first_above(sets: Words, others: Words, places: Places) -> None:
    """OUT places: for each set the first of the others that contains it, -1 where none does."""
    for i in range(len(sets)):
        places[i] = -1
        for j in range(len(others)):
            if _is_inside(sets, i, others, j):
                places[i] = j
                break


@kernel
def _is_inside(sets: Words, i: int, others: Words, j: int) -> bool:
    for w in range(sets.shape[1]):  # noqa: SIM110
        if sets[i, w] & ~others[j, w]:
            return False
    return True
