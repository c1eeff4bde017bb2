"""The indexes of the rival (see `incpod`), compiled: making chains, searching them, and taking rows in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Ranks = NDArray[np.uint32]  # [column, row]
Boxes = NDArray[np.uint8]  # [rule, column]

LESS, EQUAL, MORE, FREE = 1, 2, 4, 15


class Chains(NamedTuple):
    """Chains in a pool, each with room to grow: chain k has the places `start[k]` to before `start[k] + size[k]`.

    `keys[0]` and `keys[1]` ascend in every chain, without ties where they are `strict`; `rows` are rows, of which
    `equal_rows[row]` is the next with the same two values, -1 behind the last. `used` are the numbers of chains and of
    places of the pool.
    """

    keys: Ints
    strict: NDArray[np.bool_]
    rows: Ints
    start: Ints
    size: Ints
    room: Ints
    used: Ints
    equal_rows: Ints


@njit(cache=True)
def cover(second: Ints, strict: bool, chains: Ints) -> int:
    """Greedy chains: each row, in the order of the first key, goes to the chain whose last row is closest in the second
    key and not above it, and to a new chain where there is none. OUT chains[i]; gives how many there are.

    The last keys of chains, from the first chain on, descend: so the closest one is found by bisection.
    """
    last = np.empty(len(second), np.int64)
    count = 0
    for i in range(len(second)):
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            if last[middle] < second[i] or (not strict and last[middle] == second[i]):
                high = middle
            else:
                low = middle + 1
        count = max(count, low + 1)
        last[low] = second[i]
        chains[i] = low
    return count


@njit(cache=True)
def _bounds(keys: Ints, begin: int, end: int, value: int) -> tuple[int, int]:
    """Where keys that are at least a value begin, and where those above it do."""
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < value:
            low = middle + 1
        else:
            high = middle
    first, high = low, end
    while low < high:
        middle = (low + high) // 2
        if keys[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return first, low


@njit(cache=True)
def _piece(begin: int, end: int, bounds: tuple[int, int], mark: int) -> tuple[int, int]:
    """The places of a chain whose key has a mark with a value, given the bounds of that."""
    if mark & LESS:
        return begin, bounds[1] if mark & EQUAL else bounds[0]
    return bounds[0] if mark & EQUAL else bounds[1], end


@njit(cache=True)
def _lies(ranks: Ranks, first: int, second: int, columns: Ints, masks: Ints) -> bool:
    """Whether a pair has some marks."""
    for i in range(len(columns)):
        a, b = ranks[columns[i], first], ranks[columns[i], second]
        if not masks[i] & (LESS if a < b else EQUAL if a == b else MORE):
            return False
    return True


class Rest(NamedTuple):
    """What is left to check of each rule of an index: rule r has the marks `masks[i]` on the columns `columns[i]` for i
    from `start[r]` to before `start[r + 1]`; `own[r, side, k]` is the mark that a chain's key k is to have with that of
    the new row, where the new row is the second of the pair (side 0) or the first.
    """

    start: Ints
    columns: Ints
    masks: Ints
    own: Ints


class Found(NamedTuple):
    """What came of it: `tally`, the numbers of candidates and of pairs that break a rule; `broken[rule, 2]`, the first
    such pair of each rule, -1 where there is none; and as many `candidates[i, 2]` as there is room for, with sides.
    """

    tally: Ints
    broken: Ints
    candidates: Ints


@njit(cache=True)
def _check(ranks: Ranks, row: int, candidate: int, side: int, rule: int, rest: Rest, found: Found) -> None:
    """Look at one candidate."""
    if found.tally[0] < len(found.candidates):
        found.candidates[found.tally[0], 0], found.candidates[found.tally[0], 1] = candidate, side
    found.tally[0] += 1
    some = slice(rest.start[rule], rest.start[rule + 1])
    first, second = (candidate, row) if side == 0 else (row, candidate)
    if _lies(ranks, first, second, rest.columns[some], rest.masks[some]):
        found.tally[1] += 1
        if found.broken[rule, 0] < 0:
            found.broken[rule, 0], found.broken[rule, 1] = first, second


@njit(cache=True)
def fetch(
    chains: Chains, ranks: Ranks, row: int, keys: tuple[int, int], rest: Rest, patient: bool, found: Found
) -> int:
    """Fetch for all rules of an index, with the chain that the row can be put in, or -1; -2 - r: where its equal is r.

    Not patient: what is known to be broken is not looked at any more.
    """
    fits, largest = -1, -1
    for k in range(chains.used[0]):
        begin, end = chains.start[k], chains.start[k] + chains.size[k]
        first = _bounds(chains.keys[0], begin, end, keys[0])
        second = _bounds(chains.keys[1], begin, end, keys[1])
        for rule in range(len(rest.own)):
            for side in range(2):
                if not patient and found.broken[rule, 0] >= 0:
                    continue
                low, high = _piece(begin, end, first, rest.own[rule, side, 0])
                other_low, other_high = _piece(begin, end, second, rest.own[rule, side, 1])
                for place in range(max(low, other_low), min(high, other_high)):
                    candidate = chains.rows[place]
                    while candidate >= 0:
                        _check(ranks, row, candidate, side, rule, rest, found)
                        candidate = chains.equal_rows[candidate]
        low, high = max(first[0], second[0]), min(first[1], second[1])
        tied = (chains.strict[0] and first[0] < first[1]) or (chains.strict[1] and second[0] < second[1])
        if low < high:
            fits = -2 - low
        elif low == high and not tied and fits >= -1 and chains.size[k] > largest:
            fits, largest = k, chains.size[k]
    return fits


@njit(cache=True)
def _put(chains: Chains, row: int, keys: tuple[int, int], at: int) -> bool:
    """Take a row in, where `fetch` says: into the chain that has most rows of those that it fits. False: no room."""
    if at < -1:
        head = chains.rows[-2 - at]
        chains.equal_rows[row], chains.equal_rows[head] = chains.equal_rows[head], row
        return True
    if at == -1:
        at = chains.used[0]
        if at == len(chains.start):
            return False
        chains.start[at], chains.size[at], chains.room[at] = chains.used[1], 0, 0
        chains.used[0] += 1
    begin, size = chains.start[at], chains.size[at]
    if size == chains.room[at]:
        room, fresh = 2 * size + 4, chains.used[1]
        if fresh + room > len(chains.rows):
            return False
        chains.keys[:, fresh : fresh + size] = chains.keys[:, begin : begin + size].copy()
        chains.rows[fresh : fresh + size] = chains.rows[begin : begin + size].copy()
        chains.start[at], chains.room[at], chains.used[1], begin = fresh, room, fresh + room, fresh
    place = max(
        _bounds(chains.keys[0], begin, begin + size, keys[0])[0],
        _bounds(chains.keys[1], begin, begin + size, keys[1])[0],
    )
    for i in range(begin + size, place, -1):
        chains.keys[0, i], chains.keys[1, i] = chains.keys[0, i - 1], chains.keys[1, i - 1]
        chains.rows[i] = chains.rows[i - 1]
    chains.keys[0, place], chains.keys[1, place], chains.rows[place] = keys[0], keys[1], row
    chains.size[at] += 1
    return True


@njit(cache=True)
def probe_chains(chains: Chains, ranks: Ranks, rows: Ints, keys: Ints, rest: Rest, patient: bool, found: Found) -> bool:
    """Each of some rows, which are new, against those before it: fetch, and take it in. IN keys[k, i]: of rows[i]"""
    for i in range(len(rows)):
        own = keys[0, i], keys[1, i]
        if not _put(chains, rows[i], own, fetch(chains, ranks, rows[i], own, rest, patient, found)):
            return False
    return True


@njit(cache=True)
def probe_groups(
    heads: Ints,
    equal_rows: Ints,
    ranks: Ranks,
    column: int,
    rows: Ints,
    rest: Rest,
    patient: bool,
    found: Found,
) -> None:
    """The same by equality in one column: `heads[rank]` is a row, and `equal_rows[row]` the next with that rank."""
    for row in rows:
        rank = ranks[column, row]
        for rule in range(len(rest.own)):
            for side in range(2):
                candidate = heads[rank] if patient or found.broken[rule, 0] < 0 else -1
                while candidate >= 0:
                    _check(ranks, row, candidate, side, rule, rest, found)
                    candidate = equal_rows[candidate]
        equal_rows[row], heads[rank] = heads[rank], row
