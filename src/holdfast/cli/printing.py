"""What commands share: names, keys, and the printing of results."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.cli.arguments import Format
from holdfast.engines.declared import RuleClass
from holdfast.engines.registry import found_classes, rule_class, rule_classes
from holdfast.errors import BadInput
from holdfast.report.terminal import Terminal, say_json

if TYPE_CHECKING:
    from holdfast.changes.diff import Result
    from holdfast.engines.listing import Listing
    from holdfast.report.progress import TerminalProgress
    from holdfast.table.table import Schema


def class_names() -> str:
    """The classes whose rules are found, for help."""
    return ", ".join(each.name for each in found_classes())


def given_classes() -> list[RuleClass]:
    """The classes whose rules are given."""
    return [each for each in rule_classes().values() if each.given]


def split(names: str) -> list[str]:
    """Names separated by commas; one that holds a comma stands in double quotes."""
    listed = next(csv.reader([names], skipinitialspace=True), [])
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


def terminal_progress() -> TerminalProgress:
    """The progress on standard error."""
    from holdfast.report.progress import TerminalProgress

    return TerminalProgress()


def note_left_out(progress: TerminalProgress, table: str, columns: Iterable[str], chosen: bool) -> None:
    """Say which columns are not watched, where that wasn't asked for by naming others."""
    if not chosen and (names := ", ".join(columns)):
        progress.note(f"table {table}: left out, as their types can't be compared: {names}")


def table_line(schema: Schema, rows: int, left_out: Iterable[str]) -> dict[str, Any]:
    """A table as JSON tells it."""
    from holdfast.table.types import show_type

    columns = [{"column": column.name, "type": show_type(column.type)} for column in schema.columns]
    key = [schema.names[place] for place in schema.key]
    return {
        "kind": "table", "table": schema.name, "rows": rows, "columns": columns, "key": key, "nulls": schema.nulls,
        "left_out": list(left_out),
    }  # fmt: skip


def in_schema_order(store: Any) -> list[dict[str, Any]]:
    """What holds now of the classes whose findings are kept one by one, columns in the order of their tables."""
    places = {
        (record.schema.name, column): (number, place)
        for number, record in enumerate(store.tables())
        for place, column in enumerate([None, *record.schema.names])
    }
    own = [finding for name in store.watched if not rule_class(name).many for finding in store.results(name)]
    return sorted(own, key=lambda f: (f["kind"], places.get((f.get("table"), f.get("column")), (0, 0))))


def print_findings(
    findings: list[dict[str, Any]],
    form: Format,
    top: int = 20,
    asked: Iterable[str] = (),
    results: Sequence[Result] = (),
) -> None:
    """Findings, and those of results that may be many, as tables or JSON; a class that was asked for and not found is
    said.
    """
    if form is Format.json:
        print_json(findings)
        print_json(finding.to_json() for result in results for finding in result.values())
        return
    from holdfast.report.tables import findings_tables, shown

    console = Terminal()
    some, totals = shown(results, top)
    for table in findings_tables([*findings, *some], totals, top):
        console.print(table)
    known = {finding["kind"] for finding in (*findings, *some)} | {kind for _, kind in totals}
    for kind in [kind for kind in asked if kind not in known]:
        console.print(f"no {rule_class(kind).title} found", markup=False)


def print_listings(listings: Iterable[Listing], limit: int, rows: bool) -> None:
    """The first violations of each rule."""
    from holdfast.report.violations import print_listing

    for listing in listings:
        print_listing(listing, limit, rows)


def print_violations_json(listings: Iterable[Listing], limit: int | None) -> None:
    """Each rule with the number of its violations, and then these, as far as they are kept as pairs."""
    for listing in listings:
        print_json([listing.to_json()])
        if listing.pairs is not None:
            print_json(listing.violations(limit))


def warn_unlisted(progress: TerminalProgress, findings: Iterable[Mapping[str, Any]]) -> None:
    """Warn where only the number of violations is kept."""
    for finding in findings:
        if not finding.get("listed", True):
            progress.note(
                f"rule {finding['name']}: {finding['violations']:,} violations, more than the "
                f"{finding['pair_limit']:,} that are kept as pairs; only their number is kept (--pair-limit raises it)"
            )


def print_json(lines: Iterable[Mapping[str, Any]]) -> None:
    """One object a line."""
    say_json(lines)
