"""Rewriting tables; row ids stay as they are.

**Compaction**: many small segments become one, and rows that died leave. Values stay. The newest segments are merged
with each older one that is not much larger than all that are newer, so there are O(log n) segments and each row is
written O(log n) times. A shard of which most rows died is rewritten.

**Rewriting**: a whole table is written again with its living rows and the values that these use.

Batches never change a code, so a value that no row uses any more stays in its dictionary: on disk, in memory, and in
whatever engines count by code. A rewritten table holds none of that. It gets new codes, in the order of the old
ones, so what is chosen by the order of codes is chosen as before.

A table is **overweight** when it holds more than twice the bytes that its living rows would need in a new table.
A rewritten one holds up to 1.7 times as much (ids with gaps, and the order of values whose codes are not in order), so
something in proportion must come or die before it is overweight again: under a stream of batches, all rewriting costs
in proportion to what the stream brings. What rows need is counted in a pass over their codes, and remembered as bytes a
row: it is counted again only when the table seems overweight by that.

Cost: 100,000 rows of 15 columns take 0.05 s to count and 0.3 s to write.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.table import files, images, shard
from holdfast.table.dictionary import NULL_CODE, Dictionary
from holdfast.table.load import runs_of, write_segment
from holdfast.table.portions import portions
from holdfast.table.runs import ValueRun
from holdfast.table.shard import AnyCodes, Shard
from holdfast.table.table import Alive, Segment, Table

_RATIO = 4
_LARGEST = 1 << 20
_FEWEST = 8
_MOSTLY_DEAD = 0.5
_SMALL = 1 << 18  # bytes: a table of fewer is never overweight
_OVERWEIGHT = 2
_VALUES_AT_ONCE = 1 << 26  # bytes
_ROWS_A_SEGMENT = 1 << 20
_INDEX = 12  # bytes of a row's hash and place
# For each column the old codes that stay, ascending, null's first: the new code of `kept[column][i]` is i.
UsedCodes = tuple[NDArray[np.int64], ...]


@dataclass(frozen=True, eq=False)
class Rewritten:
    """The new segments of a table, which codes stayed, and how many values went."""

    segments: tuple[Segment, ...]
    kept: UsedCodes
    dropped: int


def rewritten(table: Table, folder: str) -> Rewritten:
    """Write a table into new files of a folder. Needs memory for the living values, and for some rows at a time."""
    kept = tuple(used_codes(table, column) for column in range(len(table.dictionaries)))
    columns = (renumbered(table, column, stays) for column, stays in enumerate(kept))
    segments = write_anew(table, columns, table.schema.key, folder)
    dropped = sum(len(own) - len(stays) for own, stays in zip(table.dictionaries, kept, strict=True))
    return Rewritten(segments, kept, dropped)


class NewColumn(NamedTuple):
    """A column of a table that is rewritten: its place before, the new code of each old one, and its values."""

    origin: int
    codes: NDArray[np.uint32]
    dictionary: Dictionary


def renumbered(table: Table, place: int, stays: NDArray[np.int64]) -> NewColumn:
    """A column with the same values, but those of some codes alone."""
    codes = np.zeros(len(table.dictionaries[place]), np.uint32)
    codes[stays] = np.arange(len(stays))
    return NewColumn(place, codes, table.dictionaries[place].only(stays))


def write_anew(
    table: Table, columns: Iterable[NewColumn | None], key: tuple[int, ...], folder: str
) -> tuple[Segment, ...]:
    """Write the living rows into files of a folder, with columns that are made of the table's; None: an empty one.
    Values wait until they are many, or until rows come that they go with.
    """
    segments: list[Segment] = []
    waiting: dict[int, ValueRun] = {}
    maps: list[tuple[int, NDArray[np.uint32]] | None] = []
    for place, column in enumerate(columns):
        maps.append(column and (column.origin, column.codes))
        if column and column.dictionary.runs:
            (waiting[place],) = column.dictionary.runs
        if sum(run.nbytes for run in waiting.values()) > _VALUES_AT_ONCE:
            segments.append(write_segment(folder, runs=waiting))
            waiting = {}
    for pieces in _shards_a_segment(table):
        rows = None
        if whole := living_codes(pieces):
            ids, old = whole
            empty = np.zeros(len(ids), np.uint8)
            rows = shard_of(ids, [each[1][old[each[0]]] if each else empty for each in maps], key)
        segments.append(write_segment(folder, rows, runs=waiting))
        waiting = {}
    return tuple(segments)


def is_overweight(table: Table, needed: float) -> bool:
    """Whether a table holds more than twice the bytes that its living rows need: `needed` for each of them."""
    return table.nbytes > max(_SMALL, _OVERWEIGHT * needed * table.rows)


def bytes_a_row(table: Table) -> float:
    """How many bytes a table holds, for each of its rows."""
    return table.nbytes / max(table.rows, 1)


def needed_bytes(table: Table) -> float:
    """How many bytes a living row needs, its values included, in a new table. One pass over the codes."""
    values, width = 0, _INDEX
    for column, dictionary in enumerate(table.dictionaries):
        used = used_codes(table, column)
        values += _bytes_of(dictionary, used)
        width += np.min_scalar_type(len(used)).itemsize
    return width + values / max(table.rows, 1)


def _bytes_of(dictionary: Dictionary, codes: NDArray[np.int64]) -> int:
    """The bytes of some codes' values; eight each are the value itself, or where its text begins."""
    total = 8 * len(codes)
    for run in dictionary.runs:
        if not isinstance(run.values, np.ndarray):
            low, high = np.searchsorted(codes, [run.first, run.first + len(run)])
            total += int(np.diff(images.bytes_of(run.values)[0])[codes[low:high] - run.first].sum())
    return total


