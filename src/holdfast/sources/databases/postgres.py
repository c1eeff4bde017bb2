"""Tables and queries of PostgreSQL, through its ADBC driver, which reads them by a binary COPY.

Decimals come as text and become decimals again: with the digits that the column declares, or else with as many behind
the point as some value has. Types that Arrow doesn't have (uuid, inet, enums …) come as text. All of it is read in one
transaction that only reads, so it is one moment of the database.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from holdfast.errors import BadInput
from holdfast.extras import needs
from holdfast.sources.databases.adbc import Connection, connected
from holdfast.sources.databases.address import Address
from holdfast.sources.dialect import refuse_equal_names
from holdfast.text.quotes import in_quotes

_DIGITS = 38
# The first day of PostgreSQL's calendar, 4713 BC. The driver gives infinity, and what Arrow can't hold, as less.
_FIRST_DAY = -2_440_588
_FIRST_MOMENT = _FIRST_DAY * 86_400_000_000
_TABLES = (
    "SELECT relname FROM pg_class WHERE relkind IN ('r', 'v', 'm', 'f', 'p') "
    "AND pg_table_is_visible(oid) AND relnamespace <> 'pg_catalog'::regnamespace ORDER BY relname"
)


@dataclass(frozen=True)
class _Column:
    """A column: its expression in the query, and the decimal type that its texts get."""

    name: str
    expression: str
    decimal: pa.DataType | None = None


@contextmanager
def answer(address: Address) -> Iterator[pa.RecordBatchReader]:
    """The rows of a table or a query."""
    with needs("postgres", "A table of PostgreSQL"):
        import adbc_driver_postgresql as driver

    with connected(driver, address.database, address) as connection:
        connection.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        schema = _schema(connection, address)
        refuse_equal_names(schema.names, address.name)
        columns = [_column(connection, address, field) for field in schema]
        chosen = ", ".join(f"{each.expression} AS {in_quotes(each.name)}" for each in columns)
        given = connection.rows(f"SELECT {chosen} FROM ({address.select}) AS rows_read")
        fields = zip(given.schema, columns, strict=True)
        wanted = pa.schema([(own.name, column.decimal or own.type) for own, column in fields])
        yield pa.RecordBatchReader.from_batches(wanted, (_typed(batch, wanted, address) for batch in given))


def _schema(connection: Connection, address: Address) -> pa.Schema:
    """The columns and their types; where the table isn't there, the sentence says which there are."""
    from adbc_driver_manager import ProgrammingError

    try:
        return connection.schema(address.select)
    except ProgrammingError as error:
        if address.table is None or "42P01" not in str(error):
            raise
    connection.rollback()  # the error ended the transaction
    raise address.unknown_table(connection.rows(_TABLES).read_all().column(0).to_pylist())


def _column(connection: Connection, address: Address, field: pa.Field) -> _Column:
    name = in_quotes(field.name)
    about = field.metadata or {}
    kind = about.get(b"POSTGRESQL:type", b"").decode()
    if kind in ("numeric", "money"):
        number = f"{name}::numeric"
        declared = _declared(int(about.get(b"POSTGRESQL:typmod", b"-1")))
        return _Column(field.name, f"{number}::text", declared or _decimal(connection, address, field.name, number))
    if kind == "oid":  # an unsigned number, which the driver takes for a signed one
        return _Column(field.name, f"{name}::bigint")
    return _Column(field.name, f"{name}::text" if isinstance(field.type, pa.BaseExtensionType) else name)


def _declared(modifier: int) -> pa.DataType | None:
    """The type of a numeric(p, s) column, as the catalog packs it; None where it declares none that fits."""
    if modifier < 4:
        return None
    digits, scale = (modifier - 4) >> 16, (((modifier - 4) & 0x7FF) ^ 1024) - 1024
    digits = max(digits - min(scale, 0), scale)
    return pa.decimal128(digits, max(scale, 0)) if digits <= _DIGITS else None


def _decimal(connection: Connection, address: Address, name: str, number: str) -> pa.DataType:
    """The type of a numeric column that declares none: all digits, with as many behind the point as some value has."""
    digits = f"max(scale({number})) AS scale, max(length(trunc(abs({number}))::text)) AS whole"
    (found,) = connection.rows(f"SELECT {digits} FROM ({address.select}) AS q").read_all().to_pylist()
    scale, whole = (each or 0 for each in found.values())
    if scale + whole > _DIGITS:
        raise address.refused(
            f"column {name!r} has numbers of more than {_DIGITS} digits; choose fewer with --query "
            f"'SELECT … round({in_quotes(name)}, 2) …'"
        )
    return pa.decimal128(_DIGITS, scale)


def _typed(batch: pa.RecordBatch, wanted: pa.Schema, address: Address) -> pa.RecordBatch:
    """A batch with decimals for their texts; refuses what their types can't hold."""
    arrays = []
    for field, values in zip(wanted, batch.columns, strict=True):
        try:
            arrays.append(values.cast(field.type) if values.type != field.type else values)
        except pa.ArrowInvalid:
            raise _no_value(address, field.name, "NaN") from None
        if _is_before_time(values):
            raise _no_value(address, field.name, "infinity")
    return pa.RecordBatch.from_arrays(arrays, schema=wanted)


def _is_before_time(values: pa.Array) -> bool:
    if pa.types.is_date32(values.type):
        least, first = pc.min(values.cast(pa.int32())).as_py(), _FIRST_DAY
    elif pa.types.is_timestamp(values.type):
        least, first = pc.min(values.cast(pa.int64())).as_py(), _FIRST_MOMENT
    else:
        return False
    return least is not None and least < first


def _no_value(address: Address, name: str, what: str) -> BadInput:
    column = in_quotes(name)
    query = f"--query \"SELECT …, nullif({column}, '{what}') AS {column} …\""
    return address.refused(f"column {name!r} has {what}, which its type can't hold here; make it null, as in {query}")
