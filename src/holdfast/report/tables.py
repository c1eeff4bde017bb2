"""Findings as tables: for the terminal, and for other libraries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from holdfast.report.fit import cut, fitted
from holdfast.visible import visible

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table

    from holdfast.changes.diff import Finding, Result

_LONGEST = 28


def brief(value: Any, longest: int = _LONGEST) -> str:
    """A value on a short line."""
    if value is None:
        return "–"
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return cut(visible(text[: longest + 1].replace("\n", "⏎")), longest)


def column_cells(facts: Mapping[str, Any]) -> list[str]:
    """One line of the table of column facts."""
    frequent = ", ".join(f"{_value(value)} ×{count:,}" for value, count in facts["frequent"][:3])
    return [
        facts["column"],
        facts["type"],
        brief(facts["nulls"]),
        brief(facts["distinct"]),
        _value(facts["min"]),
        _value(facts["max"]),
        frequent,
    ]


COLUMN_HEADINGS = ("column", "type", "nulls", "distinct", "min", "max", "frequent")


def _value(value: Any) -> str:
    """A value of the data, as it is: numbers are not grouped."""
    return brief(str(value) if value is not None else None, 12)


def text_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = (), title: str | None = None
) -> Table:
    """A terminal table of plain texts, one line a row, cut to the width of the screen. In a pipe nothing is cut."""
    from rich.box import ROUNDED
    from rich.table import Table

    from holdfast.report.terminal import Terminal, plain

    screen = Terminal().width
    wide = min(len(title or ""), screen)  # or the title would be broken to the width of a narrow table
    shown = None if title is None else plain(title)
    table = Table(title=shown, title_justify="left", header_style="bold", box=ROUNDED, min_width=wide)
    for heading in headings:
        justify: Literal["left", "right"] = "right" if heading in right else "left"
        table.add_column(plain(heading), justify=justify, no_wrap=True, overflow="ellipsis")
    for row in fitted(headings, rows, right, screen):
        table.add_row(*map(plain, row))
    return table


Totals = Mapping[tuple[str, str], int]  # how many findings there are of a table and a kind, where not all are given


def shown(
    results: Iterable[Result], top: int, told: Callable[[Finding], dict[str, Any]] = lambda finding: finding.to_json()
) -> tuple[list[dict[str, Any]], dict[tuple[str, str], int]]:
    """The findings to show, at most so many of a class of rules that were found, and how many there are of each."""
    lines: list[dict[str, Any]] = []
    totals = {}
    for result in results:
        for first in islice(result.values(), 1):
            many = first.kind in FOUND and "severity" not in told(first)
            lines += map(told, islice(result.values(), top if many else None))
            if many:
                totals[told(first).get("table", ""), first.kind] = len(result)
    return lines, totals


def findings_tables(
    findings: Sequence[Mapping[str, Any]], top: int = 20, totals: Totals | None = None
) -> list[Table | str]:
    """Terminal tables for each watched table: its columns, the rules that were given, and those that were found."""
    totals = totals or {}
    tables: list[Table | str] = []
    for name in dict.fromkeys([*(f.get("table", "") for f in findings), *(table for table, _ in totals)]):
        own = [f for f in findings if f.get("table", "") == name]
        if columns := [f for f in own if f["kind"] == "column"]:
            title = f"{name}: {columns[0]['rows']:,} rows"
            rows = [column_cells(f) for f in columns]
            tables.append(text_table(COLUMN_HEADINGS, rows, ("nulls", "distinct"), title))
        if rules := [f for f in own if "severity" in f]:
            tables.append(text_table(RULE_HEADINGS, [rule_cells(f) for f in rules], ("violations",), f"{name}: rules"))
        for kind in FOUND:
            found = [f for f in own if f["kind"] == kind and "severity" not in f]
            if count := totals.get((name, kind), len(found)):
                tables.append(_found_table(name, kind, found[:top], count))
    return tables


def _found_table(name: str, kind: str, shown: Sequence[Mapping[str, Any]], count: int) -> Table | str:
    """The rules of a class to show, under how many there are; where none is to be shown, their number alone."""
    from holdfast.report.terminal import plain

    title, headings = FOUND[kind]
    heading = f"{name + ': ' if name else ''}{count:,} {title}"
    if not shown:
        return plain(heading)
    more = f", the first {len(shown):,}" if count > len(shown) else ""
    return text_table(headings, [found_cells(f) for f in shown], NUMBERS, heading + more)


# What is found, by kind: what it is called, and the headings of its table.
FOUND = {
    "ucc": ("keys", ("error", "key")),
    "fd": ("functional dependencies", ("error", "dependency")),
    "ind": ("inclusion dependencies", ("score", "values in", "rows in", "dependency", "reasons")),
}


NUMBERS = ("error", "score", "values in", "rows in")


def found_cells(rule: Mapping[str, Any]) -> list[str]:
    """One line of a table of rules that were found."""
    if rule["kind"] == "ind":
        score = f"{rule['score']:.2f}" if "score" in rule else "–"
        reasons = ", ".join(f"{name} {share:.0%}" for name, share in rule.get("reasons", {}).items())
        return [score, f"{rule['value_coverage']:.2%}", f"{rule['row_coverage']:.2%}", rule["text"], reasons]
    return [f"{rule['error']:.4%}" if rule.get("error") else "0", rule["text"]]


RULE_HEADINGS = ("rule", "severity", "violations", "counted", "text")


def rule_cells(rule: Mapping[str, Any]) -> list[str]:
    """One line of the table of rules."""
    return [rule["name"], rule["severity"], brief(rule["violations"]), rule["counted"], rule["text"]]


def changes_table(changed: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Table | None:
    """What changed in the facts of columns, besides the number of rows: one line a fact."""
    lines = [line for before, after in changed if after["kind"] == "column" for line in change_lines(before, after)]
    return text_table(("column", "fact", "before", "after"), lines, ("before", "after")) if lines else None


def change_lines(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Column, fact, before, after for each fact that differs."""
    lines = [
        (after["column"], fact, brief(before[fact]), brief(after[fact]))
        for fact in ("nulls", "distinct", "min", "max")
        if before[fact] != after[fact]
    ]
    top_before, top_after = before["frequent"][:1], after["frequent"][:1]
    if [value for value, _ in top_before] != [value for value, _ in top_after]:
        shown = [brief(top[0][0]) if top else "–" for top in (top_before, top_after)]
        lines.append((after["column"], "most frequent", *shown))
    return lines


def to_arrow(findings: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Findings as an Arrow table; whatever isn't a number or a text is JSON text, and so are mixed columns."""
    import pyarrow as pa

    names = list(dict.fromkeys(name for finding in findings for name in finding))
    return pa.table({name: _arrow_column([finding.get(name) for finding in findings]) for name in names})


def _arrow_column(values: list[Any]) -> pa.Array:
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} or kinds <= {str} or kinds <= {int, float}:
        return pa.array(values)
    return pa.array([None if v is None else v if isinstance(v, str) else json.dumps(v) for v in values], pa.string())
