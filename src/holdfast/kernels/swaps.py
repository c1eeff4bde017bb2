"""Which constants and which orders hold within the groups of a partition, and a pair of rows that breaks each other.

Partitions and cells are those of `partitions`.
"""

from typing import Any, NamedTuple

import numpy as np

from holdfast.kernels.arrays import Codes, Ints, Mask, Rows, Words
from holdfast.kernels.jit import inlined, kernel
from holdfast.kernels.partitions import PartitionScratch, neighbours, pairs_within, refine, sort_keys

_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


class PartitionedTable(NamedTuple):
    """The cells of a table that is partitioned, and for each column a number above all its cells.

    Pairs of rows that are both older than `fresh` are not compared; with `skip_null`, nor are those whose cell is null.
    """

    cells: Codes
    values: Ints
    skip_null: bool
    fresh: int
    scratch: PartitionScratch


@kernel
def _check_constants(rows: Rows, starts: Rows, cells: Codes, columns: Ints, skip_null: bool, pairs: Ints) -> Any:
    """For each of some columns two rows of a group that differ there, if there are. OUT pairs. Returns how many."""
    found = 0
    for column in columns:
        own, standing = cells[column], True
        for group in range(len(starts) - 1):
            first = rows[starts[group]]
            value = own[first]
            alone = skip_null and value == 0
            for at in range(starts[group] + 1, starts[group + 1]):
                if own[rows[at]] != value or alone:
                    pairs[found, 0], pairs[found, 1] = first, rows[at]
                    found += 1
                    standing = False
                    break
            if not standing:
                break
    return found


@inlined
def _two(one: int, other: int, own: Any, cells: Codes, others: Ints, falling: Any, skip_null: bool, pairs: Ints) -> Any:
    """A group of two rows. Returns how many of the orders it breaks that stood."""
    broken = 0
    a, b = own[one], own[other]
    if a != b and not (skip_null and (a == 0 or b == 0)):
        for i in range(len(others)):
            if pairs[i, 0] < 0:
                c, d = cells[others[i], one], cells[others[i], other]
                if c != d and not (skip_null and (c == 0 or d == 0)) and ((a < b) == (c < d)) == falling[i]:
                    pairs[i, 0], pairs[i, 1] = one, other
                    broken += 1
    return broken


@inlined
def _sorted(keys: Words, count: int, other: Any, falling: bool, skip_null: bool) -> Any:
    """Of a group in the order of a column, two rows that break the order with another; -1 where there are none."""
    one, two = np.int64(-1), np.int64(-1)
    best, reach = np.int64(-1), np.int64(-1)  # the farthest row before this value, and up to this row
    best_value, reach_value = np.int64(0), np.int64(0)
    for at in range(count):
        row = np.int64(keys[at] & _LOW)
        if at > 0 and keys[at] >> _HALF != keys[at - 1] >> _HALF:
            best, best_value = reach, reach_value
        value = np.int64(other[row])
        if skip_null and value == 0:
            continue
        if falling:
            value = -value
        if best >= 0 and value < best_value:
            one, two = best, row
            break
        if reach < 0 or value > reach_value:
            reach, reach_value = row, value
    return one, two


@inlined
def _reach(
    keys: Words, count: int, other: Any, falling: bool, skip_null: bool, values: Any, before: Ints, behind: Ints
) -> Any:
    """Of new rows in the order of a column: its values, the row that reaches highest in another column before each
    value, and the row that reaches lowest from each value on; -1: none. OUT values, before, behind. Returns how many
    values there are.
    """
    distinct, best, best_value = 0, np.int64(-1), np.int64(0)
    for at in range(count):
        if at == 0 or keys[at] >> _HALF != keys[at - 1] >> _HALF:
            values[distinct], before[distinct], behind[distinct] = keys[at] >> _HALF, best, -1
            distinct += 1
        row = np.int64(keys[at] & _LOW)
        value = np.int64(other[row])
        if skip_null and value == 0:
            continue
        if falling:
            value = -value
        if best < 0 or value > best_value:
            best, best_value = row, value
        lowest = behind[distinct - 1]
        if lowest < 0 or value < (-np.int64(other[lowest]) if falling else np.int64(other[lowest])):
            behind[distinct - 1] = row
    before[distinct], behind[distinct] = best, -1
    for at in range(distinct - 1, -1, -1):
        own, later = behind[at], behind[at + 1]
        if later >= 0 and (own < 0 or ((other[later] > other[own]) == falling and other[later] != other[own])):
            behind[at] = later
    return distinct


