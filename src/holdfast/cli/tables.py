"""Tables and columns as commands name them, and as they are told of."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.errors import BadInput
from holdfast.lazy_rules import bounds
from holdfast.report.terminal import TerminalProgress

if TYPE_CHECKING:
    from holdfast.changes.diff import Result
    from holdfast.table.table import Schema


def split(names: str) -> list[str]:
    """Names separated by commas; one that holds a comma stands in double quotes."""
    try:
        listed = next(csv.reader([names], skipinitialspace=True, strict=True), [])
    except csv.Error:
        raise BadInput(f"{names!r}: a double quote opens a name, and none closes it before a comma; add it") from None
    return [name.strip() for name in listed if name.strip()]


def named(sources: list[str], jdbc_table: str | None) -> dict[str, str]:
    """Tables by name: `name=path`, or named after the file."""
    tables: dict[str, str] = {}
    for source in sources:
        name, equals, path = source.partition("=")
        if source.startswith("jdbc:") or not equals or "/" in name:
            path = source
            name = jdbc_table or "table" if source.startswith("jdbc:") else Path(source).name.split(".")[0]
        if name in tables:
            raise BadInput(f"two sources are both called {name!r}; name one of them: other={path}")
        tables[name] = path
    return tables


def table_or_files(given: list[str]) -> tuple[str | None, dict[str, str]]:
    """What `--table` names: one table, or files of several by the tables that they are for."""
    plain = [each for each in given if "=" not in each]
    if len(plain) > 1 or (plain and len(given) > 1):
        raise BadInput(f"--table {plain[-1]}: one batch of several tables needs a file of each: --table name=path")
    files: dict[str, str] = {}
    for name, _, path in (each.partition("=") for each in given if each not in plain):
        if not name.strip():
            raise BadInput(f"--table ={path}: say whose rows these are: --table name=path")
        if name in files:
            raise BadInput(f"--table {name}={path}: there is a file of {name} already; put all of its rows into one")
        files[name] = path
    return plain[0] if plain else None, files


def by_table(option: str, given: list[str], tables: Mapping[str, str]) -> dict[str, list[str]]:
    """Columns of each table, as an option names them: `id`, or `table:id,day` with several tables."""
    columns: dict[str, list[str]] = {}
    for one in given:
        table, colon, named = one.partition(":")
        if not colon and len(tables) > 1:
            raise BadInput(f"{option} {one}: say whose columns these are, as table:{one}")
        name, listed = (table, named) if colon else (next(iter(tables)), one)
        columns[name] = [*columns.get(name, []), *split(listed)]
    return columns


def note_left_out(
    progress: TerminalProgress, left_out: Mapping[str, Iterable[str]], chosen: Mapping[str, object]
) -> None:
    """Say which columns of tables are not watched, where that wasn't asked for by naming others."""
    for table, columns in left_out.items():
        if table not in chosen and (names := ", ".join(columns)):
            progress.note(f"table {table}: left out, as their types can't be compared: {names}")


def table_line(schema: Schema, rows: int, left_out: Iterable[str], results: Iterable[Result] = ()) -> dict[str, Any]:
    """A table as JSON tells it; with how long left sides may be in results, where a class bounds them."""
    from holdfast.table.types import show_type

    columns = [{"column": column.name, "type": show_type(column.type)} for column in schema.columns]
    key = [schema.names[place] for place in schema.key]
    bound = {each.kind: each.max_lhs for each in bounds(results) if each.table == schema.name}
    return {
        "kind": "table", "table": schema.name, "rows": rows, "columns": columns, "key": key, "nulls": schema.nulls,
        "left_out": list(left_out), **({"max_lhs": bound} if bound else {}),
    }  # fmt: skip
