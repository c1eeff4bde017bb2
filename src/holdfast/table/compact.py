"""Compaction: many small segments become one, and rows that died leave. Values stay; see `rewrite`.

The newest segments are merged with each older one that is not much larger than all that are newer, so there are
O(log n) segments and each row is written O(log n) times. A shard of which most rows died is written anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.table import files, images, shard
from holdfast.table.load import runs_of
from holdfast.table.shard import AnyCodes, Shard
from holdfast.table.table import Alive, Segment, Table

_RATIO = 4
_LARGEST = 1 << 20
_FEWEST = 8
_MOSTLY_DEAD = 0.5


def compacted(table: Table, folder: str) -> tuple[Segment, ...] | None:
    """The segments that say the same as the table's, but fewer, or None where nothing is worth merging."""
    assert table.where is not None
    segments = list(table.where.segments)
    shards = {each.path: (each, marks) for each, marks in table.living()}
    start = _merge_from([len(shards[s.path][0]) if s.path in shards else 0 for s in segments])
    kept: list[Segment] = []
    for segment in segments[:start]:
        each, marks = shards.get(segment.path, (None, None))
        wasted = each is not None and marks is not None and marks.mean() < _MOSTLY_DEAD
        kept.append(_written([segment], table, folder) if wasted else segment)
    if len(segments) - start >= _FEWEST:
        kept.append(_written(segments[start:], table, folder))
    else:
        kept += segments[start:]
    return tuple(kept) if kept != segments else None


def _merge_from(rows: list[int]) -> int:
    """The first of the newest segments that are worth merging."""
    start, total = len(rows), 0
    while start > 0:
        older = rows[start - 1]
        if total + older > _LARGEST or (total and older > _RATIO * total):
            break
        start -= 1
        total += older
    return start


def _written(segments: list[Segment], table: Table, folder: str) -> Segment:
    """Some neighbouring segments as one new file."""
    by_path = {each.path: (each, marks) for each, marks in table.living()}
    pieces = [by_path[segment.path] for segment in segments if segment.path in by_path]
    arrays: dict[str, Any] = {}
    facts: dict[str, Any] = {"first": {}}
    first_id = 0
    if whole := living_codes(pieces):
        merged = shard_of(*whole, table.schema.key)
        arrays |= merged.arrays()
        first_id = merged.first_id
    arrays["dead"] = _dead_elsewhere(segments, [each for each, _ in pieces])
    _add_values(segments, table, arrays, facts)
    path = files.new_path(folder)
    files.write(path, arrays, facts)
    return Segment(path, first_id)


def living_codes(pieces: Sequence[tuple[Shard, Alive]]) -> tuple[NDArray[np.int64], list[AnyCodes]] | None:
    """The ids and the codes of the living rows of some neighbouring shards; None where there are none."""
    alive = [np.ones(len(piece), np.bool_) if mark is None else mark for piece, mark in pieces]
    if not sum(int(mark.sum()) for mark in alive):
        return None
    own = [piece for piece, _ in pieces]
    ids = np.concatenate([p.id_array()[mark] for p, mark in zip(own, alive, strict=True)])
    columns = [
        np.concatenate([p.columns[c][mark] for p, mark in zip(own, alive, strict=True)])
        for c in range(len(own[0].columns))
    ]
    return ids, columns


def shard_of(ids: NDArray[np.int64], columns: list[AnyCodes], key: tuple[int, ...]) -> Shard:
    """Rows as a shard; `ids` ascend."""
    dense = int(ids[-1] - ids[0]) == len(ids) - 1
    return shard.build(columns, key, range(int(ids[0]), int(ids[-1]) + 1) if dense else ids)


def _dead_elsewhere(segments: list[Segment], pieces: list[Shard]) -> NDArray[np.int64]:
    """Deaths that the segments tell of rows that lie in other ones."""
    deaths = [files.read(segment.path)[0].get("dead", np.empty(0, np.int64)) for segment in segments]
    dead = np.concatenate([np.empty(0, np.int64), *deaths])
    for piece in pieces:
        dead = dead[(dead < piece.first_id) | (dead > piece.last_id)]
    return np.sort(dead)


def _add_values(segments: list[Segment], table: Table, arrays: dict[str, Any], facts: dict[str, Any]) -> None:
    """The values that the segments added: neighbours, so their codes follow each other."""
    first: dict[int, int] = {}
    count: dict[int, int] = {}
    for segment in segments:
        for column, run in runs_of(*files.read(segment.path)).items():
            first.setdefault(column, run.first)
            count[column] = count.get(column, 0) + len(run)
    for column in first:
        values = table.dictionaries[column].image_range(first[column], count[column])
        arrays[f"value/{column}"] = values
        arrays[f"order/{column}"] = images.sorting_order(values)
        facts["first"][str(column)] = first[column]
