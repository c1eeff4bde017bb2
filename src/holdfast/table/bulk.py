"""Bulk: encoding and resolving what is too much for memory, as tasks from files to files.

Each task is a plain function of one small item, so a runner may put it in a thread or in a Spark task. Spark may run a
task twice, and end the slower attempt whenever it likes: so an attempt writes under names that it makes up, and answers
with them. Files whose names did not come back don't count; the next writer of the state removes them. In order:

1. staged chunks lie in files (written by the reader of the source);
2. `merge_column`, one a column: the new values, and for each chunk the map from local codes to codes;
3. `finish_shard`, one a chunk: a shard with codes and index;
4. `resolve_range`, where rows must be matched, one a slice of the hash space: equal rows and equal keys meet in the
   same slice, so slices are independent;
5. `keep_rows`, where not all rows of a shard are born.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.operations import INSERT
from holdfast.table import files, shard
from holdfast.table.dictionary import Dictionary
from holdfast.table.encode import Caster, Staged, merge
from holdfast.table.load import open_table, runs_of
from holdfast.table.resolve import Mode, resolve, resolve_snapshot
from holdfast.table.shard import Shard
from holdfast.table.table import TableFiles
from holdfast.table.types import Column


def write_staged(path: str, staged: Staged, operations: NDArray[np.int8] | None = None) -> None:
    """Keep a staged chunk in a file."""
    arrays: dict[str, Any] = {f"code/{c}": codes for c, codes in enumerate(staged.codes)}
    arrays |= {f"value/{c}": values for c, values in enumerate(staged.values)}
    if operations is not None:
        arrays["operation"] = operations
    files.write(path, arrays)


def read_staged(path: str, width: int) -> tuple[Staged, NDArray[np.int8] | None]:
    """The staged chunk of a file, and the operations of its rows where it has any."""
    arrays, _ = files.read(path)
    codes = tuple(arrays[f"code/{c}"] for c in range(width))
    return Staged(codes, tuple(arrays[f"value/{c}"] for c in range(width))), arrays.get("operation")


@dataclass(frozen=True)
class MergeColumn:
    """Merge the column at a place of staged chunks into the dictionary that some segments hold."""

    place: int
    column: Column
    chunks: tuple[str, ...]
    segments: tuple[str, ...]
    folder: str
    caster: Caster | None


class Merged(NamedTuple):
    """The files of a merged column: its maps, and its new values where there are any."""

    maps: str
    values: str | None


def merge_column(task: MergeColumn) -> Merged:
    """Write the new values and the maps."""
    dictionary = Dictionary(task.column.type)
    for path in task.segments:
        arrays, facts = files.read(path)
        if run := runs_of(arrays, facts).get(task.place):
            dictionary = dictionary.appended(run)
    chunks = [files.read(path)[0][f"value/{task.place}"] for path in task.chunks]
    maps, fresh = merge(chunks, dictionary, task.caster, task.column.name)
    maps_path, values_path = files.new_path(task.folder), files.new_path(task.folder)
    files.write(maps_path, {f"map/{i}": narrow for i, narrow in enumerate(maps)})
    if not len(fresh):
        return Merged(maps_path, None)
    files.write(values_path, {f"value/{task.place}": fresh}, {"first": {str(task.place): len(dictionary)}})
    return Merged(maps_path, values_path)


@dataclass(frozen=True)
class FinishShard:
    """Turn chunk number `number` into a shard; its ids count from 0 until a commit gives it its own."""

    number: int
    chunk: str
    maps: tuple[str, ...]
    key: tuple[int, ...]
    folder: str


class Finished(NamedTuple):
    """The file of a shard, and how many cells of its key are null."""

    shard: str
    null_keys: int


def finish_shard(task: FinishShard) -> Finished:
    """Write the shard and the operations of its rows."""
    arrays, _ = files.read(task.chunk)
    columns = [
        shard.narrowed(files.read(path)[0][f"map/{task.number}"][arrays[f"code/{c}"]])
        for c, path in enumerate(task.maps)
    ]
    made = shard.build(columns, task.key, range(len(columns[0])))
    extra = {"operation": arrays["operation"]} if "operation" in arrays else {}
    path = files.new_path(task.folder)
    files.write(path, {**made.arrays(), **extra})
    return Finished(path, sum(int((columns[c] == 0).sum()) for c in task.key))


@dataclass(frozen=True)
class ResolveRange:
    """Resolve the rows of new shards whose hash h has `low <= h < high`, against the table or as its snapshot."""

    table: TableFiles
    shards: tuple[str, ...]
    low: int
    high: int
    mode: Mode
    folder: str


def resolve_range(task: ResolveRange) -> str:
    """Write which rows of which shard are born or wrong, and which rows of the table die; gives the file."""
    table = open_table(task.table)
    width = len(table.schema.columns)
    of_shard, places, parts, kinds = [], [], [], []
    for number, path in enumerate(task.shards):
        arrays, _ = files.read(path)
        piece = shard.from_arrays(arrays, 0, width, path)
        rows = np.sort(_slice(piece, task.low, task.high)).astype(np.int64)
        of_shard.append(np.full(len(rows), number, np.int64))
        places.append(rows)
        parts.append(np.stack([column[rows].astype(np.uint32) for column in piece.columns]))
        kinds.append(arrays["operation"][rows] if "operation" in arrays else np.full(len(rows), INSERT, np.int8))
    codes, operations = np.concatenate(parts, axis=1), np.concatenate(kinds)
    if task.mode == "snapshot":
        ids = [s.ids_of(_living(_slice(s, task.low, task.high), mask)) for s, mask in table.living()]
        found = resolve_snapshot(table, np.sort(np.concatenate([np.empty(0, np.int64), *ids])), codes)
    else:
        found = resolve(table, codes, operations, mode=task.mode)
    shard_of, place_of = np.concatenate(of_shard), np.concatenate(places)
    wrong, why = found.wrong
    answer = {"shard": shard_of[found.born], "place": place_of[found.born], "dead": found.dead}
    reported = {
        "wrong_shard": shard_of[wrong],
        "wrong_place": place_of[wrong],
        "wrong_kind": operations[wrong],
        "why": why,
    }
    path = files.new_path(task.folder)
    files.write(path, {**answer, **reported, **{f"wrong_code/{c}": codes[c, wrong] for c in range(width)}})
    return path


def _slice(piece: Shard, low: int, high: int) -> NDArray[np.uint32]:
    start = np.searchsorted(piece.hashes, np.uint64(low))
    end = np.searchsorted(piece.hashes, np.uint64(high)) if high < 1 << 64 else len(piece)
    return piece.places[start:end]


def _living(places: NDArray[np.uint32], mask: NDArray[np.bool_] | None) -> NDArray[np.uint32]:
    return places if mask is None else places[mask[places]]


@dataclass(frozen=True)
class KeepRows:
    """Write a shard again with some of its rows only (those marked 1 in a file's array)."""

    path: str
    marks: str
    number: int
    key: tuple[int, ...]
    width: int
    folder: str


def keep_rows(task: KeepRows) -> str | None:
    """Write the smaller shard; gives its file, or None where no row is left."""
    rows = np.flatnonzero(files.read(task.marks)[0][str(task.number)])
    if not len(rows):
        return None
    piece = shard.load(task.path, 0, task.width)
    made = shard.build([column[rows] for column in piece.columns], task.key, range(len(rows)))
    path = files.new_path(task.folder)
    files.write(path, made.arrays())
    return path
