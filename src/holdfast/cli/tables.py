"""Tables and columns as commands name them, and as JSON shows them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.errors import BadInput
from holdfast.lazy_rules import bounds
from holdfast.report.terminal import TerminalProgress

if TYPE_CHECKING:
    from holdfast.changes.diff import Result
    from holdfast.intake.source import ReadOptions
    from holdfast.table.table import Schema


def split(names: str) -> list[str]:
    """Names separated by commas; a name with a comma stands in double quotes."""
    try:
        listed = next(csv.reader([names], skipinitialspace=True, strict=True), [])
    except csv.Error:
        raise BadInput(f"{names!r}: a double quote is not closed before a comma; close it") from None
    return [name.strip() for name in listed if name.strip()]


def named(sources: list[str], options: ReadOptions) -> dict[str, str]:
    """Tables by name: `name=path`, or named after the file."""
    from holdfast.intake.paths import table_name
    from holdfast.sources.databases.address import is_database
    from holdfast.sources.secrets import refuse_plain_secrets

    tables: dict[str, str] = {}
    for source in sources:
        name, equals, path = source.partition("=")
        if source.startswith("jdbc:") or is_database(source) or not equals or "/" in name:
            path = source
            name = table_name(source, options.jdbc_table, options.query)
        refuse_plain_secrets(path)
        if name in tables:
            raise BadInput(f"two sources are named {name!r}; give one another name: other={path}")
        tables[name] = path
    return tables


def table_or_files(given: list[str]) -> tuple[str | None, dict[str, str]]:
    """The meaning of `--table`: one table, or the files of several tables by table."""
    plain = [each for each in given if "=" not in each]
    if len(plain) > 1 or (plain and len(given) > 1):
        raise BadInput(f"--table {plain[-1]}: a batch of several tables needs a file for each: --table name=path")
    files: dict[str, str] = {}
    for name, _, path in (each.partition("=") for each in given if each not in plain):
        if not name.strip():
            raise BadInput(f"--table ={path}: name the table of these rows: --table name=path")
        if name in files:
            raise BadInput(f"--table {name}={path}: there is already a file for {name}; put all its rows into one file")
        files[name] = path
    return plain[0] if plain else None, files


def by_table(option: str, given: list[str], tables: Mapping[str, str]) -> dict[str, list[str]]:
    """The columns of each table in an option: `id`, or `table:id,day` for several tables."""
    columns: dict[str, list[str]] = {}
    for one in given:
        table, colon, named = one.partition(":")
        if not colon and len(tables) > 1:
            raise BadInput(f"{option} {one}: name the table of these columns: table:{one}")
        name, listed = (table, named) if colon else (next(iter(tables)), one)
        columns[name] = [*columns.get(name, []), *split(listed)]
    return columns


def history_of(given: list[str], tables: Iterable[str]) -> str | dict[str, str] | None:
    """The meaning of `--history`: `off`, or the column of each table."""
    if given in ([], ["off"]):
        return given[0] if given else None
    own = by_table("--history", given, dict.fromkeys(tables, ""))
    if several := next((table for table, columns in own.items() if len(columns) != 1), None):
        raise BadInput(f"--history {several}: give one column of {several}")
    return {table: columns[0] for table, columns in own.items()}


def note_left_out(
    progress: TerminalProgress, left_out: Mapping[str, Iterable[str]], chosen: Mapping[str, object]
) -> None:
    """Note the columns that are not watched, unless the user chose columns."""
    for table, columns in left_out.items():
        if table not in chosen and (names := ", ".join(columns)):
            progress.note(f"table {table}: columns left out because their types can't be compared: {names}")


def table_line(schema: Schema, rows: int, left_out: Iterable[str], results: Iterable[Result] = ()) -> dict[str, Any]:
    """A table in JSON, with the bounds on left sides in results, if a class has some."""
    from holdfast.table.types import show_type

    columns = [{"column": column.name, "type": show_type(column.type)} for column in schema.columns]
    key = [schema.names[place] for place in schema.key]
    bound = {each.kind: each.max_lhs for each in bounds(results) if each.table == schema.name}
    return {
        "kind": "table", "table": schema.name, "rows": rows, "columns": columns, "key": key, "nulls": schema.nulls,
        "left_out": list(left_out), **({"max_lhs": bound} if bound else {}),
    }  # fmt: skip
