"""Sifting: the rows of a source that can be read, staged, and which of its records are no rows of the table, and why.

A source is read as always; only where it is refused, and rows may be set aside, it is read once more, like this. What
is no value is told by the very steps that stage values, on the distinct values of each column: those that fail are
halved until each that is to blame is found. Texts that are to be cast are looked at all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.changes.operations import parse_operations
from holdfast.errors import BadInput
from holdfast.intake.choosing import reader_of
from holdfast.intake.reading import Reading
from holdfast.intake.staging import (
    Plan,
    StagedRows,
    stage_in_order,
    stage_rows,
    versions_of,
    with_source,
    without_dictionaries,
    write_in_chunks,
)
from holdfast.sources import jsonlines
from holdfast.sources.pieces import Piece
from holdfast.sources.sifting import Sifted, sift_piece
from holdfast.table import arrow
from holdfast.table.encode import Caster, stage
from holdfast.table.types import Column


@dataclass(frozen=True)
class Rejected:
    """Records of a source, by their numbers in order, that are no rows of the table, and why."""

    records: NDArray[np.int64]
    reasons: Sequence[str]

    def record_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the records that some rows are: all other records are rows, counted from 0."""
        return rows + np.searchsorted(self.records - np.arange(len(self.records)), rows, side="right")

    def and_rows(self, rows: NDArray[np.int64], reasons: Sequence[str]) -> Rejected:
        """The same with some rows, which are no good either."""
        records = np.concatenate([self.records, self.record_of(rows)])
        told, order = [*self.reasons, *reasons], np.argsort(records)
        return Rejected(records[order], [told[place] for place in order.tolist()])


NOTHING = Rejected(np.empty(0, np.int64), ())


def stage_good_rows(reading: Reading, plan: Plan, folder: str, few: int) -> tuple[StagedRows, Rejected]:
    """Stage the rows that can be staged; few rows in memory stay there. What Spark reads as a DataFrame is staged
    whole, or refused.
    """
    if reading.frame is not None:  # JSON lines that are not local
        return stage_rows(reading, plan, folder, few), NOTHING
    with with_source(reading):
        if reading.pieces and plan.version_place < 0:
            tasks = [_SiftPiece(piece, plan, folder, reading.name) for piece in reading.pieces]
            return _end_to_end(reader_of(reading.spark).map(_stage_sifted, tasks))
        whole = sifted_whole(reading)
        if reading.sifted is not None:
            whole = replace(whole, table=jsonlines.unmarked_at(whole.table, (plan.operation_place, plan.version_place)))
        sifted = _fitting(whole, plan, reading.name)
        return stage_in_order(sifted.table, plan, folder, few), Rejected(sifted.bad, sifted.reasons)


def sifted_whole(reading: Reading) -> Sifted:
    """All records of a source that is none of Spark's DataFrames, in memory."""
    if reading.sifted is not None:
        assert reading.table is not None
        return replace(reading.sifted, table=reading.table)
    if reading.table is not None:
        return Sifted(reading.table, len(reading.table), np.empty(0, np.int64), [])
    parts = [sift_piece(piece) for piece in reading.pieces]
    first = np.cumsum([0, *(part.records for part in parts)])
    return Sifted(
        pa.concat_tables([without_dictionaries(part.table) for part in parts]),
        int(first[-1]),
        np.concatenate([start + part.bad for start, part in zip(first.tolist(), parts, strict=False)]),
        [reason for part in parts for reason in part.reasons],
    )


# ---- pieces of files ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _SiftPiece:
    """Read a piece of a file, and stage what can be staged in a folder."""

    piece: Piece
    plan: Plan
    folder: str
    source: str


def _stage_sifted(task: _SiftPiece) -> tuple[StagedRows, int, Rejected]:
    """The task, in a thread here or in a task of Spark's: staged rows, how many records there are, and the bad ones."""
    sifted = _fitting(sift_piece(task.piece), task.plan, task.source)
    paths = write_in_chunks(sifted.table, task.plan, task.folder)
    return StagedRows(len(sifted.table), (), paths), sifted.records, Rejected(sifted.bad, sifted.reasons)


