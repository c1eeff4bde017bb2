"""Bad rows: which records of a source are no rows of the table, and why; the others are staged.

A source is first read as usual; only if it is refused, and there is a quarantine, it is read again like this. The steps
that stage values find bad ones: they run on the distinct values of each column, and if they fail, on halves, until each
bad value is found. Casters of text find all bad values at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.changes.operations import parse_operations
from holdfast.errors import BadInput
from holdfast.intake.in_memory import lasting
from holdfast.intake.readers import piece_runner
from holdfast.intake.source import OpenSource
from holdfast.intake.staged_rows import (
    Plan,
    StagedRows,
    stage_in_order,
    versions_of,
    with_source,
    without_dictionaries,
    write_in_chunks,
)
from holdfast.sources import jsonlines
from holdfast.sources.bad_records import GoodAndBad, Rejected, sift_piece
from holdfast.sources.pieces import Piece
from holdfast.table import arrow
from holdfast.table.encode import Caster, stage
from holdfast.table.types import Column

T = TypeVar("T")


def without_bad_rows(
    source: Any,
    open_: Callable[[Any, bool], OpenSource],
    read: Callable[[OpenSource], T],
    sift: Callable[[OpenSource], T],
) -> T:
    """What is read of a source; where it is refused, what is sifted of it, opened again so that it may have bad rows.
    A Spark DataFrame stays refused.
    """
    source = source if isinstance(source, OpenSource) else lasting(source)
    try:
        return read(open_(source, False))
    except BadInput:
        opened = open_(source, True)
        if opened.frame is not None:
            raise
    return sift(opened)


def stage_good_rows(opened: OpenSource, plan: Plan, folder: str, few: int) -> tuple[StagedRows, Rejected]:
    """Stage the good rows; few rows in memory stay there. The source is no Spark DataFrame."""
    with with_source(opened):
        if opened.pieces and plan.version_place < 0:
            done = piece_runner(opened.spark).map(partial(_stage_sifted, plan, folder, opened.name), opened.pieces)
            staged = [rows for rows, _, _ in done]
            paths = tuple(path for rows in staged for path in rows.paths)
            bad = Rejected.end_to_end((records, rejected) for _, records, rejected in done)
            return StagedRows(sum(rows.rows for rows in staged), (), paths), bad
        whole = sifted_whole(opened)
        if opened.sifted is not None:
            whole = replace(whole, table=jsonlines.unmarked_at(whole.table, (plan.operation_place, plan.version_place)))
        sifted = _fitting(whole, plan, opened.name)
        return stage_in_order(sifted.table, plan, folder, few), sifted.bad


def sifted_whole(opened: OpenSource) -> GoodAndBad:
    """All records of a source in memory; the source is no Spark DataFrame."""
    if opened.sifted is not None:
        assert opened.table is not None
        return replace(opened.sifted, table=opened.table)
    if opened.table is not None:
        return GoodAndBad(opened.table, len(opened.table))
    parts = [sift_piece(piece) for piece in opened.pieces]
    table = pa.concat_tables([without_dictionaries(part.table) for part in parts])
    bad = Rejected.end_to_end((part.records, part.bad) for part in parts)
    return GoodAndBad(table, sum(part.records for part in parts), bad)


# ---- pieces of files ------------------------------------------------------------------------------------------------


def _stage_sifted(plan: Plan, folder: str, source: str, piece: Piece) -> tuple[StagedRows, int, Rejected]:
    """Read a piece of a file, in a thread here or in a Spark task, and stage its good rows in a folder: the staged
    rows, the number of records, and the bad ones.
    """
    sifted = _fitting(sift_piece(piece), plan, source)
    paths = write_in_chunks(sifted.table, plan, folder)
    return StagedRows(len(sifted.table), (), paths), sifted.records, sifted.bad


# ---- values ---------------------------------------------------------------------------------------------------------


def _fitting(sifted: GoodAndBad, plan: Plan, source: str) -> GoodAndBad:
    """Without the rows that have a bad value."""
    reasons: dict[int, list[str]] = {}
    for rows, reason in _misfits(sifted.table, plan):
        short = _without_advice(reason.removeprefix(f"{source}: "))
        for row in rows.tolist():
            reasons.setdefault(row, []).append(short)
    if not reasons:
        return sifted
    rows = np.array(sorted(reasons), np.int64)
    sentences = ["; ".join(reasons[row]) for row in rows.tolist()]
    good = np.ones(len(sifted.table), np.bool_)
    good[rows] = False
    table = without_dictionaries(sifted.table).filter(arrow.from_numpy(good))  # they would hold the bad values
    return GoodAndBad(table, sifted.records, sifted.bad.and_rows(rows, sentences))


def _without_advice(sentence: str) -> str:
    """What is wrong, without what to do about it: the row is shown with it."""
    what, _, advice = sentence.rpartition("; ")
    return what or advice


def _misfits(table: pa.Table, plan: Plan) -> Iterator[tuple[NDArray[np.int64], str]]:
    """Rows, and what is wrong with them."""
    for place, column, caster in zip(plan.places, plan.columns, plan.casters, strict=True):
        if place >= 0:
            misfits = getattr(caster, "misfits", None)  # of a caster that finds all bad values at once
            yield from _bad_rows(table.column(place), partial(_stage_one, column, caster), misfits)
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
    misfits: Callable[[pa.Array], dict[int, str]] | None = None,
) -> Iterator[tuple[NDArray[np.int64], str]]:
    """The rows of each distinct value that an attempt refuses, and the sentence. `misfits` may know some of them."""
    flat = column.combine_chunks()
    encoded = flat if pa.types.is_dictionary(flat.type) else flat.dictionary_encode()
    values = encoded.dictionary
    bad = dict(misfits(values)) if misfits else {}
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
    """The single values that make an attempt fail, by their places."""
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
