"""JSON lines as columns of marked text: each value as the file has it, after a letter that says what it was.

A line is one object; a missing key is null. Numbers stay text until the types are known, so nothing is rounded: a
column of numbers has the type that it would have in a CSV file, true and false are booleans, and values in quotes are
text. A column of several kinds is text. Objects and lists are left out.

Cost: some microseconds a line; the rows of one block at a time are Python objects.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.errors import BadInput
from holdfast.sources import local
from holdfast.sources.caster import TextCaster
from holdfast.sources.grammar import NO_KIND, TextKind
from holdfast.sources.inference import Traits, decide, kept_as_text, merge, traits
from holdfast.sources.records import encoding_complaint
from holdfast.table import arrow
from holdfast.table.types import show_type

QUOTED, PLAIN, NESTED = "s", "n", "o"  # a text; a number, true or false; an object or a list
_BLANK = " \t\r\n"


class BadLine(ValueError):
    """A line that is no row; the argument says why."""


# ---- lines ----------------------------------------------------------------------------------------------------------


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise BadLine(f"the key {next(name for name in names if names.count(name) > 1)!r} comes twice")
    return made


# Numbers become bytes, to distinguish them from texts.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=str.encode, parse_int=str.encode, parse_constant=str.encode
)


def row_of(line: str) -> dict[str, Any] | None:
    """The row of a line: texts as strings, numbers as bytes; None for an empty line."""
    line = line.removeprefix("\ufeff").strip(_BLANK)
    if not line:
        return None
    try:
        row = _DECODER.decode(line)
        if "\\ud" in line or "\\uD" in line:
            json.dumps(row, ensure_ascii=False, default=repr).encode()
    except BadLine:
        raise
    except UnicodeEncodeError:
        raise BadLine("a text holds half of a character (one surrogate of two)") from None
    except (ValueError, RecursionError):
        raise BadLine("not a JSON object") from None
    if not isinstance(row, dict):
        raise BadLine("not a JSON object")
    return row


def marked(values: list[Any]) -> pa.Array:
    """The values that rows have for one key, as marked text."""
    kinds = set(map(type, values)) - {type(None)}
    if kinds <= {str}:
        return _with_mark(QUOTED, pa.array(values, pa.string()))
    if kinds == {bytes}:
        return _with_mark(PLAIN, pa.array(values, pa.binary()).cast(pa.string()))
    return pa.array([None if value is None else _marked(value) for value in values], pa.string())


def _with_mark(mark: str, values: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(mark, values, "")


def _marked(value: Any) -> str:
    if isinstance(value, str):
        return QUOTED + value
    if isinstance(value, bytes):
        return PLAIN + value.decode()
    return PLAIN + str(value).lower() if isinstance(value, bool) else NESTED


# ---- files ----------------------------------------------------------------------------------------------------------


def read(paths: Sequence[str]) -> pa.Table:
    """Files of JSON lines as columns of marked text, in the order of their names."""
    found = [block for path in paths for block in _blocks(path)]
    table = end_to_end(found)
    if not table.num_columns and any(count for count, _ in found):
        raise keyless(paths[0])
    return table


def keyless(path: str) -> BadInput:
    """The sentence about rows without any key, which can't be stored."""
    return BadInput(f"{path}: its objects have no keys, so no column has a name; write the keys")


def end_to_end(found: Sequence[tuple[int, pa.Table]]) -> pa.Table:
    """Blocks of rows as one table: how many rows each has, and its columns."""
    names = sorted({name for _, table in found for name in table.column_names})
    if not names:
        return pa.table({})
    # Rows without any key are rows, too.
    tables = [t if t.num_columns else pa.table({names[0]: pa.nulls(count, pa.string())}) for count, t in found]
    return pa.concat_tables(tables, promote_options="default").select(names)


def _blocks(path: str) -> Iterator[tuple[int, pa.Table]]:
    """A file block by block: how many rows each has, and its columns."""
    for block in local.blocks(path):
        try:
            rows = [row for line in block.splitlines() if (row := row_of(line.decode())) is not None]
        except ValueError:
            raise BadInput(complaint([path]) or f"{path}: not readable as JSON lines") from None
        yield len(rows), columns_of(rows)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The columns that some rows have, as marked text."""
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: marked([row.get(name) for row in rows]) for name in names})


def chosen(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The columns of some names; nulls where no row has such a key."""
    known = set(table.column_names)
    return pa.table({name: table[name] if name in known else pa.nulls(len(table), pa.string()) for name in names})


