"""The indexes of the rival (see `incpod`), compiled: making chains, searching them, and taking rows in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Ranks = NDArray[np.int32]  # [column, row]
Boxes = NDArray[np.uint8]  # [rule, column]

LESS, EQUAL, MORE, FREE = 1, 2, 4, 15


class Chains(NamedTuple):
    """Chains in a pool, each with room to grow: chain k has the places `start[k]` to before `start[k] + size[k]`.

    `keys[0]` and `keys[1]` ascend in every chain; where they are `strict`, rows tie only with rows that have both keys
    in common. At each place there is a row, and in `cells` its ranks in the columns that rules are to be checked on, so
    that candidates are read in order. `used` are the numbers of chains and of places of the pool.
    """

    keys: Ranks
    strict: NDArray[np.bool_]
    rows: NDArray[np.int32]
    cells: Ranks
    start: Ints
    size: Ints
    room: Ints
    used: Ints


class Rest(NamedTuple):
    """What is left to check of each rule of an index: rule r has the marks `masks[i]` on `columns[i]`, of the columns
    that the index holds, for i from `start[r]` to before `start[r + 1]`; `own[r, side, k]` is the mark that a chain's
    key k is to have with that of the new row, where the new row is the second of the pair (side 0) or the first.
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
def cover(second: Ranks, strict: bool, chains: Ints) -> int:
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
def _bounds(keys: Ranks, begin: int, end: int, value: int) -> tuple[int, int]:
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
def _check(
    cells: Ranks, rows: NDArray[np.int32], low: int, high: int, own: Ranks, row: int, side: int, rule: int, rest: Rest,
    found: Found,
) -> None:  # fmt: skip
    """Look at the candidates of a rule from one place to another. IN own[column]: the new row's ranks"""
    begin, end = rest.start[rule], rest.start[rule + 1]
    for place in range(low, high):
        if found.tally[0] < len(found.candidates):
            found.candidates[found.tally[0], 0], found.candidates[found.tally[0], 1] = rows[place], side
        found.tally[0] += 1
        lies = True
        for i in range(begin, end):
            a, b = cells[rest.columns[i], place], own[rest.columns[i]]
            if side == 1:
                a, b = b, a
            lies = (rest.masks[i] & (LESS if a < b else EQUAL if a == b else MORE)) != 0
            if not lies:
                break
        if lies:
            found.tally[1] += 1
            if found.broken[rule, 0] < 0:
                first, second = (rows[place], row) if side == 0 else (row, rows[place])
                found.broken[rule, 0], found.broken[rule, 1] = first, second


@njit(cache=True)
def fetch(
    chains: Chains, row: int, keys: tuple[int, int], own: Ranks, rest: Rest, patient: bool, found: Found
) -> tuple[int, int]:
    """Fetch for all rules of an index; and the chain and the place to put the row in. Of those that it fits that is the
    one with most rows, or that of its equal; -1 where it fits none.

    Not patient: what is known to be broken is not looked at any more.
    """
    fits, where, largest = -1, 0, -1
    for k in range(chains.used[0]):
        begin, end = chains.start[k], chains.start[k] + chains.size[k]
        first = _bounds(chains.keys[0], begin, end, keys[0])
        second = _bounds(chains.keys[1], begin, end, keys[1])
        for rule in range(len(rest.own)):
            for side in range(2):
                if patient or found.broken[rule, 0] < 0:
                    low, high = _piece(begin, end, first, rest.own[rule, side, 0])
                    other_low, other_high = _piece(begin, end, second, rest.own[rule, side, 1])
                    low, high = max(low, other_low), min(high, other_high)
                    _check(chains.cells, chains.rows, low, high, own, row, side, rule, rest, found)
        low, high = max(first[0], second[0]), min(first[1], second[1])
        tied = (chains.strict[0] and first[0] < first[1]) or (chains.strict[1] and second[0] < second[1])
        size = len(chains.rows) if low < high else chains.size[k]  # an equal row comes before all others
        if size > largest and (low < high or (low == high and not tied)):
            fits, where, largest = k, low, size
    return fits, where


