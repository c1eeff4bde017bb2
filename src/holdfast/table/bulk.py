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

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.operations import INSERT
from holdfast.table import files, shard
from holdfast.table.dictionary import Dictionary
from holdfast.table.encode import Caster, Staged, merge
from holdfast.table.load import open_table, runs_of, write_segment
from holdfast.table.resolve import Mode, resolve, resolve_snapshot
from holdfast.table.runs import ValueRun
from holdfast.table.shard import Shard
from holdfast.table.table import TableFiles
from holdfast.table.types import Column


def write_staged(folder: str, staged: Staged, operations: NDArray[np.int8] | None = None) -> str:
    """Write a staged chunk to a new file in a folder; gives the file."""
    arrays: dict[str, Any] = {f"code/{c}": codes for c, codes in enumerate(staged.codes)}
    arrays |= {f"value/{c}": values for c, values in enumerate(staged.values)}
    if operations is not None:
        arrays["operation"] = operations
    return files.write_new(folder, arrays)


def read_staged(path: str, width: int) -> tuple[Staged, NDArray[np.int8] | None]:
    """The staged chunk of a file, and the operations of its rows where it has any."""
    arrays, _ = files.read(path)
    codes = tuple(arrays[f"code/{c}"] for c in range(width))
    return Staged(codes, tuple(arrays[f"value/{c}"] for c in range(width))), arrays.get("operation")


def merge_column(
    columns: Sequence[Column],
    casters: Sequence[Caster | None],
    chunks: Sequence[str],
    segments: Sequence[str],
    folder: str,
    place: int,
) -> tuple[str, str | None]:
    """Merge the column at a place of staged chunks into the dictionary that some segments hold; gives the files of its
    maps, and of its new values where there are any.
    """
    dictionary = Dictionary(columns[place].type)
    for path in segments:
        if run := runs_of(*files.read(path)).get(place):
            dictionary = dictionary.appended(run)
    values = [files.read(path)[0][f"value/{place}"] for path in chunks]
    maps, fresh = merge(values, dictionary, casters[place], columns[place].name)
    maps_path = files.write_new(folder, {f"map/{i}": narrow for i, narrow in enumerate(maps)})
    if not len(fresh):
        return maps_path, None
    return maps_path, write_segment(folder, runs={place: ValueRun(len(dictionary), fresh)}).path


def finish_shard(maps: Sequence[str], key: tuple[int, ...], folder: str, chunk: tuple[int, str]) -> tuple[str, int]:
    """Turn a chunk, given by its number and file, into a shard; its ids count from 0 until a commit gives it its own.
    Gives the file of the shard and of the operations of its rows, and how many cells of its key are null.
    """
    number, path = chunk
    arrays, _ = files.read(path)
    columns = [shard.narrowed(files.read(own)[0][f"map/{number}"][arrays[f"code/{c}"]]) for c, own in enumerate(maps)]
    made = shard.build(columns, key, range(len(columns[0])))
    extra = {"operation": arrays["operation"]} if "operation" in arrays else {}
    finished = files.write_new(folder, {**made.arrays(), **extra})
    return finished, sum(int((columns[c] == 0).sum()) for c in key)


def resolve_range(where: TableFiles, shards: Sequence[str], mode: Mode, folder: str, bounds: tuple[int, int]) -> str:
    """Resolve the rows of new shards whose hash lies within bounds, the upper one excluded, against the table or as its
    snapshot: writes which rows are born or wrong, by their number through all shards, and which rows of the table die;
    gives the file.
    """
    table = open_table(where)
    width = len(table.schema.columns)
    first, numbers, parts, kinds = 0, [], [], []
    for path in shards:
        arrays, _ = files.read(path)
        piece = shard.from_arrays(arrays, 0, width, path)
        rows = np.sort(_slice(piece, *bounds)).astype(np.int64)
        numbers.append(first + rows)
        first += len(piece)
        parts.append(np.stack([column[rows].astype(np.uint32) for column in piece.columns]))
        kinds.append(arrays["operation"][rows] if "operation" in arrays else np.full(len(rows), INSERT, np.int8))
    codes, operations = np.concatenate(parts, axis=1), np.concatenate(kinds)
    if mode == "snapshot":
        ids = [s.ids_of(_living(_slice(s, *bounds), mask)) for s, mask in table.living()]
        found = resolve_snapshot(table, np.sort(np.concatenate([np.empty(0, np.int64), *ids])), codes)
    else:
        found = resolve(table, codes, operations, mode=mode)
    number_of = np.concatenate(numbers)
    wrong, why = found.wrong
    answer = {"born": number_of[found.born], "dead": found.dead}
    reported = {"wrong": number_of[wrong], "why": why, "wrong_kind": operations[wrong]}
    wrong_codes = {f"wrong_code/{c}": codes[c, wrong] for c in range(width)}
    return files.write_new(folder, {**answer, **reported, **wrong_codes})


def _slice(piece: Shard, low: int, high: int) -> NDArray[np.uint32]:
    start = np.searchsorted(piece.hashes, np.uint64(low))
    end = np.searchsorted(piece.hashes, np.uint64(high)) if high < 1 << 64 else len(piece)
    return piece.places[start:end]


def _living(places: NDArray[np.uint32], mask: NDArray[np.bool_] | None) -> NDArray[np.uint32]:
    return places if mask is None else places[mask[places]]


def keep_rows(key: tuple[int, ...], width: int, marks: str, folder: str, piece: tuple[int, str]) -> str | None:
    """Write a shard, given by its number and file, again with those of its rows that are marked 1 in the array of its
    number; gives the file, or None where no row is left.
    """
    number, path = piece
    rows = np.flatnonzero(files.read(marks)[0][str(number)])
    if not len(rows):
        return None
    columns = shard.load(path, 0, width).columns
    made = shard.build([column[rows] for column in columns], key, range(len(rows)))
    return files.write_new(folder, made.arrays())