def complaint(paths: Sequence[str]) -> str | None:
    """One sentence about the first line that is no row, or None. Slow; for broken files."""
    for path in paths:
        data = local.content(path)
        if sentence := encoding_complaint(data, path):
            return sentence
        for number, line in enumerate(data.splitlines(), 1):
            try:
                row_of(line.decode())
            except BadLine as bad:
                return f"{path}, line {number}: {bad}; mend or remove the line"
    return None


# ---- types ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KeyTraits:
    """What the values of a key look like; `nested` says that objects or lists are among them."""

    traits: Traits = field(default_factory=Traits)
    nested: bool = False

    def join(self, other: "KeyTraits") -> "KeyTraits":
        """The same of both sets of values together."""
        return KeyTraits(merge(self.traits, other.traits), self.nested or other.nested)


def key_traits(values: pa.Array) -> KeyTraits:
    """What marked texts look like, best given distinct."""
    plain = unmarked(values.filter(pc.starts_with(values, PLAIN)))
    quoted = Traits(TextKind.TEXT if pc.any(pc.starts_with(values, QUOTED)).as_py() else NO_KIND)
    return KeyTraits(merge(traits(plain, ()), quoted), bool(pc.any(pc.starts_with(values, NESTED)).as_py()))


def types_in(table: pa.Table, as_text: bool) -> tuple[dict[str, pa.DataType], list[str]]:
    """The types of columns of marked text, and notes on them."""
    return types_of({name: key_traits(table[name].unique()) for name in table.column_names}, as_text)


def types_of(columns: Mapping[str, KeyTraits], as_text: bool) -> tuple[dict[str, pa.DataType], list[str]]:
    """The types of columns (binary: can't be compared), and notes on them."""
    flat = [name for name, column in columns.items() if not column.nested]
    looks = [columns[name].traits for name in flat]
    found = [pa.string()] * len(flat) if as_text else decide(looks, ())[0]
    known = dict(zip(flat, found, strict=True))
    return {name: known.get(name, pa.binary()) for name in columns}, [] if as_text else kept_as_text(flat, looks, ())


def unmarked(values: pa.Array | pa.ChunkedArray) -> Any:
    """The texts without their marks."""
    return pc.utf8_slice_codeunits(values, start=1)


def unmarked_at(table: pa.Table, places: Iterable[int]) -> pa.Table:
    """The table with the texts of some columns unmarked; a place of -1 is skipped."""
    for place in places:
        if place >= 0:
            table = table.set_column(place, table.column_names[place], unmarked(table.column(place)))
    return table


@dataclass(frozen=True)
class JsonCaster:
    """Turns marked texts of a column into values of its type; text in quotes is cast as well, as JSON has no dates."""

    of_text: TextCaster

    def __call__(self, values: pa.Array) -> pa.Array:
        """The typed values."""
        if pc.any(pc.starts_with(values, NESTED)).as_py():
            raise BadInput(_nested(self.of_text.source, self.of_text.column, self.of_text.target))
        return self.of_text(unmarked(values))

    def misfits(self, values: pa.Array) -> dict[int, str]:
        """What is wrong with the texts that are no values, by their places."""
        nested = pc.fill_null(pc.starts_with(values, NESTED), False)
        said = _nested(self.of_text.source, self.of_text.column, self.of_text.target)
        flat = pc.if_else(nested, arrow.null_of(values.type), values)
        found = dict.fromkeys(np.flatnonzero(arrow.to_numpy(nested)).tolist(), said)
        return {**found, **self.of_text.misfits(unmarked(flat))}


def typed(table: pa.Table, types: Mapping[str, pa.DataType], name: str) -> pa.Table:
    """Columns of marked text with their types; those that can't be compared are left empty."""
    columns = {}
    for column in table.column_names:
        values, target = table[column], types[column]
        if target == pa.binary():
            columns[column] = pa.nulls(len(table), target)
            continue
        if pc.any(pc.starts_with(values, NESTED)).as_py():
            raise BadInput(_nested(name, column, target))
        columns[column] = local.typed_column(unmarked(values), pa.field(column, target), name)
    return pa.table(columns)


def _nested(source: str, column: str, target: pa.DataType) -> str:
    wrong = f"column {column!r} holds an object or a list, and its type is {show_type(target)}"
    return f"{source}: {wrong}; give values of that type"
