"""How a table has to change for a file: columns that are new, columns that the file lacks, and wider types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from holdfast.changes.operations import FEED_COLUMNS, OPERATION_COLUMNS
from holdfast.intake.bad_rows import sifted_whole, without_bad_rows
from holdfast.intake.opened import NOTED, UNSPLIT, OpenSource, ReadOptions
from holdfast.intake.other_columns import OtherColumns
from holdfast.intake.source import open_source
from holdfast.intake.staged_rows import plan_init, stage_rows, without_dictionaries
from holdfast.sources import jsonlines
from holdfast.sources.grammar import NO_KIND
from holdfast.sources.inference import Traits, decide, traits
from holdfast.table import admit
from holdfast.table.columns import ColumnChange, common_type
from holdfast.table.table import Schema
from holdfast.table.types import Column, kept_type

Found = Sequence[tuple[str, pa.DataType | None]]  # the columns of a file, and their types; None: it has no value


def columns_in(
    source: Any, table: str, options: ReadOptions, spark: Any, folder: str, *, tolerant: bool = False
) -> Found:
    """The columns of a source, with the types of its own values. Text is read once for that; if tolerant, again without
    the records that are no rows, where it has some.
    """

    def opened(source: Any, tolerant: bool) -> OpenSource:
        return open_source(source, options, spark, tolerant=tolerant)

    read = partial(_columns, table=table, folder=folder)
    if not tolerant:
        return read(opened(source, False))
    return without_bad_rows(source, opened, read, partial(_columns_of_rows, options=options))


def _columns_of_rows(opened: OpenSource, options: ReadOptions) -> Found:
    """The same of text that may have records that are no rows."""
    rows = sifted_whole(opened).table
    if opened.json:
        types, _ = jsonlines.types_in(rows, options.csv.types == "text")
        return [(name, kept_type(types[name])) for name in types]
    if not opened.infer:
        return opened.columns
    distinct = without_dictionaries(rows)
    seen = [traits(column.unique(), opened.nulls) for column in distinct.columns]
    return _decided(rows.column_names, seen, opened)


def _columns(opened: OpenSource, table: str, folder: str) -> Found:
    own = [(name, given) for name, given in opened.columns if name not in opened.overlooked]
    if not own or not opened.text:
        return [(name, None if pa.types.is_null(given) else kept_type(given)) for name, given in own]
    plan, _ = plan_init(opened, table)
    rows = stage_rows(opened, plan, folder, admit.SMALL)
    rows.remove()
    found: Found = [(column.name, column.type) for column in plan.columns]
    if opened.infer:
        found = _decided([name for name, _ in found], rows.traits, opened)
    return [each for each in found if each[0] not in opened.overlooked]


def _decided(names: Sequence[str], seen: Sequence[Traits], opened: OpenSource) -> Found:
    types, _ = decide(seen, opened.nulls)
    known = [None if each.kinds == NO_KIND else kind for each, kind in zip(seen, types, strict=True)]
    return list(zip(names, known, strict=True))


def evolution(
    schema: Schema,
    found: Found,
    left_out: Sequence[str],
    is_empty: Callable[[int], bool],
    operation_column: str | None,
    *,
    is_feed: bool,
) -> ColumnChange:
    """How the table has to change to fit the rows of a file. `is_empty` says whether a column has no values yet."""
    feed = (*FEED_COLUMNS, *OPERATION_COLUMNS, operation_column) if is_feed else ()
    spare = {*left_out, *feed, *NOTED, UNSPLIT} - {*schema.names}
    added = [Column(name, kind or pa.string()) for name, kind in found if name not in {*schema.names, *spare}]
    lacking = tuple(name for name in schema.names if name not in {name for name, _ in found})
    if added and lacking:
        sentence = f"the rows of table {schema.name} lack {lacking[0]!r} and have {added[0].name!r}"
        raise OtherColumns(sentence, schema.name, lacking, [each.name for each in added])
    types = dict(found)
    retyped = {}
    for place, column in enumerate(schema.columns):
        kind = types.get(column.name)
        wider = None if kind is None else kind if is_empty(place) else common_type(column.type, kind)
        if wider is not None and wider != column.type:
            retyped[column.name] = wider
    return ColumnChange(tuple(added), lacking, {}, retyped)
