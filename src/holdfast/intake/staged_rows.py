"""The rows of an open source as staged chunks, checked against a table's columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdfast.changes.operations import (
    DELETE,
    FEED_COLUMNS,
    INSERT,
    OPERATION_COLUMNS,
    VERSION_COLUMN,
    parse_operations,
)
from holdfast.errors import BadInput
from holdfast.intake.opened import NOTED, OpenSource
from holdfast.intake.other_columns import OtherColumns
from holdfast.intake.readers import piece_runner
from holdfast.sources import jsonlines, local
from holdfast.sources.caster import TextCaster
from holdfast.sources.dialect import refuse_equal_names
from holdfast.sources.inference import BadValue, Traits, cast_text, merge, traits
from holdfast.sources.pieces import Piece
from holdfast.table import arrow, files
from holdfast.table.bulk import write_staged
from holdfast.table.encode import Caster, Staged, cast, refuse_bad_text, stage
from holdfast.table.runner import Threads
from holdfast.table.table import Schema
from holdfast.table.types import Column, kept_type, show_type, widens
from holdfast.visible import first_of

_CHUNK_ROWS = 1 << 19


@dataclass(frozen=True)
class StagedRows:
    """Staged rows: in memory, or in files, in order."""

    rows: int
    chunks: tuple[tuple[Staged, NDArray[np.int8] | None], ...] = ()
    paths: tuple[str, ...] = ()
    traits: tuple[Traits, ...] = ()  # of each column, where types are to be inferred
    order: NDArray[np.int64] | None = None  # for each row its number in the source, where they were put in order
    traceable: bool = True  # whether the record of each row is known: Spark has an order of its own

    def remove(self) -> None:
        """Remove the files."""
        for path in self.paths:
            files.remove(path)


NO_ROWS = StagedRows(0)


@dataclass(frozen=True)
class Plan:
    """Which columns of a source to stage: for each column of the table its place in the source (-1: it has none),
    and the place of the operations (-1: every row has the operation `constant`). `infer` says that all columns are text
    whose types are to be inferred.
    """

    columns: tuple[Column, ...]
    places: tuple[int, ...]
    casters: tuple[Caster | None, ...]
    operation_place: int = -1
    version_place: int = -1
    constant: int = INSERT
    infer: bool = False


def stage_rows(opened: OpenSource, plan: Plan, folder: str, few: int) -> StagedRows:
    """Stage a source. Up to `few` rows of a table in memory stay in memory; all else goes to files in `folder`."""
    with with_source(opened):
        if opened.table is not None:
            return stage_in_order(opened.table, plan, folder, few)
        if opened.pieces:
            return _stage_pieces(opened, plan, folder, few)
        return _stage_frame(opened, plan, folder)


@contextmanager
def with_source(opened: OpenSource) -> Iterator[None]:
    """Have errors name their source."""
    try:
        yield
    except BadInput as error:
        sentence = _with_place(opened, str(error))
        raise BadInput(opened.copy.named(sentence) if opened.copy else sentence) from None


def _with_place(opened: OpenSource, sentence: str) -> str:
    """The sentence with the file, and for a malformed record with its line."""
    if sentence.startswith("malformed record"):
        for file in opened.files:
            complaint = local.complaint(file, opened.dialect) if opened.dialect else jsonlines.complaint([file])
            if complaint:
                return complaint
    return sentence if sentence.startswith((opened.name, *opened.files)) else f"{opened.name}: {sentence}"


# ---- planning -------------------------------------------------------------------------------------------------------


def plan_init(opened: OpenSource, table: str, wanted: Sequence[str] = ()) -> tuple[Plan, tuple[str, ...]]:
    """Stage all columns that can be compared, or those that are wanted; also gives the names of the others."""
    refuse_equal_names(opened.names, opened.name)
    _refuse_unknown(opened, table, wanted)
    columns, places, left_out = [], [], []
    for place, (name, given) in enumerate(opened.columns):
        own_type = kept_type(given)
        if name in wanted and own_type is None:
            raise BadInput(f"{opened.name}: column {name!r} is {given}, which can't be compared; leave it out")
        if own_type is None or (wanted and name not in wanted):
            left_out.append(name)
        else:
            columns.append(Column(name, own_type))
            places.append(place)
    if not columns:
        raise BadInput(f"{opened.name}: table {table} has no column that can be compared")
    casters: list[Caster | None] = [None] * len(columns)
    if opened.text and not opened.infer:
        casters = [_text_caster(opened, c, _markers(opened.nulls)) for c in columns]
    return Plan(tuple(columns), tuple(places), tuple(casters), infer=opened.infer), tuple(left_out)


def plan_batch(
    opened: OpenSource,
    schema: Schema,
    left_out: Sequence[str],
    nulls: tuple[str, ...] | None,
    constant: int | None,
    operation_column: str | None = None,
) -> Plan:
    """Match a source with a table by column names. `constant` None means that a column has the operations."""
    names = opened.names
    refuse_equal_names(names, opened.name)
    operation_place = -1 if constant is not None else _operation_place(opened, schema, operation_column)
    places, casters = [], []
    known = {*schema.names, *left_out}
    spare = {names[operation_place], *NOTED} if operation_place >= 0 else set(NOTED)
    if operation_place >= 0:
        spare |= set(FEED_COLUMNS) - known
    spare |= opened.overlooked - known
    only_key = constant == DELETE and schema.key
    _check_names(opened, schema, known, spare, [schema.names[c] for c in schema.key] if only_key else schema.names)
    for column in schema.columns:
        place = names.index(column.name) if column.name in names else -1
        places.append(place)
        casters.append(_caster(opened, column, opened.columns[place][1], _markers(nulls)) if place >= 0 else None)
    version = names.index(VERSION_COLUMN) if VERSION_COLUMN in spare and VERSION_COLUMN in names else -1
    return Plan(schema.columns, tuple(places), tuple(casters), operation_place, version, constant or INSERT)


def _markers(nulls: tuple[str, ...] | None) -> tuple[str, ...]:
    """The null markers, where none are given and none were inferred: the empty text."""
    return ("",) if nulls is None else nulls


def _operation_place(opened: OpenSource, schema: Schema, wanted: str | None) -> int:
    names = opened.names
    if wanted is not None:
        if wanted not in names:
            raise BadInput(f"{opened.name}: there is no operation column {wanted!r}; its columns are {_listed(names)}")
        return names.index(wanted)
    for name in OPERATION_COLUMNS:
        if name in names and name not in schema.names and name not in opened.overlooked:
            return names.index(name)
    raise BadInput(
        f"{opened.name}: no column has the operations; name it with --op (looked for {', '.join(OPERATION_COLUMNS)})"
    )


def _refuse_unknown(opened: OpenSource, table: str, wanted: Sequence[str]) -> None:
    if unknown := [name for name in wanted if name not in opened.names]:
        known = _listed(opened.names)
        raise BadInput(f"{opened.name}: table {table} has no column {unknown[0]!r}; its columns are {known}")
    if twice := [name for name in wanted if wanted.count(name) > 1]:
        raise BadInput(f"{opened.name}: the column {twice[0]!r} is named twice; name it once")


def _check_names(opened: OpenSource, schema: Schema, known: set[str], spare: set[str], needed: Sequence[str]) -> None:
    names = opened.names
    extra = [name for name in names if name not in known and name not in spare]
    lacking = [name for name in needed if name not in names]
    if not extra and not lacking:
        return
    differences = []
    if lacking:
        differences.append(f"lacks {_listed(lacking)}")
    if extra:
        differences.append(f"has {_listed(extra)} in addition")
    sentence = f"{opened.name}: the columns differ from those of table {schema.name}: it {' and '.join(differences)}"
    raise OtherColumns(sentence, schema.name, lacking, extra)


def _listed(names: Sequence[str], most: int = 5) -> str:
    return first_of([repr(name) for name in names], most)


def _caster(opened: OpenSource, column: Column, given: pa.DataType, nulls: tuple[str, ...]) -> Caster | None:
    own_type = kept_type(given)
    if opened.text:
        return _text_caster(opened, column, nulls)
    if own_type is None or not _fits(own_type, column.type, given):
        shown = show_type(own_type) if own_type is not None else str(given)
        raise BadInput(
            f"{opened.name}: column {column.name!r} is {shown}, and {show_type(column.type)} in the table; "
            "cast it first, or let the table change with --evolve"
        )
    if pa.types.is_integer(own_type) and pa.types.is_floating(column.type):
        return partial(_floats, TextCaster(opened.name, column.name, column.type, ()))
    whole = pa.types.is_integer(own_type) or (pa.types.is_decimal(own_type) and not pa.types.is_decimal(given))
    return partial(_decimals, column) if whole and pa.types.is_decimal(column.type) else None


def _text_caster(opened: OpenSource, column: Column, nulls: tuple[str, ...]) -> Caster:
    if opened.marked:
        return jsonlines.JsonCaster(TextCaster(opened.name, column.name, column.type, ()))
    return TextCaster(opened.name, column.name, column.type, nulls)


def _decimals(column: Column, values: pa.Array) -> pa.Array:
    """Integers as decimals, without loss. Arrow wants a type that holds every integer; here the values decide."""
    return cast(values.cast(pa.decimal128(20, 0)), column)


def _floats(caster: TextCaster, values: pa.Array) -> pa.Array:
    """Integers as floats, without loss: as the same integers in a file of text."""
    return caster(values.cast(pa.string()))


def _fits(own_type: pa.DataType, target: pa.DataType, given: pa.DataType) -> bool:
    """Whether values of one type may come into a column of another; each value is still cast without loss."""
    whole = pa.types.is_decimal(own_type) and pa.types.is_integer(target)
    return bool(own_type == target or pa.types.is_null(given) or whole or widens(own_type, target))


# ---- tables in memory -----------------------------------------------------------------------------------------------


def stage_in_order(table: pa.Table, plan: Plan, folder: str, few: int) -> StagedRows:
    """The rows of a table in order; those of a change feed with versions by version."""
    if plan.version_place < 0:
        return _stage_table(table, plan, folder, few)
    table = without_dictionaries(table)
    order = _order(table, plan)
    return replace(_stage_table(table.take(order), plan, folder, few), order=arrow.to_numpy(order).astype(np.int64))


def _stage_table(table: pa.Table, plan: Plan, folder: str, few: int) -> StagedRows:
    if len(table) <= few:
        return StagedRows(len(table), (stage_slice(table, plan),) if len(table) else ())
    return StagedRows(len(table), (), write_in_chunks(table, plan, folder))


def write_in_chunks(table: pa.Table, plan: Plan, folder: str) -> tuple[str, ...]:
    """The rows of a table as files of staged chunks, in order."""
    chunks = [table.slice(start, _CHUNK_ROWS) for start in range(0, len(table), _CHUNK_ROWS)]
    return tuple(Threads().map(partial(write_chunk, plan, folder), chunks))


def write_chunk(plan: Plan, folder: str, rows: pa.Table) -> str:
    """A file with some rows as a staged chunk."""
    return write_staged(folder, *stage_slice(rows, plan))


def _order(table: pa.Table, plan: Plan) -> pa.Array:
    """The rows of a change feed by version, old rows before new ones."""
    kinds = pa.array(parse_operations(table.column(plan.operation_place)))
    by = pa.table({"version": versions_of(table.column(plan.version_place)), "kind": kinds})
    return pc.sort_indices(by, [("version", "ascending"), ("kind", "ascending")])


def versions_of(versions: pa.ChunkedArray) -> pa.Array:
    """Versions as numbers: in a file of text they are text, and 10 comes after 9."""
    if versions.null_count:
        raise BadInput(f"column {VERSION_COLUMN!r}: a row has no version; give every row its version")
    if kept_type(versions.type) != pa.string():
        return versions
    for chunk in versions.chunks:
        refuse_bad_text(chunk, VERSION_COLUMN)
    try:
        return cast_text(versions.cast(pa.string()).combine_chunks(), pa.int64(), ())
    except BadValue as bad:
        raise BadInput(f"column {VERSION_COLUMN!r}: {bad.value!r} is no version; give whole numbers") from None


def stage_slice(table: pa.Table, plan: Plan) -> tuple[Staged, NDArray[np.int8] | None]:
    """Some rows of a source as a staged chunk, with their operations where not all are inserts."""
    arrays = [
        table.column(place) if place >= 0 else pa.chunked_array([pa.nulls(len(table), column.type)])
        for place, column in zip(plan.places, plan.columns, strict=True)
    ]
    staged = stage(arrays, plan.columns, plan.casters)
    if plan.operation_place >= 0:
        return staged, parse_operations(table.column(plan.operation_place))
    return staged, None if plan.constant == INSERT else np.full(len(table), plan.constant, np.int8)


# ---- pieces of files ------------------------------------------------------------------------------------------------


def _stage_piece(plan: Plan, folder: str, nulls: tuple[str, ...] | None, piece: Piece) -> StagedRows:
    """Read a piece of a file, in a thread here or in a Spark task, and stage it in a folder; `nulls` are the null
    markers that are known.
    """
    table = piece.read()
    paths: list[str] = []
    seen = [Traits() for _ in plan.columns]
    for start in range(0, len(table), _CHUNK_ROWS):
        staged, operations = stage_slice(table.slice(start, _CHUNK_ROWS), plan)
        paths.append(write_staged(folder, staged, operations))
        if plan.infer:
            seen = _merged(seen, [traits(values.cast(pa.string()), nulls) for values in staged.values])
    return StagedRows(len(table), (), tuple(paths), tuple(seen))


def _merged(first: Sequence[Traits], second: Sequence[Traits]) -> list[Traits]:
    return [merge(a, b) for a, b in zip(first, second, strict=True)]


def _stage_pieces(opened: OpenSource, plan: Plan, folder: str, few: int) -> StagedRows:
    if plan.version_place >= 0:  # all rows must be put in order
        if opened.spark is not None:
            return _stage_frame(opened, plan, folder)
        return stage_in_order(whole_table(opened), plan, folder, few)
    done = piece_runner(opened.spark).map(partial(_stage_piece, plan, folder, opened.nulls), opened.pieces)
    seen = reduce(_merged, [each.traits for each in done], [Traits() for _ in plan.columns])
    return StagedRows(sum(r.rows for r in done), (), tuple(path for r in done for path in r.paths), tuple(seen))


def whole_table(opened: OpenSource) -> pa.Table:
    """All rows that are read here, without dictionaries: those of pieces differ."""
    tables = [opened.table] if opened.table is not None else [piece.read() for piece in opened.pieces]
    return pa.concat_tables([without_dictionaries(table) for table in tables])


def without_dictionaries(table: pa.Table) -> pa.Table:
    """The table with plain columns, which can be put in order and end to end."""
    plain = [f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in table.schema]
    types = [pa.string() if each == pa.string_view() else each for each in plain]  # Arrow can't put views in order
    return table.cast(pa.schema([f.with_type(kind) for f, kind in zip(table.schema, types, strict=True)]))


# ---- Spark ----------------------------------------------------------------------------------------------------------


def _stage_frame(opened: OpenSource, plan: Plan, folder: str) -> StagedRows:
    from holdfast.spark.frames import clear_sentence
    from holdfast.spark.stage import choose, in_order, stage_frame, without_marks

    frame = opened.as_frame()
    if opened.marked:
        frame = without_marks(frame, (plan.operation_place, plan.version_place))
    has_operations = plan.operation_place >= 0
    if has_operations:
        several = opened.frame is not None and len(opened.files) > 1  # Spark reads them in an order of its own
        frame = in_order(frame, plan.operation_place, plan.version_place, several, opened.has_corrupt_column)
    frame = choose(frame, plan.places, plan.operation_place, opened.has_corrupt_column)
    width = len(plan.columns)
    chosen = replace(plan, places=tuple(range(width)), operation_place=width if has_operations else -1)
    expected = "" if opened.secrets else "FAILED_READ_FILE"  # what a database says may hold a secret
    with clear_sentence(opened.name, only=expected, secrets=opened.secrets):
        paths, rows = stage_frame(frame, partial(write_chunk, chosen, folder), opened.has_corrupt_column)
    return StagedRows(rows, (), tuple(paths), traceable=False)