@inlined
def _beside_new(
    rows: Rows,
    own: Any,
    other: Any,
    values: Any,
    distinct: int,
    falling: bool,
    skip_null: bool,
    before: Ints,
    behind: Ints,
) -> Any:
    """An old row and a new one that break the order of two columns; -1 where there are none. IN rows: the old ones;
    what `_reach` gives of the new ones
    """
    one, two = np.int64(-1), np.int64(-1)
    for old in rows:
        a, value = own[old], np.int64(other[old])
        if skip_null and (a == 0 or value == 0):
            continue
        low, high = 0, distinct
        while low < high:
            middle = (low + high) >> 1
            if values[middle] < a:
                low = middle + 1
            else:
                high = middle
        lower, higher = before[low], behind[low + (low < distinct and values[low] == a)]
        if falling:
            lower, higher = higher, lower
        if lower >= 0 and np.int64(other[lower]) > value:
            one, two = np.int64(old), lower
            break
        if higher >= 0 and np.int64(other[higher]) < value:
            one, two = np.int64(old), higher
            break
    return one, two


@kernel
def _check_orders(
    rows: Rows, starts: Rows, table: PartitionedTable, column: int, others: Ints, falling: Mask, pairs: Ints
) -> None:
    """For a column and each of some others two rows of a group that break their order: the ascending one, or, where
    `falling`, the descending one.

    OUT pairs[i, 2]: -1 where there are none
    Old rows have been looked at before, so that where some are old, the new ones alone are sorted, and each old one is
    held against those before and behind it.
    """
    cells, skip_null, fresh, scratch = table.cells, table.skip_null, table.fresh, table.scratch
    own, standing, keys, spare = cells[column], len(others), scratch.keys, scratch.spare
    pairs[:, :] = -1
    for group in range(len(starts) - 1):
        if standing == 0:
            break
        begin, end = starts[group], starts[group + 1]
        if end - begin == 2:
            standing -= _two(rows[begin], rows[begin + 1], own, cells, others, falling, skip_null, pairs)
            continue
        count, first, varies = 0, own[rows[begin]], False
        new = end
        while new > begin and rows[new - 1] >= fresh:
            new -= 1
        for at in range(begin, end):
            if at < new:
                varies |= own[rows[at]] != first
                continue
            value = own[rows[at]]
            varies |= value != first
            if not (skip_null and value == 0):
                keys[count] = (np.uint64(value) << _HALF) | np.uint64(rows[at])
                count += 1
        if not varies:
            continue
        sort_keys(keys, spare, count, table.values[column])
        for i in range(len(others)):
            if pairs[i, 0] < 0:
                one, two = _sorted(keys, count, cells[others[i]], falling[i], skip_null)
                if one < 0 and new > begin:
                    before, behind = scratch.before[: count + 1], scratch.behind[: count + 1]
                    other, falls = cells[others[i]], falling[i]
                    many = _reach(keys, count, other, falls, skip_null, scratch.seen, before, behind)
                    one, two = _beside_new(
                        rows[begin:new], own, other, scratch.seen, many, falls, skip_null, before, behind
                    )
                if one >= 0:
                    pairs[i, 0], pairs[i, 1] = one, two
                    standing -= 1


class ContextSpec(NamedTuple):
    """Contexts that begin with the columns of one partition, sorted by the columns that they add to it, and what is
    to be proved of each. The columns, constants and orders of context k begin where place k says; the last place is the
    end.
    """

    added_from: Ints
    added: Ints
    constants_from: Ints
    constants: Ints
    orders_from: Ints
    one: Ints
    other: Ints
    falling: Mask
    key: Mask


class Path(NamedTuple):
    """Memory for the partitions from the first one down to the finest, end to end."""

    rows: Rows
    starts: Rows


@inlined
def _most_common(spec: ContextSpec, begin: int, end: int, open_: Any, counts: Any) -> Any:
    """The column that is in most of the orders that are still open, of those between two places."""
    best = np.int64(-1)
    counts[:] = 0
    for i in range(begin, end):
        if open_[i]:
            for column in (spec.one[i], spec.other[i]):
                counts[column] += 1
                if best < 0 or counts[column] > counts[best]:
                    best = column
    return best


