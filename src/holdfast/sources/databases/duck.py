"""Tables and queries of DuckDB. Its types are those of Arrow, but for a few, which are cast in the query."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from holdfast.errors import clear_sentences
from holdfast.extras import needs
from holdfast.sources.databases.address import Address, refuse_no_file
from holdfast.text.quotes import in_quotes

if TYPE_CHECKING:
    import duckdb

# What Arrow would get wrong: it knows no offsets of times, and decimals have 38 digits where these have 39.
_CAST = {"TIME WITH TIME ZONE": "VARCHAR", "HUGEINT": "DECIMAL(38, 0)", "UHUGEINT": "DECIMAL(38, 0)"}

_SQLITE = b"SQLite format 3\0"
# A file of another kind must not fetch anything.
_QUIET: dict[str, str | bool | int | float | list[str]] = {"autoinstall_known_extensions": "false"}


@contextmanager
def answer(address: Address) -> Iterator[pa.RecordBatchReader]:
    """The rows of a table or a query. The file is opened to read, so nothing in it changes."""
    with needs("duckdb", "A table of DuckDB"):
        import duckdb

    refuse_no_file(address)
    with clear_sentences(address.database), Path(address.database).open("rb") as file:
        if file.read(len(_SQLITE)) == _SQLITE:
            raise address.refused("this is a file of SQLite; write sqlite: in place of duckdb:")
    try:
        with duckdb.connect(address.database, read_only=True, config=_QUIET) as connection:
            connection.execute("SET enable_progress_bar = false")  # it would stand among the results of a command
            yield pa.RecordBatchReader.from_stream(_relation(connection, address))
    except duckdb.CatalogException as error:
        tables = _tables(address)
        known = address.table is None or address.table in tables
        raise address.refused(_reason(error)) if known else address.unknown_table(tables) from None
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise address.refused(_reason(error)) from None


def _relation(connection: duckdb.DuckDBPyConnection, address: Address) -> Any:
    """The rows of the address."""
    import duckdb

    if [each.type for each in connection.extract_statements(address.select)] != [duckdb.StatementType.SELECT]:
        raise address.refused("this is not one query; give one SELECT")
    found = connection.sql(address.select)
    kinds = dict(zip(found.columns, map(str, found.types), strict=True))
    cast = {in_quotes(name): _CAST[kind] for name, kind in kinds.items() if kind in _CAST}
    casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in cast.items())
    return found.project(f"* REPLACE ({casts})") if casts else found


def _tables(address: Address) -> list[str]:
    import duckdb

    with duckdb.connect(address.database, read_only=True, config=_QUIET) as connection:
        found = connection.sql("SELECT table_name FROM information_schema.tables ORDER BY table_name").fetchall()
    return [name for (name,) in found]


def _reason(error: Exception) -> str:
    """The first line of an error, without its class."""
    line = str(error).partition("\n")[0]
    return line.partition(" Error: ")[2].rstrip(".") or line
