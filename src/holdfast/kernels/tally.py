"""How often rows compare in each way (see `digits`): some queries against one block of rows, a **tile**, at a time.

Where numbers are few, they are counted in a plain table, else in a hash table of the bytes that the planes make.
Queries that stand among the rows come one by one: a row weighs what it does once those before the query have come.

Cost, on one core: 0.7 ns to count a number in the plain table. That of 12 columns of three digits has 531,441 cells and
does not fit the caches next to a core; but no count waits for the one before it, so that the processor fetches many
cells at a time. Where two digits are all there is, rows that agree on nothing are passed over eight at a time.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.agree_sets import Counter, add_all
from holdfast.kernels.arrays import Bytes, Codes, Ints, Words
from holdfast.kernels.cells import BLOCK, Cells, row_of
from holdfast.kernels.copying import copy_to
from holdfast.kernels.digits import Digits, compare, number_pairs
from holdfast.kernels.hashing import enter, hash_lanes
from holdfast.kernels.jit import kernel


@kernel
def _weigh(queries: Cells, rows: Cells, own: Ints, begin: int, from_query: int, weights: Ints) -> None:
    """The weights of the rows from `begin` on before query `from_query` came. OUT weights[j]"""
    copy_to(weights, rows.weights[begin : begin + len(weights)])
    for q in range(from_query, len(own)):
        if begin <= own[q] < begin + len(weights):
            weights[own[q] - begin] -= queries.weights[q]


@kernel
def _let_come(queries: Cells, own: Ints, q: int, begin: int, weights: Ints) -> None:
    """IN OUT weights, of the rows from `begin` on: a query that stands among them has come."""
    if len(own) and begin <= own[q] < begin + len(weights):
        weights[own[q] - begin] += queries.weights[q]


@kernel
def _odd_rows(weights: Ints, own: Ints, tile: Ints, odd: Ints) -> int:
    """The rows of a block whose weight is not 1, or changes as the queries of the tile come. OUT odd[k]; how many"""
    found, begin = 0, tile[2] * BLOCK
    for j in range(len(weights)):
        if weights[j] != 1:
            odd[found] = j
            found += 1
    for q in range(tile[0], min(tile[1], len(own))):
        j = own[q] - begin
        if 0 <= j < len(weights) and weights[j] == 1:
            odd[found] = j
            found += 1
    return found


@kernel
def _count(numbers: Codes, n: Any, times: Any, counts: NDArray[Any]) -> None:
    """Count each of n numbers `times` times. OUT counts[number]"""
    for j in range(n):
        counts[numbers[j]] += times


@kernel
def _count_sparse(numbers: Codes, twos: Words, n: int, times: Any, counts: Any) -> None:
    """The same where most numbers are 0: eight zeros in a row are counted at once. IN twos: the numbers, two by two"""
    zeros = 0
    for group in range(n // 8):
        if twos[4 * group] | twos[4 * group + 1] | twos[4 * group + 2] | twos[4 * group + 3]:
            for j in range(8 * group, 8 * group + 8):
                counts[numbers[j]] += times
        else:
            zeros += 8
    for j in range(n - n % 8, n):
        counts[numbers[j]] += times
    counts[0] += zeros * times


@kernel
def tally_numbers(
    queries: Cells, rows: Cells, own: Ints, tiles: Ints, used: int, digits: Digits, counts: NDArray[Any]
) -> None:
    """Count the numbers of pairs. All rows count once, and then those whose weight is not 1 as much more or less.

    IN  own[q]: where query q stands among the rows, for queries that come one by one, or nothing: see `Count`
    IN  tiles[t]: first query, end of queries, block of rows, and 1 where only rows after the query count; where queries
        have own places, all rows count
    IN  used: how many rows there are
    OUT counts[number]
    """
    codes, numbers = np.empty(len(queries.width), np.uint32), np.empty(BLOCK, np.uint32)
    planes = np.empty(len(digits.scale) * BLOCK, np.uint8)
    room, odd = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    twos, sparse = numbers.view(np.uint64), digits.equal_only.all()
    for t in range(len(tiles)):
        begin = tiles[t, 2] * BLOCK
        weights = room[: min(BLOCK, used - begin)]
        _weigh(queries, rows, own, begin, tiles[t, 0], weights)
        odds, passed = _odd_rows(weights, own, tiles[t], odd), 0
        for q in range(tiles[t, 0], tiles[t, 1]):
            first = max(0, q + 1 - begin) if tiles[t, 3] else 0
            n = len(weights) - first
            if n > 0 and queries.weights[q] != 0:
                row_of(queries, q, codes)
                times = counts.dtype.type(queries.weights[q])
                compare(rows, tiles[t, 2], first, n, digits, codes, planes)
                number_pairs(planes, np.uint64(n), digits.scale, numbers)
                if sparse:
                    _count_sparse(numbers, twos, n, times, counts)
                else:
                    _count(numbers, np.uint64(n), times, counts)
                while passed < odds and odd[passed] < first:
                    passed += 1
                for k in range(passed, odds):
                    counts[numbers[odd[k] - first]] += times * (weights[odd[k]] - 1)
            _let_come(queries, own, q, begin, weights)


@kernel
def _gather(planes: Bytes, n: int, many: int, lanes: Words) -> None:
    """Words from planes, eight to a word. IN planes[p * BLOCK + j]; OUT lanes[word, j]"""
    for p in range(many):
        lane, plane = lanes[p >> 3][:n], planes[p * BLOCK :][:n]
        shift = np.uint64(8 * (p & 7))
        if shift == 0:
            lane[:] = 0
        for j in range(n):
            lane[j] |= np.uint64(plane[j]) << shift


@kernel
def tally_hashed(
    queries: Cells, rows: Cells, own: Ints, tiles: Ints, used: int, digits: Digits, found: Counter, at: Ints
) -> bool:
    """Count the planes of pairs in a hash table. False: it needs more room first, then go on.

    IN OUT at: the tile and the query to go on with; IN OUT found; the rest as above
    """
    many = len(digits.scale)
    codes, planes = np.empty(len(queries.width), np.uint32), np.empty(many * BLOCK, np.uint8)
    lanes = np.empty((found.keys.shape[1], BLOCK), np.uint64)
    hashes, places, room = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    while at[0] < len(tiles):
        tile = tiles[at[0]]
        begin = tile[2] * BLOCK
        weights = room[: min(BLOCK, used - begin)]
        _weigh(queries, rows, own, begin, tile[0] + at[1], weights)
        for q in range(tile[0] + at[1], tile[1]):
            first = max(0, q + 1 - begin) if tile[3] else 0
            n = len(weights) - first
            if n > 0 and queries.weights[q] != 0:
                if found.used[0] + n > len(found.keys):
                    at[1] = q - tile[0]
                    return False
                row_of(queries, q, codes)
                compare(rows, tile[2], first, n, digits, codes, planes)
                _gather(planes, n, many, lanes)
                hash_lanes(lanes, hashes[:n])
                enter(found.slots, found.keys, found.used, lanes, hashes[:n], places[:n])
                add_all(found, places[:n], weights[first:], queries.weights[q])
            _let_come(queries, own, q, begin, weights)
        at[0] += 1
        at[1] = 0
    return True