@inlined
def _check_pairs(rows: Rows, starts: Rows, table: PartitionedTable, spec: ContextSpec, k: int, pairs: Ints) -> Any:
    """The orders to be proved of context k. OUT pairs: those that break one. Returns how many.

    Rows are sorted by one column for all orders that it is in, by as few columns as is easy to see.
    """
    begin, end, found = spec.orders_from[k], spec.orders_from[k + 1], 0
    open_ = np.ones(end, np.bool_)
    counts = np.empty(len(table.cells), np.int64)
    others, falling = np.empty(end - begin, np.int64), np.empty(end - begin, np.bool_)
    broken = np.empty((end - begin, 2), np.int64)
    while True:
        column = _most_common(spec, begin, end, open_, counts)
        if column < 0:
            break
        many = 0
        for i in range(begin, end):
            if open_[i] and (spec.one[i] == column or spec.other[i] == column):
                others[many] = spec.other[i] if spec.one[i] == column else spec.one[i]
                falling[many] = spec.falling[i]
                open_[i] = False
                many += 1
        _check_orders(rows, starts, table, column, others[:many], falling[:many], broken[:many])
        for i in range(many):
            if broken[i, 0] >= 0:
                pairs[found, 0], pairs[found, 1] = broken[i, 0], broken[i, 1]
                found += 1
    return found


@kernel
def prove(
    rows: Rows,
    starts: Rows,
    cells: Codes,
    values: Ints,
    skip_null: bool,
    fresh: int,
    spec: ContextSpec,
    most: int,
    path: Path,
    scratch: PartitionScratch,
    pairs: Ints,
    within: Ints,
) -> Any:
    """Look whether contexts satisfy their specs. OUT pairs[pair, 2]: rows that break what doesn't, and for each such
    context up to `most` neighbours in its groups; within[context]: how many ordered pairs its groups put together.
    Returns how many pairs were found.

    IN rows, starts: the partition that all contexts begin with
    """
    table = PartitionedTable(
        cells, values, skip_null, fresh, scratch
    )  # made here, as calls from Python hand over tuples slowly
    found, depth, longest = 0, 0, 0
    for k in range(len(spec.key)):
        longest = max(longest, spec.added_from[k + 1] - spec.added_from[k])
    on_path = np.empty(longest + 1, np.int64)
    row_ends, start_ends = np.zeros((2, longest + 2), np.int64)
    for k in range(len(spec.key)):
        first, size = spec.added_from[k], spec.added_from[k + 1] - spec.added_from[k]
        shared = 0
        while shared < min(depth, size) and on_path[shared] == spec.added[first + shared]:
            shared += 1
        depth = shared
        own_rows, own_starts = rows, starts
        if depth > 0:
            own_rows = path.rows[row_ends[depth - 1] : row_ends[depth]]
            own_starts = path.starts[start_ends[depth - 1] : start_ends[depth]]
        while depth < size:
            column = spec.added[first + depth]
            begin, start = row_ends[depth], start_ends[depth]
            groups = refine(
                own_rows, own_starts, cells[column], skip_null, fresh, scratch, path.rows[begin:], path.starts[start:]
            )
            on_path[depth] = column
            depth += 1
            row_ends[depth] = begin + path.starts[start + groups]
            start_ends[depth] = start + groups + 1
            own_rows, own_starts = path.rows[begin : row_ends[depth]], path.starts[start : start_ends[depth]]
        within[k] = pairs_within(own_starts)
        if len(own_starts) < 2:
            continue
        before = found
        if spec.key[k]:
            pairs[found, 0], pairs[found, 1] = own_rows[0], own_rows[1]
            found += 1
        constants = spec.constants[spec.constants_from[k] : spec.constants_from[k + 1]]
        if len(constants):
            found += _check_constants(own_rows, own_starts, cells, constants, skip_null, pairs[found:])
        if spec.orders_from[k + 1] > spec.orders_from[k]:
            found += _check_pairs(own_rows, own_starts, table, spec, k, pairs[found:])
        if found > before:
            found += neighbours(own_rows, own_starts, most, pairs[found:])
    return found