def _end_to_end(done: Sequence[tuple[StagedRows, int, Rejected]]) -> tuple[StagedRows, Rejected]:
    first = np.cumsum([0, *(records for _, records, _ in done)])
    bad = [start + rejected.records for start, (_, _, rejected) in zip(first.tolist(), done, strict=False)]
    staged = [rows for rows, _, _ in done]
    return (
        StagedRows(sum(rows.rows for rows in staged), (), tuple(path for rows in staged for path in rows.paths)),
        Rejected(np.concatenate(bad), [reason for _, _, each in done for reason in each.reasons]),
    )


# ---- values ---------------------------------------------------------------------------------------------------------


@runtime_checkable
class _Telling(Protocol):
    """A caster that can tell all that is wrong at once."""

    def misfits(self, values: pa.Array) -> dict[int, str]:
        """What is wrong with the texts that are no values, by their places."""


def _fitting(sifted: Sifted, plan: Plan, source: str) -> Sifted:
    """Without the rows that have something that is no value of its column."""
    reasons: dict[int, list[str]] = {}
    for rows, reason in _misfits(sifted.table, plan):
        said = _without_advice(reason.removeprefix(f"{source}: "))
        for row in rows.tolist():
            reasons.setdefault(row, []).append(said)
    if not reasons:
        return sifted
    rows = np.array(sorted(reasons), np.int64)
    told = ["; ".join(reasons[row]) for row in rows.tolist()]
    rejected = Rejected(sifted.bad, sifted.reasons).and_rows(rows, told)
    good = np.ones(len(sifted.table), np.bool_)
    good[rows] = False
    table = without_dictionaries(sifted.table).filter(arrow.from_numpy(good))  # they would keep what is left out
    return Sifted(table, sifted.records, rejected.records, list(rejected.reasons))


def _without_advice(sentence: str) -> str:
    """What is wrong, without what to do about it: the row stands beside it."""
    what, _, advice = sentence.rpartition("; ")
    return what or advice


def _misfits(table: pa.Table, plan: Plan) -> Iterator[tuple[NDArray[np.int64], str]]:
    """Rows, and what is wrong with them."""
    for place, column, caster in zip(plan.places, plan.columns, plan.casters, strict=True):
        if place >= 0:
            told = caster.misfits if isinstance(caster, _Telling) else None
            yield from _bad_rows(table.column(place), partial(_stage_one, column, caster), told)
    if plan.operation_place >= 0:
        yield from _bad_rows(_with_nulls(table, plan.operation_place), parse_operations)
    if plan.version_place >= 0:
        yield from _bad_rows(_with_nulls(table, plan.version_place), versions_of)


def _stage_one(column: Column, caster: Caster | None, values: pa.ChunkedArray) -> None:
    stage([values], [column], [caster])


def _with_nulls(table: pa.Table, place: int) -> pa.ChunkedArray:
    """A column in which null counts as a value."""
    plain = without_dictionaries(table.select([place])).column(0)
    return plain.dictionary_encode(null_encoding="encode")


def _bad_rows(
    column: pa.ChunkedArray,
    attempt: Callable[[pa.ChunkedArray], object],
    told: Callable[[pa.Array], dict[int, str]] | None = None,
) -> Iterator[tuple[NDArray[np.int64], str]]:
    """The rows of each distinct value that an attempt refuses, and the sentence. `told` may know some of them."""
    flat = column.combine_chunks()
    encoded = flat if pa.types.is_dictionary(flat.type) else flat.dictionary_encode()
    values = encoded.dictionary
    bad = dict(told(values)) if told else {}
    left = np.delete(np.arange(len(values)), list(bad))
    found = _failing(values.take(arrow.from_numpy(left)), attempt)
    bad |= {int(left[place]): sentence for place, sentence in found.items()}
    if not bad:
        return
    places = np.where(arrow.valid(encoded.indices), arrow.to_numpy(encoded.indices).astype(np.int64), -1)
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    for value, sentence in bad.items():
        first, last = np.searchsorted(ordered, [value, value + 1])
        yield order[first:last], sentence


def _failing(values: pa.Array, attempt: Callable[[pa.ChunkedArray], object]) -> dict[int, str]:
    """The values that make an attempt fail, each by itself, by their places."""
    found: dict[int, str] = {}
    waiting = [(0, len(values))] if len(values) else []
    while waiting:
        first, count = waiting.pop()
        try:
            attempt(pa.chunked_array([values.slice(first, count)]))
        except BadInput as error:
            if count == 1:
                found[first] = str(error)
            else:
                half = count // 2
                waiting += [(first, half), (first + half, count - half)]
    return found
