"""Tables and queries of any database that has an ADBC driver: `adbc:snowflake://…`, `adbc:sqlite:FILE/table`.

The scheme of the URI names the driver, the Python package `adbc-driver-SCHEME`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pyarrow as pa

from holdfast.errors import BadSurroundings
from holdfast.sources.databases.address import Address

_DRIVERS = {"grpc": "flightsql", "grpc+tls": "flightsql"}  # schemes that are no names of drivers


@contextmanager
def answer(address: Address) -> Iterator[pa.RecordBatchReader]:
    """The rows of a table or a query."""
    scheme, _, rest = address.database.partition(":")
    driver = driver_of(_DRIVERS.get(scheme, scheme), address)
    with rows(driver, address.database if rest.startswith("//") else rest, address) as cursor:
        cursor.execute(address.select)
        yield cursor.fetch_record_batch()


def driver_of(name: str, address: Address) -> Any:
    """The module of a driver."""
    try:
        return import_module(f"adbc_driver_{name}.dbapi")
    except ModuleNotFoundError:
        known = f"adbc-driver-{name}" if re.fullmatch(r"[a-z]\w*", name) else "the driver of the database"
        raise BadSurroundings(f"{address.shown}: this needs an ADBC driver: pip install {known}") from None


@contextmanager
def rows(driver: Any, uri: str, address: Address) -> Iterator[Any]:
    """A cursor of a database, whose changes are not committed. Its errors become one sentence."""
    try:
        with driver.connect(uri) as connection, connection.cursor() as cursor:
            yield cursor
            connection.rollback()
    except driver.Error as error:
        raise address.refused(_reason(str(error))) from None


def _reason(said: str) -> str:
    """The first line of an error, without what the driver was doing: `INVALID_DATA: [libpq] …: ERROR:  …`."""
    line = said.strip().partition("\n")[0]
    line = re.sub(r"^[A-Z_]+: (\[\w+\] )?", "", line)
    return re.sub(r"^.*?(?:ERROR|FATAL):\s+", "", line).rstrip(".")