@njit(cache=True)
def _moved(chains: Chains, k: int) -> bool:
    """Give a chain more room. False: the pool has none."""
    begin, size, fresh = chains.start[k], chains.size[k], chains.used[1]
    room = 2 * size + 4
    if fresh + room > len(chains.rows):
        return False
    chains.keys[:, fresh : fresh + size] = chains.keys[:, begin : begin + size].copy()
    chains.cells[:, fresh : fresh + size] = chains.cells[:, begin : begin + size].copy()
    chains.rows[fresh : fresh + size] = chains.rows[begin : begin + size].copy()
    chains.start[k], chains.room[k], chains.used[1] = fresh, room, fresh + room
    return True


@njit(cache=True)
def _put(chains: Chains, row: int, keys: tuple[int, int], own: Ranks, at: tuple[int, int]) -> bool:
    """Take a row in, where `fetch` says. False: there is no room."""
    k, place = at
    if k < 0:
        k, place = chains.used[0], chains.used[1]
        if k == len(chains.start):
            return False
        chains.start[k] = place
        chains.used[0] += 1
    inside = place - chains.start[k]
    if chains.size[k] == chains.room[k] and not _moved(chains, k):
        return False
    place, end = chains.start[k] + inside, chains.start[k] + chains.size[k]
    for array in (chains.keys, chains.cells):
        for line in range(len(array)):
            for i in range(end, place, -1):
                array[line, i] = array[line, i - 1]
    for i in range(end, place, -1):
        chains.rows[i] = chains.rows[i - 1]
    chains.keys[0, place], chains.keys[1, place], chains.rows[place] = keys[0], keys[1], row
    chains.cells[:, place] = own
    chains.size[k] += 1
    return True


@njit(cache=True)
def probe_chains(
    chains: Chains, rows: Ints, keys: Ranks, cells: Ranks, rest: Rest, patient: bool, found: Found
) -> bool:
    """Each of some rows, which are new, against those before it: fetch, and take it in.

    IN keys[k, i], cells[column, i]: of rows[i]; False: there is no room
    """
    for i in range(len(rows)):
        both, own = (keys[0, i], keys[1, i]), cells[:, i].copy()
        if not _put(chains, rows[i], both, own, fetch(chains, rows[i], both, own, rest, patient, found)):
            return False
    return True


class Groups(NamedTuple):
    """Rows by their rank in one column: those with rank r at the places from `start[r]` to before `start[r + 1]`, with
    their ranks in the columns that rules are to be checked on. Rows that come later are in a list of their own:
    `newest[r]` is a row, `before[i]` the one that came before row i, and -1 stands for none.
    """

    start: Ints
    rows: NDArray[np.int32]
    cells: Ranks
    newest: Ints
    before: Ints


@njit(cache=True)
def probe_groups(
    groups: Groups, rows: NDArray[np.int32], ranks: Ranks, cells: Ranks, rest: Rest, patient: bool, found: Found
) -> None:
    """Each of some rows, which are new, against those before it with its rank. IN ranks[i], cells[column, i]"""
    for i in range(len(rows)):
        rank, own = ranks[i], cells[:, i].copy()
        for rule in range(len(rest.own)):
            for side in range(2):
                if patient or found.broken[rule, 0] < 0:
                    low, high = groups.start[rank], groups.start[rank + 1]
                    _check(groups.cells, groups.rows, low, high, own, rows[i], side, rule, rest, found)
                    other = groups.newest[rank]
                    while other >= 0:
                        _check(cells, rows, other, other + 1, own, rows[i], side, rule, rest, found)
                        other = groups.before[other]
        groups.before[i], groups.newest[rank] = groups.newest[rank], i
