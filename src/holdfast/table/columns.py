"""The columns of a table change: one joins, leaves, gets another name or a wider type. Row ids stay as they are.

A **wider** type is one in which every value of the table means what it meant: integers become decimals, dates become
timestamps, decimals get more digits, a column without any value becomes what it will hold. Every value has a text; that
a column becomes text is only done on request, as its order and its sums are no longer those of numbers.

Cost: the table is written again, unless only names change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.errors import BadInput, refuse_not_utf8, suggest
from holdfast.table import images
from holdfast.table.dictionary import Dictionary
from holdfast.table.rewrite import NewColumn, renumbered, used_codes, write_anew
from holdfast.table.table import Schema, Table, TableFiles
from holdfast.table.types import Column, show_type, widens

_EXACT = 1 << 53  # integers up to this are floats, too
_MOST_DIGITS = 38


@dataclass(frozen=True)
class ColumnChange:
    """What is to change: columns that join, names that leave, new names by old ones, new types by (old) names."""

    added: tuple[Column, ...] = ()
    dropped: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    retyped: Mapping[str, pa.DataType] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.added or self.dropped or self.renamed or self.retyped)

    @property
    def only_names(self) -> bool:
        """Whether nothing but names change, so that no file has to."""
        return not (self.added or self.dropped or self.retyped)


@dataclass(frozen=True)
class NewSchema:
    """The schema after a change, and for each of its columns the place that it had before (None: it had none)."""

    schema: Schema
    origins: tuple[int | None, ...]


def changed_schema(schema: Schema, change: ColumnChange) -> NewSchema:
    """The schema after a change; BadInput where it can't be made."""
    names = schema.names
    for name in (*change.dropped, *change.renamed, *change.retyped):
        if name not in names:
            raise BadInput(f"table {schema.name} has no column {name!r}; {suggest(name, names)}")
    key = [names[place] for place in schema.key]
    if lost := [name for name in change.dropped if name in key]:
        raise BadInput(f"column {lost[0]!r} is part of the key of table {schema.name}, by which its rows are found")
    stay = [place for place, name in enumerate(names) if name not in change.dropped]
    columns = [_changed_column(schema.columns[place], change) for place in stay] + list(change.added)
    if not columns:
        raise BadInput(f"table {schema.name} would have no column left; drop fewer")
    new_names = [column.name for column in columns]
    if "" in {*new_names} - {*names}:
        raise BadInput(f"a column of table {schema.name} would have an empty name; choose one that can be typed")
    for name in new_names:
        refuse_not_utf8(name)
    if twice := [name for name in new_names if new_names.count(name) > 1]:
        raise BadInput(f"table {schema.name} would have two columns {twice[0]!r}; choose another name")
    new_key = tuple(stay.index(place) for place in schema.key)
    origins = (*stay, *(None for _ in change.added))
    return NewSchema(replace(schema, columns=tuple(columns), key=new_key, named_by=()), origins)


def _changed_column(column: Column, change: ColumnChange) -> Column:
    return Column(change.renamed.get(column.name, column.name), change.retyped.get(column.name, column.type))


def with_columns(table: Table, new: NewSchema, folder: str) -> TableFiles:
    """Write a table with other columns into files of a folder."""
    origins = zip(new.schema.columns, new.origins, strict=True)
    columns = (None if origin is None else _converted(table, origin, column) for column, origin in origins)
    return TableFiles(new.schema, write_anew(table, columns, new.schema.key, folder), table.next_id)


def _converted(table: Table, place: int, column: Column) -> NewColumn:
    """A column with the values that rows use, in another column's type."""
    dictionary, used = table.dictionaries[place], used_codes(table, place)
    if column.type == dictionary.kept:
        return renumbered(table, place, used)
    values = widened(dictionary.values(used[1:]), table.schema.columns[place], column.type)
    distinct, at = images.sorted_distinct(images.to_images(values, column.type))
    codes = np.zeros(len(dictionary), np.uint32)
    codes[used[1:]] = at + 1
    return NewColumn(place, codes, Dictionary(column.type).extended(distinct))


def widened(values: pa.Array, column: Column, wanted: pa.DataType) -> pa.Array:
    """Values of a column in a wider type; BadInput where one would mean something else."""
    if not len(values):
        return pa.array([], wanted)
    if pa.types.is_string(wanted):
        return as_text(values)
    if not widens(column.type, wanted):
        raise _refused(column, wanted, "one is not wider than the other")
    try:
        through = pa.types.is_integer(column.type) and pa.types.is_decimal(wanted)
        made = (values.cast(pa.decimal128(20, 0)) if through else values).cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise _refused(column, wanted, str(error).splitlines()[0]) from None
    if pa.types.is_floating(wanted) and pc.max(pc.abs_checked(values)).as_py() > _EXACT:
        raise _refused(column, wanted, "it has integers that are no floats; make it a decimal or text")
    return made


def _refused(column: Column, wanted: pa.DataType, why: str) -> BadInput:
    always = "" if pa.types.is_string(column.type) else "; it can always become text"
    return BadInput(
        f"column {column.name!r} is {show_type(column.type)}, and can't become {show_type(wanted)} with all values "
        f"meaning what they mean ({why}){always}"
    )


def as_text(values: pa.Array) -> pa.Array:
    """Values as text: whole seconds without a fraction, all else as Arrow writes it."""
    text = values.cast(pa.string())
    if pa.types.is_timestamp(values.type) or pa.types.is_time(values.type):
        text = pc.replace_substring_regex(text, r"\.0+(Z?)$", r"\1")
    return text


def common_type(table: pa.DataType, file: pa.DataType) -> pa.DataType | None:
    """The type that holds values of a column and of a file; None where only text does."""
    t = pa.types
    if table == file or (t.is_integer(file) and (t.is_decimal(table) or t.is_floating(table))):
        return table
    if (t.is_integer(table) or t.is_decimal(table)) and (t.is_decimal(file) or t.is_integer(file)):
        return _decimal_of(table, file)
    if t.is_integer(table) and t.is_floating(file):
        return file
    if t.is_date(table) and t.is_timestamp(file):
        return file
    return table if t.is_date(file) and t.is_timestamp(table) else None


def _decimal_of(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    digits = [(20, 0) if pa.types.is_integer(each) else (each.precision, each.scale) for each in (one, other)]
    scale = max(scale for _, scale in digits)
    whole = max(precision - scale for precision, scale in digits)
    return pa.decimal128(whole + scale, scale) if whole + scale <= _MOST_DIGITS else None
