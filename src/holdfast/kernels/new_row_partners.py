"""New rows and the old ones that agree with them, where one old row of each group is enough.

If a rule held before a batch, the old rows of a group are alike: a new row is compared with any one of them. Where
contexts have few values such a row is found after a short look.
"""

from typing import Any

import numpy as np

from holdfast.kernels.arrays import Codes, Ints, Mask, Words
from holdfast.kernels.hashing import SEED, filled, first_slot, mask_of, may_be, mixed, next_slot, number_in
from holdfast.kernels.jit import inlined, kernel


@inlined
def _key(cells: Codes, columns: Ints, row: int) -> Any:
    """The hash of a row's values in some columns."""
    hashed = SEED
    for column in columns:
        hashed = mixed(hashed, np.uint64(cells[column, row]))
    return hashed


@inlined
def _has_null(cells: Codes, columns: Ints, row: int) -> bool:
    found = False
    for column in columns:
        found |= cells[column, row] == 0
    return found


@inlined
def _entry(slots: Words, firsts: Ints, cells: Codes, columns: Ints, row: int, hashed: Any) -> Any:
    """The slot of the group that a row is in, or the free one where it would be."""
    mask = mask_of(slots)
    at = first_slot(hashed, mask)
    while slots[at] != 0:
        if may_be(slots[at], hashed):
            other, same = firsts[number_in(slots[at])], True
            for column in columns:
                same &= cells[column, row] == cells[column, other]
            if same:
                break
        at = next_slot(at, mask)
    return at


@kernel
def partners(
    cells: Codes,
    columns: Ints,
    alive: Mask,
    fresh: int,
    skip_null: bool,
    slots: Words,
    firsts: Ints,
    olds: Ints,
    pairs: Ints,
) -> Any:
    """Each new row with the first new one of its group, and with an old one, if there are such: two rows agree on some
    columns. OUT pairs[pair, 2]. Returns how many.

    slots: 0 before, at least twice as many as new rows, a power of two; firsts[group], olds[group]: anything
    """
    groups, found = 0, 0
    for row in range(fresh, len(alive)):
        if not alive[row] or (skip_null and _has_null(cells, columns, row)):
            continue
        hashed = _key(cells, columns, row)
        at = _entry(slots, firsts, cells, columns, row, hashed)
        if slots[at] == 0:
            slots[at] = filled(groups, hashed)
            firsts[groups], olds[groups] = row, -1
            groups += 1
        else:
            pairs[found, 0], pairs[found, 1] = firsts[number_in(slots[at])], row
            found += 1
    missing = groups
    for row in range(fresh):
        if missing == 0:
            break
        if alive[row]:
            at = _entry(slots, firsts, cells, columns, row, _key(cells, columns, row))
            if slots[at] != 0 and olds[number_in(slots[at])] < 0:
                olds[number_in(slots[at])] = row
                pairs[found, 0], pairs[found, 1] = row, firsts[number_in(slots[at])]
                found += 1
                missing -= 1
    return found
