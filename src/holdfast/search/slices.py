"""Searching in slices: plain functions of small items, for threads here or for Spark tasks elsewhere.

With equalities, both rows of a pair have the same equality key, so rows are sliced by its hash, and each slice is
searched by itself. Without, rows are sliced by ranges of the leading inequality's column: a task joins one range of
t's with one range of s's, and pairs of ranges that the inequality rules out get no task. What has neither (only `!=`)
is sliced by the row that asks.

A task opens the table by its files, takes only the rows of its slice into memory, and writes its pairs to a file, whose
name it makes up itself: another attempt of the same task writes another file, which nobody reads.
Keys are computed again in each task, from the same files and so to the same numbers; bounds travel as codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from holdfast.search.found import FoundPairs, Pairs, listed, no_pairs, paired, sides
from holdfast.search.index import PairIndex
from holdfast.search.layout import layouts_for, lead_of
from holdfast.search.operands import Mask, Operands, Spaces, chosen, hashed
from holdfast.search.queries import PairQuery
from holdfast.search.scan import alone, pairs_between
from holdfast.table import files
from holdfast.table.load import open_table
from holdfast.table.nulls import Nulls
from holdfast.table.runner import Runner
from holdfast.table.table import Table, TableFiles

ROWS_A_SLICE = 1 << 20
_SAMPLE = 1 << 16


@dataclass(frozen=True)
class Slice:
    """Which rows of a table: part `number` of `parts`, by the hash of columns, by ranges of a column, or by place."""

    by: Literal["hash", "range", "place"]
    columns: tuple[int, ...]
    number: int
    parts: int
    bound_column: int = 0
    bounds: tuple[int, ...] = ()  # codes of the bound column, whose keys part the ranges


EVERYTHING = Slice("place", (), 0, 1)


@dataclass(frozen=True)
class Task:
    """Search the pairs of one query between two slices of a table."""

    where: TableFiles
    query: PairQuery
    nulls: Nulls
    asking: Slice
    found: Slice
    limit: int  # below 0: count only
    folder: str


class Answer(NamedTuple):
    """How many pairs there are in a slice, and the file that has them; counted only, ordered pairs and no file. Where
    they are more than the limit, no file, and perhaps no number.
    """

    pairs: int | None
    path: str | None = None


def search(task: Task) -> Answer:
    """The pairs of a slice."""
    table = open_table(task.where)
    spaces = Spaces(table.schema, [task.query], task.nulls)
    spaces.follow(table)
    asking = chosen(spaces, table, lambda rows: _inside(task.asking, rows))
    found = _search(spaces, table, asking, task)
    if found is None or isinstance(found, int):
        return Answer(found)
    return Answer(len(found), files.write_new(task.folder, dict(zip("ts", sides(found), strict=True))))


def _search(spaces: Spaces, table: Table, asking: Operands, task: Task) -> Pairs | int | None:
    query = task.query
    if query.single:
        found = alone(query, asking, task.limit)
        return found.count if found.pairs is None else found.pairs
    rows = asking
    if task.found != task.asking:
        rows = chosen(spaces, table, lambda each: _inside(task.found, each))
    (layout,), _ = layouts_for([query.as_t], rows.distinct)
    index = PairIndex.of(layout, rows)
    if task.limit >= 0:
        return pairs_between(query, index, asking, task.limit)
    both = chosen(spaces, table, lambda each: _both(_inside(task.asking, each), _inside(task.found, each)))
    return index.count(query.as_t, asking, both=both)


def _both(one: Mask | None, other: Mask | None) -> Mask | None:
    return other if one is None else one if other is None else one & other


def _inside(slice_: Slice, rows: Operands) -> Mask | None:
    """Which rows belong to a slice. Rows that no comparison of its columns can be true of belong to none."""
    if slice_.by == "place":
        return None if slice_.parts == 1 else rows.ids % slice_.parts == slice_.number
    there = rows.passing((), slice_.columns)
    keys = [rows.keys(column) for column in slice_.columns]
    if slice_.by == "hash":
        part = (hashed(keys).view(np.uint64) % np.uint64(slice_.parts)).astype(np.int64)
    else:
        bounds = np.sort(
            rows.spaces.of_column[slice_.bound_column].of(slice_.bound_column, np.array(slice_.bounds, np.uint32))
        )
        part = np.searchsorted(bounds, keys[0], side="right")
    return _both(part == slice_.number, there)


def find_in_tasks(
    table: Table,
    queries: Sequence[PairQuery],
    runner: Runner,
    limit: int,
    slices: int | None = None,
    nulls: Nulls = Nulls.SQL,
) -> list[FoundPairs]:
    """The pairs of each query; counts alone of one that has more than `limit`."""
    assert table.where is not None, "a table lies in files before tasks look at it"
    parts = slices or table.rows // ROWS_A_SLICE + 1
    where, folder = table.where, table.where.segments[0].path.rpartition("/")[0] if table.where.segments else "."
    tasks = [
        [Task(where, query, nulls, asking, found, limit, folder) for asking, found in _slices(table, query, parts)]
        for query in queries
    ]
    answers = iter(runner.map(search, [task for each in tasks for task in each]))
    answered = [[next(answers) for _ in each] for each in tasks]
    return [_merged(each, parts, runner, limit) for each, parts in zip(tasks, answered, strict=True)]


def _merged(tasks: list[Task], answers: list[Answer], runner: Runner, limit: int) -> FoundPairs:
    known = [answer.pairs for answer in answers if answer.pairs is not None]
    query = tasks[0].query
    few = len(known) == len(answers) and sum(known) <= limit
    parts = [_read(answer.path) for answer in answers if answer.path is not None]
    if few:
        return listed(paired(*sides(np.concatenate([no_pairs(), *parts]))))
    ordered = runner.map(search, [replace(task, limit=-1) for task in tasks])
    total = sum(answer.pairs for answer in ordered if answer.pairs is not None)
    return FoundPairs(total // 2 if query.symmetric and not query.single else total, None)


def _read(path: str) -> Pairs:
    arrays, _ = files.read(path)
    pairs = np.stack([arrays["t"], arrays["s"]], axis=1)
    files.remove(path)
    return pairs


# ---- how a query is sliced ------------------------------------------------------------------------------------------


def _slices(table: Table, query: PairQuery, parts: int) -> list[tuple[Slice, Slice]]:
    lookup = query.as_t
    if not query.single and lookup.by_key:
        mine, theirs = lookup.keys, tuple(c.theirs for c in lookup.by_key)
        return [(Slice("hash", theirs, n, parts), Slice("hash", mine, n, parts)) for n in range(parts)]
    distinct = [len(dictionary) for dictionary in table.dictionaries]
    lead = None if query.single or parts == 1 else lead_of(lookup, distinct)
    ranged = next((c for c in lookup.rest if c.mine == lead and c.operator not in ("=", "!=")), None)
    if ranged is None:
        return [(Slice("place", (), n, parts), EVERYTHING) for n in range(parts)]
    bounds = _bounds(table, ranged.mine, parts)
    upwards = ranged.operator in (">", ">=")  # the rows found lie above those that ask
    return [
        (
            Slice("range", (ranged.theirs,), i, len(bounds) + 1, ranged.mine, bounds),
            Slice("range", (ranged.mine,), j, len(bounds) + 1, ranged.mine, bounds),
        )
        for i in range(len(bounds) + 1)
        for j in range(len(bounds) + 1)
        if (j >= i if upwards else j <= i)
    ]


def _bounds(table: Table, column: int, parts: int) -> tuple[int, ...]:
    """Codes whose keys part a column's rows into about equal ranges, from a sample of rows."""
    step = max(1, table.rows // _SAMPLE)
    codes = np.concatenate([np.empty(0, np.uint32), *(shard.columns[column][::step] for shard in table.shards)])
    codes = codes[codes != 0].astype(np.uint32)
    if not len(codes):
        return ()
    ordered = codes[np.argsort(table.order_keys(column).of(codes), kind="stable")]
    picked = [int(ordered[len(ordered) * i // parts]) for i in range(1, parts)]
    return tuple(dict.fromkeys(picked))
