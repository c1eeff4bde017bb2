"""A table from its segment files, as a commit or a task on another machine names them.

A segment may hold a shard (`code/…`, `hash`, `place`, perhaps `id`), new values of columns (`value/c`, perhaps
`order/c`, with their first codes among the facts), and the ids of rows that died (`dead`). Segments come in the order
in which they were committed.

Probes are pure functions of a shard that answer one question; answers merge by an associative operation. The same probe
runs in a thread on the shards that this process has open, or in a task that opens the table by path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.table import files, shard
from holdfast.table.checks import CheckedArrays
from holdfast.table.dictionary import Dictionary
from holdfast.table.runner import Runner
from holdfast.table.runs import FileRun, ValueRun
from holdfast.table.shard import Shard
from holdfast.table.table import Alive, Segment, Table, TableFiles

_NO_IDS: NDArray[np.int64] = np.empty(0, np.int64)
_NO_RUNS: Mapping[int, ValueRun] = {}
Argument = TypeVar("Argument")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class LoadedSegment:
    """A segment whose file is open."""

    segment: Segment
    arrays: CheckedArrays
    runs: Mapping[int, ValueRun]

    @property
    def dead(self) -> NDArray[np.int64]:
        """The ids of the rows that it says died."""
        return np.asarray(self.arrays["dead"]) if "dead" in self.arrays else _NO_IDS


def open_segment(segment: Segment) -> LoadedSegment:
    """Open the file of a segment."""
    arrays, facts = files.read(segment.path)
    return LoadedSegment(segment, arrays, runs_of(arrays, facts))


def load_table(where: TableFiles) -> Table:
    """The table that some segments make up."""
    return with_segments(Table.empty(where.schema), [open_segment(each) for each in where.segments], where.next_id)


def with_segments(table: Table, segments: Sequence[LoadedSegment], next_id: int) -> Table:
    """The table after some more segments."""
    dictionaries = [
        dictionary.appended(*(each.runs[c] for each in segments if c in each.runs))
        for c, dictionary in enumerate(table.dictionaries)
    ]
    shards = [
        shard.from_arrays(each.arrays, each.segment.first_id, len(dictionaries), each.segment.path)
        for each in segments
        if "place" in each.arrays and len(each.arrays.unchecked("place"))
    ]
    arrived = table.grown(tuple(dictionaries)).changed(shards, _NO_IDS)
    dead = np.unique(np.concatenate([_NO_IDS, *(each.dead for each in segments)]))
    where = TableFiles(table.schema, (*table.files.segments, *(each.segment for each in segments)), next_id)
    there, _ = arrived.which_live(dead)  # compaction drops dead rows, and older segments may still name them
    return replace(arrived.changed([], dead[there]), next_id=next_id, where=where)


@lru_cache(maxsize=2)
def open_table(where: TableFiles) -> Table:
    """The same, cached open for the next task in this process."""
    return load_table(where)


def runs_of(arrays: CheckedArrays, facts: Mapping[str, Any]) -> dict[int, ValueRun]:
    """The dictionary runs in a segment, by column."""
    return {int(c): FileRun(first, arrays, int(c)) for c, first in facts.get("first", {}).items()}


def fresh_runs(before: Sequence[Dictionary], after: Sequence[Dictionary]) -> dict[int, ValueRun]:
    """The values added between two versions of dictionaries, by column."""
    versions = enumerate(zip(before, after, strict=True))
    return {
        c: ValueRun(len(old), new.image_range(len(old), len(new) - len(old)))
        for c, (old, new) in versions
        if len(new) > len(old)
    }


def write_segment(
    folder: str, rows: Shard | None = None, dead: NDArray[np.int64] = _NO_IDS, runs: Mapping[int, ValueRun] = _NO_RUNS
) -> Segment:
    """Write a segment: some rows, the ids of rows that died, and new values by column."""
    arrays: dict[str, Any] = {} if rows is None else rows.arrays()
    for column, run in runs.items():
        arrays |= {f"value/{column}": run.values, f"order/{column}": run.order}
    first = {str(column): run.first for column, run in runs.items()}
    path = files.write_new(folder, {**arrays, "dead": dead}, {"first": first})
    return Segment(path, rows.first_id if rows is not None and len(rows) else 0)


def run_probe(
    runner: Runner, probe: Callable[[Shard, Alive, Argument], Answer], table: Table, argument: Argument
) -> list[Answer]:
    """The answer of each shard, in the order of the shards."""
    if runner.is_local:
        return runner.map(lambda each: probe(each[0], each[1], argument), list(table.living()))
    return runner.map(partial(_answer, probe, table.files, argument), range(len(table.shards)))


def _answer(
    probe: Callable[[Shard, Alive, Argument], Answer], where: TableFiles, argument: Argument, number: int
) -> Answer:
    table = open_table(where)
    return probe(table.shards[number], table.alive[number], argument)