def used_codes(table: Table, column: int, shards: Iterable[tuple[Shard, Alive]] | None = None) -> NDArray[np.int64]:
    """The codes that living rows, of all shards or of some, use, ascending, and null's."""
    used = np.zeros(len(table.dictionaries[column]), np.bool_)
    used[NULL_CODE] = True
    for piece, alive in table.living() if shards is None else shards:
        codes = piece.columns[column]
        used[codes if alive is None else codes[alive]] = True
    return np.flatnonzero(used)


def _shards_a_segment(table: Table) -> list[list[tuple[Shard, Alive]]]:
    """Neighbouring shards with about as many living rows as a segment holds; at least one portion, perhaps empty."""
    counts = (len(piece) if alive is None else int(np.count_nonzero(alive)) for piece, alive in table.living())
    living = ((each, count) for each, count in zip(table.living(), counts, strict=True) if count)
    return list(portions(living, _ROWS_A_SEGMENT)) or [[]]


# ---- compaction ------------------------------------------------------------------------------------------------------


def compacted(table: Table, folder: str) -> tuple[Segment, ...] | None:
    """The segments that say the same as the table's, but fewer, or None where nothing is worth merging."""
    segments = list(table.files.segments)
    shards = {each.path: (each, mask) for each, mask in table.living()}
    start = _merge_from([len(shards[s.path][0]) if s.path in shards else 0 for s in segments])
    kept: list[Segment] = []
    for segment in segments[:start]:
        each, mask = shards.get(segment.path, (None, None))
        wasted = each is not None and mask is not None and mask.mean() < _MOSTLY_DEAD
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
    by_path = {each.path: (each, mask) for each, mask in table.living()}
    pieces = [by_path[segment.path] for segment in segments if segment.path in by_path]
    whole = living_codes(pieces)
    merged = shard_of(*whole, table.schema.key) if whole else None
    dead = _dead_elsewhere(segments, [each for each, _ in pieces])
    return write_segment(folder, merged, dead, _values_of(segments, table))


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
    """The dead rows that the segments list and that lie in other segments."""
    deaths = [files.read(segment.path)[0].get("dead", np.empty(0, np.int64)) for segment in segments]
    dead = np.concatenate([np.empty(0, np.int64), *deaths])
    for piece in pieces:
        dead = dead[(dead < piece.first_id) | (dead > piece.last_id)]
    return np.sort(dead)


def _values_of(segments: list[Segment], table: Table) -> dict[int, ValueRun]:
    """The values that the segments added, by column: neighbours, so their codes follow each other."""
    added: dict[int, list[ValueRun]] = defaultdict(list)
    for segment in segments:
        for column, run in runs_of(*files.read(segment.path)).items():
            added[column].append(run)
    runs = {}
    for column, own in added.items():
        values = table.dictionaries[column].image_range(own[0].first, sum(map(len, own)))
        runs[column] = ValueRun(own[0].first, values, images.sorting_order(values))
    return runs
