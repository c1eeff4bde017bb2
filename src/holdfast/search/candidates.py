"""Rows that may be in a pair at all, found by looks at codes alone, before any key is made or sorted.

A row whose equality key occurs nowhere among those it could pair with is in no pair. Where columns are compared with
others, many rows have a value that the other column never had; hashes of the keys and bitmaps rule out most others.
Cost: a few nanoseconds a row and equality column.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import frozen
from holdfast.kernels.semijoin import marked, mix_codes, mix_keys, see, seen
from holdfast.search.keys import CodeSpace
from holdfast.search.operands import Operands
from holdfast.search.queries import Lookup
from holdfast.table.runner import Threads
from holdfast.table.shard import AnyCodes

Hashes = NDArray[np.uint32]
_WORTH_THREADS = 1 << 19
_BUCKETS_A_ROW = 16
_FEW = 4  # rows that are at most one in four are worth being looked at apart
_MOST_BITS = 30


def worth_it(lookup: Lookup, rows: Operands) -> bool:
    """Whether many rows may turn out to be in no pair: their keys are about as many as the rows, or are compared with
    those of other columns.
    """
    if not lookup.by_key or lookup.asking or lookup.found:
        return False
    crossing = any(c.mine != c.theirs for c in lookup.by_key)
    return crossing or math.prod(rows.distinct[c] for c in lookup.keys) > len(rows) // 2


def candidates(lookup: Lookup, rows: Operands) -> tuple[Operands, Operands]:
    """The rows that may ask, and those that may be found, among some rows."""
    mine, theirs = lookup.keys, [c.theirs for c in lookup.by_key]
    if list(mine) == theirs:
        hashes = _hashes(rows, mine, mine)
        _, twice, bits = _bitmaps(hashes)
        shared = rows.at(_seen(hashes, bits, twice))
        return shared, shared
    asking = _sharing_values(rows, theirs, mine)
    same = sorted(zip(theirs, mine, strict=True)) == sorted(zip(mine, theirs, strict=True))
    found = asking if same else _sharing_values(rows, mine, theirs)
    asking_hashes, found_hashes = _hashes(asking, theirs, mine), _hashes(found, mine, theirs)
    asking_places = _meeting(asking_hashes, found_hashes)
    found_places = _meeting(found_hashes, asking_hashes[asking_places])
    return asking.at(asking_places), found.at(found_places)


def _sharing_values(rows: Operands, columns: Sequence[int], others: Sequence[int]) -> Operands:
    """The rows whose values in some columns have all been in the others, where these are few; else all rows."""
    crossing = [(column, other) for column, other in zip(columns, others, strict=True) if column != other]
    masks = {column: rows.spaces.shared(column, other, rows.table) for column, other in crossing}
    places: NDArray[np.int64] | None = None
    for column in sorted(masks, key=lambda each: float(masks[each].mean())):  # what few have in common comes first
        codes = rows.codes(column)
        places = _marked(codes, masks[column]) if places is None else places[masks[column][codes[places]]]
        if _FEW * len(places) > len(rows):
            return rows
    return rows if places is None else rows.at(places)


def _marked(codes: AnyCodes, mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The places of the codes that are marked."""
    return _places(len(codes), lambda part, places: marked(frozen(codes[part]), mask, places))


def _meeting(hashes: Hashes, others: Hashes) -> NDArray[np.int64]:
    """The places of the hashes that occur among others."""
    once, _, bits = _bitmaps(others)
    return _seen(hashes, bits, once)


def _bitmaps(hashes: Hashes) -> tuple[NDArray[np.uint64], NDArray[np.uint64], int]:
    """Of some hashes, bitmaps of those that are there and of those that are there twice; few share a place."""
    bits = min(_MOST_BITS, max(6, (int(np.count_nonzero(hashes)) * _BUCKETS_A_ROW).bit_length()))
    once, twice = np.zeros((2, 1 << (bits - 6)), np.uint64)
    see(hashes, bits, once, twice)
    return once, twice, bits


def _seen(hashes: Hashes, bits: int, mask: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The places of the hashes that are marked."""
    return _places(len(hashes), lambda part, places: seen(hashes[part], bits, mask, places))


def _hashes(rows: Operands, columns: Sequence[int], others: Sequence[int]) -> Hashes:
    """The hash of each row's keys in some columns, which meet those of the others; 0 where they can't."""
    hashes = np.ones(len(rows), np.uint32)
    for column, other in zip(columns, others, strict=True):
        Threads().map(_mixing(rows, column, other, hashes), _parts(len(rows)))
    return hashes


def _mixing(rows: Operands, column: int, other: int, hashes: Hashes) -> Callable[[slice], None]:
    """What takes a column into the hashes of a part of the rows."""
    codes, spaces = rows.codes(column), rows.spaces
    if isinstance(spaces.of_column[column], CodeSpace):
        null_meets = spaces.nulls.are_equal
        return lambda part: mix_codes(frozen(codes[part]), null_meets, hashes[part])
    keys, shared = spaces.all_keys(column, rows.table), spaces.shared(column, other, rows.table)
    return lambda part: mix_keys(frozen(codes[part]), keys, shared, hashes[part])


def _places(rows: int, mark: Callable[[slice, NDArray[np.int64]], int]) -> NDArray[np.int64]:
    """The places of the rows that a function finds in each part: it fills an array, and returns how many they are."""

    def look(part: slice) -> NDArray[np.int64]:
        places = np.empty(min(part.stop, rows) - part.start + 1, np.int64)
        found = mark(part, places)
        return places[:found] + np.int64(part.start)

    return np.concatenate([np.empty(0, np.int64), *Threads().map(look, _parts(rows))])


def _parts(rows: int) -> list[slice]:
    """All rows, in as many parts as there are processors where that is worth it."""
    step = max(_WORTH_THREADS, -(-rows // (os.cpu_count() or 1)))
    return [slice(begin, begin + step) for begin in range(0, rows, step)]
