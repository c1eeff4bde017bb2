"""Tables and queries of SQLite, with the standard library.

SQLite has integers, reals, texts and blobs, whatever a column declares. What a column holds decides how it is read; a
column that mixes texts with numbers is refused. Then dates, times, booleans and decimals are made of it, if all of its
values are such, for a column that declares them; else it stays as it is, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from holdfast.errors import BadInput
from holdfast.sources.databases.address import Address, refuse_no_file
from holdfast.sources.local import typed_column
from holdfast.text.quotes import in_quotes

if TYPE_CHECKING:
    import sqlite3

_ROWS_AT_ONCE = 1 << 11  # their Python objects stay in the cache of the processor
_COLUMNS_AT_ONCE = 500  # SQLite gives 2,000 columns at most
_DECLARED = b"sqlite:declared"  # among the metadata of a column
_MOMENTS = (pa.timestamp("us"), pa.timestamp("us", tz="UTC"))
# By the smallest and the largest name of a storage class in the column.
_STORED = {
    ("integer", "integer"): pa.int64(),
    ("integer", "real"): pa.float64(),
    ("real", "real"): pa.float64(),
    ("text", "text"): pa.string(),
    ("blob", "blob"): pa.binary(),
}
# What a declaration contains, in the order of SQLite's rules, and how a column without any value is read.
_EMPTY = (
    ("INT", pa.int64()),
    *((word, pa.string()) for word in ("CHAR", "CLOB", "TEXT", "DATE", "TIME")),
    ("BLOB", pa.binary()),
    *((word, pa.float64()) for word in ("REAL", "FLOA", "DOUB")),
    ("BOOL", pa.int64()),
    ("DEC", pa.int64()),
    ("NUMERIC", pa.int64()),
)


@contextmanager
def answer(address: Address) -> Iterator[pa.RecordBatchReader]:
    """The rows of a table or a query, in one moment of the database. The file is opened to read, so nothing changes."""
    import sqlite3  # help must answer quickly

    refuse_no_file(address)
    try:
        place = f"{Path(address.database).absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(place, uri=True, isolation_level=None)) as connection:
            _refuse_unknown_table(connection, address)
            # A view shows what the columns of a query declare, too. It is gone with the connection.
            connection.execute(f"CREATE TEMP VIEW holdfast_rows AS {address.select}")
            connection.execute("BEGIN")
            schema = _schema(connection, address)
            yield pa.RecordBatchReader.from_batches(schema, _batches(connection, schema, address))
    except sqlite3.Error as error:
        raise address.refused(str(error)) from None


def _refuse_unknown_table(connection: sqlite3.Connection, address: Address) -> None:
    if address.table is None:
        return
    found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
    tables = [name for (name,) in found]
    if address.table.casefold() not in [name.casefold() for name in tables] and "." not in address.table:
        raise address.unknown_table(tables)


def _schema(connection: sqlite3.Connection, address: Address) -> pa.Schema:
    """The columns as they are stored, and what they declare."""
    declared = [(row[1], row[2]) for row in connection.execute("PRAGMA temp.table_info(holdfast_rows)")]
    fields = []
    for start in range(0, len(declared), _COLUMNS_AT_ONCE):
        some = declared[start : start + _COLUMNS_AT_ONCE]
        stored = [f"nullif(typeof({in_quotes(name)}), 'null')" for name, _ in some]
        wanted = ", ".join(f"min({each}), max({each})" for each in stored)
        ends = connection.execute(f"SELECT {wanted} FROM holdfast_rows").fetchone()
        for place, (name, declaration) in enumerate(some):
            stored_type = _stored(address, name, declaration, *ends[2 * place : 2 * place + 2])
            fields.append(pa.field(name, stored_type, metadata={_DECLARED: declaration.encode()}))
    return pa.schema(fields)


def _stored(address: Address, name: str, declaration: str, least: str | None, most: str | None) -> pa.DataType:
    if least is None or most is None:
        return next((kind for word, kind in _EMPTY if word in declaration.upper()), pa.string())
    if found := _STORED.get((least, most)):
        return found
    raise address.refused(
        f"column {name!r} mixes {_plural(least)} with {_plural(most)}; mend the values, or read them as text: --query "
        f"'SELECT …, CAST({in_quotes(name)} AS TEXT) AS {in_quotes(name)} …'"
    )


def _plural(storage: str) -> str:
    return f"{storage}s"


def _batches(connection: sqlite3.Connection, schema: pa.Schema, address: Address) -> Iterator[pa.RecordBatch]:
    rows = connection.execute("SELECT * FROM holdfast_rows")
    while some := rows.fetchmany(_ROWS_AT_ONCE):
        yield pa.RecordBatch.from_arrays(
            [_array(values, field, address) for values, field in zip(zip(*some, strict=True), schema, strict=True)],
            schema=schema,
        )


def _array(values: tuple[Any, ...], field: pa.Field, address: Address) -> pa.Array:
    try:
        return pa.array(values, field.type)
    except pa.ArrowInvalid:
        raise address.refused(
            f"column {field.name!r} has fractions, and whole numbers of more than 15 digits that no float holds; "
            f"read it as text: --query 'SELECT …, CAST({in_quotes(field.name)} AS TEXT) AS {in_quotes(field.name)} …'"
        ) from None


# ---- what columns declare -------------------------------------------------------------------------------------------

_Conversion = Callable[[pa.ChunkedArray, str], pa.ChunkedArray]


def as_declared(table: pa.Table, expected: pa.Schema | None = None) -> tuple[pa.Table, list[str]]:
    """The table with the dates, times, booleans and decimals that its columns declare, and notes on those that hold
    something else. What declares nothing, such as an expression, may become what is expected of the column.
    """
    notes = []
    for place, field in enumerate(table.schema):
        declared = (field.metadata or {}).get(_DECLARED)
        if declared is None:  # of another database
            continue
        convert = _conversion(declared.decode(), field.type)
        if convert is None and not declared and expected is not None and field.name in expected.names:
            convert = _to(expected.field(field.name).type, field.type)
        if convert is None:
            continue
        try:
            values = convert(table.column(place), field.name)
        except (BadInput, pa.ArrowInvalid):
            if declared:
                about = f"is declared {declared.decode()} and has other values"
                notes.append(f"column {field.name!r} {about}; it is read as stored")
        else:
            table = table.set_column(place, pa.field(field.name, values.type), values)
    return table, notes


def _conversion(declared: str, stored: pa.DataType) -> _Conversion | None:
    """How a column becomes what it declares; None where it stays as it is stored."""
    word = declared.upper()
    if pa.types.is_string(stored) and re.match("DATETIME|TIMESTAMP", word):
        return _moments
    if pa.types.is_string(stored) and word == "DATE":
        return _to(pa.date32(), stored)
    if pa.types.is_integer(stored) and word.startswith("BOOL"):
        return _booleans
    decimal = re.fullmatch(r"(?:DECIMAL|DEC|NUMERIC) *\( *(\d+) *(?:, *(\d+) *)?\)", word)
    if decimal and not pa.types.is_string(stored):
        digits, scale = int(decimal[1]), int(decimal[2] or 0)
        if 0 < digits <= 38 and scale <= digits:
            return _to(pa.decimal128(digits, scale), stored)
    return None


def _to(wanted: pa.DataType, stored: pa.DataType) -> _Conversion | None:
    """How stored values become values of a type: texts as in a file of text, numbers as booleans and decimals."""
    if pa.types.is_boolean(wanted) and pa.types.is_integer(stored):
        return _booleans
    numbers = pa.types.is_integer(stored) or pa.types.is_floating(stored)
    if pa.types.is_string(stored) and (pa.types.is_date(wanted) or pa.types.is_timestamp(wanted)):
        return lambda texts, name: typed_column(texts, pa.field(name, wanted), name)
    if numbers and pa.types.is_decimal(wanted):
        # By way of text: a real stands for the shortest decimal that gives it, and no digit is rounded away.
        return lambda numbers, name: typed_column(numbers.cast(pa.string()), pa.field(name, wanted), name)
    return None


def _moments(texts: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Times without a zone, or else with one."""
    try:
        return typed_column(texts, pa.field(name, _MOMENTS[0]), name)
    except BadInput:
        return typed_column(texts, pa.field(name, _MOMENTS[1]), name)


def _booleans(numbers: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    if not pc.all(pc.is_in(numbers.drop_null(), pa.array([0, 1]))).as_py() and numbers.null_count < len(numbers):
        raise BadInput(f"column {name!r} has other numbers than 0 and 1")
    return numbers.cast(pa.bool_())
