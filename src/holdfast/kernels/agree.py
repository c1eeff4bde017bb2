"""Signatures of row pairs: one row against a block of rows at a time, column by column.

Rows lie in blocks of `BLOCK` rows, column-major within a block, each column 1, 2 or 4 bytes wide. A signature is
built in **planes**: `planes[p, j]` holds 8 columns of the signature of the query row with row j of the block, so that
one vector instruction decides a column for 32 rows or more. Equality has one side, a bit a column. Order has two: a
bit where row j is at most the query, and one where it is at least; equal is both, incomparable (null) is neither.

Short signatures are counted in a plain table, others in a hash table.
Cost, on one core: 0.4 ns to compare two rows of 15 columns, 1 ns to count the signature in the plain table, where
rows that agree on nothing are passed over eight at a time and counted by subtraction.
The paper (section 5.3) shares zip products between the rows of a batch. Here counting costs more than comparing, so
that was not built; what the rows of a batch share is the block, which stays in the cache while they all pass over it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.agree_sets import Counter, add_all
from holdfast.kernels.copying import copy_to
from holdfast.kernels.hashing import enter, hash_lanes
from holdfast.kernels.jit import inlined, kernel

_8, _16 = np.uint32(8), np.uint32(16)
BLOCK = 2048
NEVER = np.uint32(0xFFFFFFFF)  # cut to any width it is no code: columns are kept wide enough for that


class Cells(NamedTuple):
    """Rows in blocks. The three arrays of cells are one buffer, seen at three widths.

    `start[c]` is where column c begins in a block, and `stride` the length of a block, both in bytes. `only[c]` is the
    code that all rows have in column c (wide tables have many such columns), or NEVER where they differ.
    `weights[r]` says how many rows are equal to row r (in a batch: how many more).
    """

    bytes1: NDArray[np.uint8]
    bytes2: NDArray[np.uint16]
    bytes4: NDArray[np.uint32]
    width: NDArray[np.int64]
    start: NDArray[np.int64]
    only: NDArray[np.uint32]
    stride: int
    weights: NDArray[np.int64]


class RowComparison(NamedTuple):
    """How rows are compared: by order or only by equality, and whether nulls (code 0) equal nothing. Where they are
    compared by order, `equal_only[c]` says that column c is not: both bits are set where rows agree, else neither.
    """

    ordered: bool
    distinct: bool
    equal_only: NDArray[np.bool_]


@kernel
def row_of(cells: Cells, row: int, codes: NDArray[np.uint32]) -> None:
    """One row, at full width. OUT codes[column]"""
    row_at(cells, (row // BLOCK) * cells.stride, row % BLOCK, codes)


@inlined
def row_at(cells: Cells, block: int, place: int, codes: NDArray[np.uint32]) -> None:
    """The row at a place of a block that begins at a byte. OUT codes[column]"""
    for c in range(len(codes)):
        at = block + cells.start[c]
        if cells.width[c] == 1:
            codes[c] = cells.bytes1[at + place]
        elif cells.width[c] == 2:
            codes[c] = cells.bytes2[at // 2 + place]
        else:
            codes[c] = cells.bytes4[at // 4 + place]


@kernel
def _limits_of(comparison: RowComparison, limits: NDArray[np.uint32]) -> None:
    """What a cell must be to match a query row, whose codes lie in `limits[-1, 0]`.

    IN OUT limits[side, 0 low or 1 high, column]; equality looks at low alone
    """
    for c in range(limits.shape[2]):
        value = limits[-1, 0, c]
        if comparison.distinct and value == 0:
            limits[-1, 0, c] = NEVER
        limits[-1, 1, c] = NEVER
        if comparison.ordered and comparison.equal_only[c]:
            limits[:, :, c] = limits[-1, 0, c]
        elif comparison.ordered:
            limits[0, 0, c] = 1 if comparison.distinct else 0
            limits[0, 1, c] = value


@kernel
def _mark(
    cells: NDArray[Any],
    at: Any,
    n: Any,
    comparison: RowComparison,
    limits: NDArray[np.uint32],
    c: int,
    planes: NDArray[np.uint8],
) -> None:
    """Set the bits of column c, which starts at `at`, for n rows. OUT planes[plane * BLOCK + j]

    Places are unsigned and planes lie in one piece: with signed places, or slices, the compiler has more to prove.
    """
    bit, none = np.uint8(1 << (c & 7)), np.uint8(0)
    narrow = cells.dtype.type
    plane = np.uint64((c >> 3) * BLOCK)
    if not comparison.ordered:
        value = narrow(limits[0, 0, c])
        for j in range(n):
            planes[plane + j] |= bit if cells[at + j] == value else none
        return
    for side in range(2):
        low, high = narrow(limits[side, 0, c]), narrow(limits[side, 1, c])
        for j in range(n):
            planes[plane + j] |= bit if (cells[at + j] >= low) & (cells[at + j] <= high) else none
        plane += np.uint64(((limits.shape[2] + 7) // 8) * BLOCK)


@kernel
def _common(only: NDArray[np.uint32], comparison: RowComparison, limits: NDArray[np.uint32], plane: int) -> int:
    """What a plane holds for every row: the bits of columns where all rows have one code."""
    bits = 0
    for c in range(8 * plane, min(8 * plane + 8, len(only))):
        high = limits[1, c] if comparison.ordered else limits[0, c]
        if only[c] != NEVER and limits[0, c] <= only[c] <= high:
            bits |= 1 << (c & 7)
    return bits


@kernel
def _compare(
    rows: Cells,
    block: int,
    first: int,
    n: int,
    comparison: RowComparison,
    limits: NDArray[np.uint32],
    planes: NDArray[np.uint8],
) -> None:
    """The signatures of a query with n rows of a block from `first` on. OUT planes[plane, j]"""
    a_side = (limits.shape[2] + 7) // 8
    for p in range(limits.shape[0] * a_side):
        planes[p][:n] = _common(rows.only, comparison, limits[p // a_side], p % a_side)
    flat = planes.reshape(-1)
    count = np.uint64(n)
    for c in range(limits.shape[2]):
        if rows.only[c] != NEVER:
            continue
        at = block * rows.stride + rows.start[c]
        if rows.width[c] == 1:
            _mark(rows.bytes1, np.uint64(at + first), count, comparison, limits, c, flat)
        elif rows.width[c] == 2:
            _mark(rows.bytes2, np.uint64(at // 2 + first), count, comparison, limits, c, flat)
        else:
            _mark(rows.bytes4, np.uint64(at // 4 + first), count, comparison, limits, c, flat)


@kernel
def _begin(queries: Cells, comparison: RowComparison) -> Any:
    """Room for the limits of one query, and for the planes of one block: three at least, for `_count_plain`."""
    columns = len(queries.width)
    sides = 2 if comparison.ordered else 1
    limits = np.empty((sides, 2, columns), np.uint32)
    planes = np.zeros((max(sides * ((columns + 7) // 8), 3), BLOCK), np.uint8)
    return limits, planes


@kernel
def _count_plain(
    planes: NDArray[np.uint8],
    eights: NDArray[np.uint64],
    weights: NDArray[np.int64],
    times: int,
    counts: NDArray[np.int64],
) -> None:
    """Count signatures of three planes. Eight rows in a row that agree on nothing are passed over.

    IN planes[plane, j]; eights[plane, j // 8]: the same bytes, eight at a time; OUT counts[signature]
    """
    low, middle, high = planes[0], planes[1], planes[2]
    low8, middle8, high8 = eights[0], eights[1], eights[2]
    groups = len(weights) // 8
    for group in range(groups):
        if low8[group] | middle8[group] | high8[group]:
            for j in range(8 * group, 8 * group + 8):
                signature = np.uint32(low[j]) | (np.uint32(middle[j]) << _8) | (np.uint32(high[j]) << _16)
                counts[signature] += times * weights[j]
    for j in range(8 * groups, len(weights)):
        signature = np.uint32(low[j]) | (np.uint32(middle[j]) << _8) | (np.uint32(high[j]) << _16)
        counts[signature] += times * weights[j]


@kernel
def weights_in(
    queries: Cells, rows: Cells, own: NDArray[np.int64], block: int, from_query: int, weights: NDArray[np.int64]
) -> int:
    """The weights of a block before query `from_query` came. OUT weights[j]; gives their sum"""
    begin = block * BLOCK
    n = len(weights)
    copy_to(weights, rows.weights[begin : begin + n])
    for q in range(from_query, len(own)):
        if begin <= own[q] < begin + n:
            weights[own[q] - begin] -= queries.weights[q]
    return int(weights.sum())


@kernel
def tally_plain(
    queries: Cells,
    rows: Cells,
    own: NDArray[np.int64],
    tiles: NDArray[np.int64],
    used: int,
    comparison: RowComparison,
    counts: NDArray[np.int64],
) -> int:
    """Count the signatures of pairs, at most three planes of them, in a plain table. Gives how many pairs there are.

    IN  own[q]: where query q stands among the rows, for queries that come one by one, or nothing: see `Count`
    IN  tiles[t]: first query, end of queries, block of rows, and 1 where only rows after the query count
    IN  used: how many rows there are
    IN OUT counts[signature]; of pairs that agree on nothing only those that were not passed over are counted
    """
    limits, planes = _begin(queries, comparison)
    eights = planes.view(np.uint64)
    room = np.empty(BLOCK, np.int64)
    pairs = 0
    for t in range(len(tiles)):
        begin = tiles[t, 2] * BLOCK
        weights = room[: min(BLOCK, used - begin)]
        left = weights_in(queries, rows, own, tiles[t, 2], tiles[t, 0], weights)
        skipped = 0
        for q in range(tiles[t, 0], tiles[t, 1]):
            if tiles[t, 3]:
                while skipped < min(q + 1 - begin, len(weights)):
                    left -= weights[skipped]
                    skipped += 1
            n = len(weights) - skipped
            if n > 0 and queries.weights[q] != 0:
                row_of(queries, q, limits[-1, 0])
                _limits_of(comparison, limits)
                _compare(rows, tiles[t, 2], skipped, n, comparison, limits, planes)
                _count_plain(planes, eights, weights[skipped:], queries.weights[q], counts)
                pairs += queries.weights[q] * left
            if len(own) and begin <= own[q] < begin + len(weights):
                weights[own[q] - begin] += queries.weights[q]
                left += queries.weights[q]
    return pairs


@kernel
def _gather(planes: NDArray[np.uint8], n: int, limits: NDArray[np.uint32], lanes: NDArray[np.uint64]) -> None:
    """Words from planes: eight planes of a side make a word. IN planes[plane, j], limits' shape; OUT lanes[word, j]"""
    sides, a_side = limits.shape[0], (limits.shape[2] + 7) // 8
    for p in range(sides * a_side):
        lane = lanes[(p // a_side) * (len(lanes) // sides) + (p % a_side) // 8][:n]
        plane = planes[p][:n]
        shift = np.uint64(8 * ((p % a_side) % 8))
        if shift == 0:
            lane[:] = 0
        for j in range(n):
            lane[j] |= np.uint64(plane[j]) << shift


@kernel
def tally_hashed(
    queries: Cells,
    rows: Cells,
    own: NDArray[np.int64],
    tiles: NDArray[np.int64],
    used: int,
    comparison: RowComparison,
    found: Counter,
    at: NDArray[np.int64],
) -> bool:
    """Count the signatures of pairs in a hash table. False: it needs more room first, then go on.

    IN OUT at: the tile and the query to go on with; IN OUT found; the rest as above
    """
    limits, planes = _begin(queries, comparison)
    lanes = np.empty((found.keys.shape[1], BLOCK), np.uint64)
    hashes, places, room = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    while at[0] < len(tiles):
        tile = tiles[at[0]]
        begin = tile[2] * BLOCK
        weights = room[: min(BLOCK, used - begin)]
        weights_in(queries, rows, own, tile[2], tile[0] + at[1], weights)
        for q in range(tile[0] + at[1], tile[1]):
            skipped = max(0, q + 1 - begin) if tile[3] else 0
            n = len(weights) - skipped
            if n > 0 and queries.weights[q] != 0:
                if found.used[0] + n > len(found.keys):
                    at[1] = q - tile[0]
                    return False
                row_of(queries, q, limits[-1, 0])
                _limits_of(comparison, limits)
                _compare(rows, tile[2], skipped, n, comparison, limits, planes)
                _gather(planes, n, limits, lanes)
                hash_lanes(lanes, hashes[:n])
                enter(found.slots, found.keys, found.used, lanes, hashes[:n], places[:n])
                add_all(found, places[:n], weights[skipped:], queries.weights[q])
            if len(own) and begin <= own[q] < begin + len(weights):
                weights[own[q] - begin] += queries.weights[q]
        at[0] += 1
        at[1] = 0
    return True
