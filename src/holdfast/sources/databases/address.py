"""Addresses of databases: `duckdb:FILE/table`, `sqlite:FILE/table`, `postgres://user@host/db/table`, `adbc:URI/table`.

The last part of an address is the table, perhaps with its schema (`public.orders`). An address without a table needs a
query. `${NAME}` in an address is the environment variable NAME; its value is a secret.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from holdfast.errors import BadInput, suggest
from holdfast.sources.secrets import redacted, secrets_of, with_variables
from holdfast.text.quotes import in_quotes

_SCHEME = re.compile(r"(duckdb|sqlite|postgres|postgresql|adbc):")
_URI = re.compile(r"(?P<host>[\w+.-]+://[^/?]*)/?(?P<path>[^?]*)(?P<more>.*)")


@dataclass(frozen=True)
class Address:
    """A database (its file, or its URI), and a table in it or a query; `shown` is the address as people see it."""

    kind: str
    database: str = field(repr=False)  # may hold a password
    table: str | None
    query: str | None
    shown: str
    secrets: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def select(self) -> str:
        """The query that gives the rows."""
        if self.query is not None:
            return self.query.strip().rstrip(";")
        return f"SELECT * FROM {'.'.join(map(in_quotes, (self.table or '').split('.')))}"

    @property
    def name(self) -> str:
        """What its rows are called in errors."""
        return self.shown if self.query is None else f"{self.shown} (the query)"

    def refused(self, reason: str) -> BadInput:
        """The sentence about a refusal of the database's."""
        return BadInput(redacted(f"{self.name}: {reason}", self.secrets))

    def unknown_table(self, tables: Sequence[str]) -> BadInput:
        """The sentence about a table that the database doesn't have."""
        return self.refused(f"there is no table {self.table!r}; {suggest(self.table or '', tables)}")


def is_database(source: object) -> bool:
    """Whether a source is the address of a database that Holdfast reads itself."""
    if not isinstance(source, str):
        return False
    return _SCHEME.match(with_variables(source)[0] if source.startswith("${") else source) is not None


def table_in(address: str) -> str:
    """What the table of an address is called, without its schema.

    >>> table_in("postgres://ann@host/shop/public.orders?sslmode=require")
    'orders'
    """
    path = address.partition("?")[0] if "://" in address else address
    return unquote(path).rpartition("/")[2].rpartition(".")[2]


def address_of(text: str, query: str | None) -> Address:
    """The parts of an address; without a query it must name a table."""
    full, variables = with_variables(text)
    kind = full.partition(":")[0]
    rest = full[len(kind) + 1 :]
    shown = redacted(text)
    secrets = frozenset(variables | secrets_of(full, {}))
    if kind == "adbc" and re.match(r"postgres(ql)?:", rest):
        kind, rest = rest.partition(":")[::2]
    if kind in ("postgres", "postgresql"):
        uri = rest if re.match(r"postgres(ql)?://", rest) else f"postgresql:{rest}"
        if "://" not in uri:
            raise BadInput(f"{shown}: write the address as postgres://user@host/database/table")
        return Address("postgres", *_parts(uri, query, shown, ("database", "table")), query, shown, secrets)
    if "://" in rest:
        return Address(kind, *_parts(rest, query, shown, ("table",)), query, shown, secrets)
    return Address(kind, *_file_and_table(rest, query, shown), query, shown, secrets)


def _parts(uri: str, query: str | None, shown: str, needed: tuple[str, ...]) -> tuple[str, str | None]:
    """A URI without the table at the end of its path, and the table."""
    found = _URI.fullmatch(uri)
    if query is not None or found is None:
        return uri, None
    parts = found["path"].split("/")
    if len(parts) < len(needed) or not parts[-1]:
        raise _without_table(shown, "/".join(needed[min(len(parts), len(needed)) - 1 :]))
    return f"{found['host']}/{'/'.join(parts[:-1])}{found['more']}", unquote(parts[-1])


def _file_and_table(rest: str, query: str | None, shown: str) -> tuple[str, str | None]:
    if rest.startswith("~"):  # which the shell leaves, behind a colon
        rest = str(Path(rest).expanduser())
    if query is not None:
        return rest, None
    file, _, table = rest.rpartition("/")
    if not file or not table or Path(file).is_dir():
        raise _without_table(shown, "table")
    return file, table


def _without_table(shown: str, what: str) -> BadInput:
    return BadInput(f"{shown}: the address names no table; add /{what}, or give --query 'SELECT …'")


def refuse_no_file(address: Address) -> None:
    """Refuse a database file that isn't there, which drivers would create."""
    if not Path(address.database).is_file():
        raise address.refused(f"there is no file {address.database}; check the path")
