"""The applied batches in the database: one row each, and one for each table if there are several. And the replay of
those after a checkpoint, in as few changes as possible.

A replay only has to reach the final result. So all batches of one table become one change, unless a batch deletes a row
that another of them inserted: neither the table before nor the table after has such a row.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from holdfast.store.batch_numbers import BatchNumbers
from holdfast.store.records import AppliedBatch, BatchPart, BatchRecord, Commit
from holdfast.store.rule_events import how_many
from holdfast.table.change import Change
from holdfast.table.load import LoadedSegment, open_segment, with_segments
from holdfast.table.table import Table

_SEVERAL = "*"  # stands for the table of a batch that has several
_COLUMNS = "seq, batch_id, table_name, at, kind, inserted, deleted, ignored, seconds, gained, lost, changed"


def last_batches(database: sqlite3.Connection, most: int | None) -> list[BatchRecord]:
    """The last batches, at most `most` of them or all, the oldest first."""
    return _batches(database, "ORDER BY seq DESC LIMIT ?", -1 if most is None else most)[::-1]


def batch_with(database: sqlite3.Connection, batch_id: str) -> BatchRecord | None:
    """The batch with an id, if there is one."""
    return next(iter(_batches(database, "WHERE batch_id = ?", batch_id)), None)


def last_batch(database: sqlite3.Connection) -> BatchRecord | None:
    """The last batch that is no change, if there is one."""
    found = _batches(database, "WHERE seq NOT IN (SELECT seq FROM reshaped) ORDER BY seq DESC LIMIT ?", 1)
    return next(iter(found), None)


def _batches(database: sqlite3.Connection, which: str, value: object) -> list[BatchRecord]:
    """Batches; those of several tables with their parts, in the order in which the tables were given."""
    found = [BatchRecord(*row) for row in database.execute(f"SELECT {_COLUMNS} FROM batches {which}", (value,))]
    parts: dict[int, list[BatchPart]] = defaultdict(list)
    query = """
        SELECT seq, table_name, inserted, deleted, ignored FROM batch_parts WHERE seq BETWEEN ? AND ? ORDER BY rowid"""
    seqs, numbers = [each.seq for each in found], BatchNumbers.read(database.execute)
    for seq, *part in database.execute(query, (min(seqs, default=0), max(seqs, default=0))):
        parts[seq].append(BatchPart(*part))
    return [replace(each, parts=tuple(parts.get(each.seq, ())), number=numbers.of(each.seq)) for each in found]


def steps_since(database: sqlite3.Connection, seq: int, table: str | None = None) -> list[AppliedBatch]:
    """What the batches after one did to each table, or to one of them, in their order."""
    query = f"""
        SELECT seq, table_name, inserted, next_id FROM
        (SELECT seq, table_name, inserted, next_id, 0 AS place FROM batches WHERE table_name <> '{_SEVERAL}'
         UNION ALL SELECT seq, table_name, inserted, next_id, rowid FROM batch_parts)
        WHERE seq > ?1 AND (?2 IS NULL OR table_name = ?2) ORDER BY seq, place"""
    return [AppliedBatch(*row) for row in database.execute(query, (seq, table))]


def put_batch(database: sqlite3.Connection, commit: Commit) -> int:
    """Store a batch, and the new row counts of its tables; gives its `seq`."""
    parts = commit.parts
    one = parts[0] if len(parts) == 1 else None
    seq = insert_batch(
        database, commit.batch_id, one.table if one else _SEVERAL, commit.kind, sum(part.inserted for part in parts),
        sum(part.deleted for part in parts), sum(part.ignored for part in parts), commit.seconds,
        one.next_id if one else 0, *how_many(commit.diffs.values()), at=commit.at,
    )  # fmt: skip
    if not one:
        rows = [(seq, part.table, part.inserted, part.deleted, part.ignored, part.next_id) for part in parts]
        database.executemany("INSERT INTO batch_parts VALUES (?, ?, ?, ?, ?, ?)", rows)
    sizes = [(part.next_id, part.rows, part.table) for part in parts]
    database.executemany("UPDATE tables SET next_id = ?, row_count = ? WHERE name = ?", sizes)
    return seq


def now() -> datetime:
    """The present time, as batches store it."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def insert_batch(
    database: sqlite3.Connection, batch_id: str, table: str, kind: str, *figures: float, at: datetime | None = None
) -> int:
    """Add a row to the history, with a time, or the present one. The figures are rows inserted, deleted and ignored,
    seconds, the next row id, and rules gained, lost and changed. Gives its `seq`.
    """
    row = (batch_id, table, (at or now()).isoformat(timespec="milliseconds"), kind, *figures)
    columns = "batch_id, table_name, at, kind, inserted, deleted, ignored, seconds, next_id, gained, lost, changed"
    seq = database.execute(f"INSERT INTO batches ({columns}) VALUES ({', '.join('?' * len(row))})", row).lastrowid
    assert seq is not None
    return seq


def replayed(tables: Mapping[str, Table], steps: Iterable[AppliedBatch]) -> Iterator[tuple[str, Change]]:
    """The changes after the tables in `tables`, table by table, each in the order of the steps. The caller must put the
    table after each change into `tables` before it takes the next change.
    """
    by_table: dict[str, list[AppliedBatch]] = {}
    for step in steps:
        by_table.setdefault(step.table, []).append(step)
    for name, own in by_table.items():
        together: list[LoadedSegment] = []
        next_id = tables[name].next_id
        for step in own:
            opened = [open_segment(segment) for segment in step.segments]
            if any((each.dead >= tables[name].next_id).any() for each in opened):
                yield name, _change(tables[name], together, next_id)
                together = []
            together += opened
            next_id = step.next_id
        yield name, _change(tables[name], together, next_id)


def _change(before: Table, segments: list[LoadedSegment], next_id: int) -> Change:
    dead = np.sort(np.concatenate([np.empty(0, np.int64), *(each.dead for each in segments)]))
    after = with_segments(before, segments, next_id)
    return Change(before, after, range(before.next_id, next_id), dead)
