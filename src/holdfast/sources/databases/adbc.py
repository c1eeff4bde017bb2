"""Tables and queries of any database that has an ADBC driver: `adbc:grpc://…`, `adbc:sqlite:FILE/table`.

The scheme of the URI names the driver, the Python package `adbc-driver-SCHEME`. Drivers also have the interface that
databases usually have in Python (DB-API). It imports pandas and Polars where they are installed, so this is the one
below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from typing import Any

import pyarrow as pa

from holdfast.errors import BadSurroundings
from holdfast.sources.databases.address import Address

_DRIVERS = {"grpc": "flightsql", "grpc+tls": "flightsql"}  # schemes that are no names of drivers


class Connection:
    """A connection in a transaction that is never committed."""

    def __init__(self, connection: Any, open_: ExitStack) -> None:
        self._connection, self._open = connection, open_

    def rows(self, query: str) -> pa.RecordBatchReader:
        """What a query gives."""
        stream, _ = self._statement(query).execute_query()
        return pa.RecordBatchReader.from_stream(stream)

    def schema(self, query: str) -> pa.Schema:
        """The columns of a query, which is not executed."""
        statement = self._statement(query)
        statement.prepare()
        return pa.schema(statement.execute_schema())

    def run(self, statement: str) -> None:
        """Execute a statement that gives no rows."""
        self._statement(statement).execute_update()

    def rollback(self) -> None:
        """End the transaction; the next statement begins another."""
        self._connection.rollback()

    def _statement(self, text: str) -> Any:
        from adbc_driver_manager import AdbcStatement

        statement = self._open.enter_context(AdbcStatement(self._connection))
        statement.set_sql_query(text)
        return statement


@contextmanager
def answer(address: Address) -> Iterator[pa.RecordBatchReader]:
    """The rows of a table or a query."""
    scheme, _, rest = address.database.partition(":")
    driver = _driver_of(_DRIVERS.get(scheme, scheme), address)
    with connected(driver, address.database if rest.startswith("//") else rest, address) as connection:
        yield connection.rows(address.select)


def _driver_of(name: str, address: Address) -> Any:
    """The module of a driver."""
    try:
        return import_module(f"adbc_driver_{name}")
    except ModuleNotFoundError:
        known = f"adbc-driver-{name}" if re.fullmatch(r"[a-z]\w*", name) else "the driver of the database"
        raise BadSurroundings(f"{address.shown}: this needs an ADBC driver: pip install {known}") from None


@contextmanager
def connected(driver: Any, uri: str, address: Address) -> Iterator[Connection]:
    """A connection to a database. Its errors become one sentence, those that come while rows are read as well."""
    import adbc_driver_manager as manager

    try:
        with ExitStack() as open_:
            database = open_.enter_context(driver.connect(uri))
            connection = open_.enter_context(manager.AdbcConnection(database))
            with suppress(manager.NotSupportedError):
                connection.set_autocommit(False)
            yield Connection(connection, open_)
    except (manager.Error, pa.ArrowException, OSError) as error:
        raise address.refused(_reason(str(error))) from None


def _reason(said: str) -> str:
    """The first line of an error, without what the driver was doing: `INVALID_DATA: [libpq] …: ERROR:  …`."""
    line = said.strip().partition("\n")[0]
    line = re.sub(r"^[A-Z_]+: (\[\w+\] )?", "", line)
    return re.sub(r"^.*?(?:ERROR|FATAL):\s+", "", line).rstrip(".")
