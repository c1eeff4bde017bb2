"""Findings as HTML: for notebooks, and as a page of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape as html_escape
from typing import TYPE_CHECKING, Any

from holdfast.report.outcome import rule_lines
from holdfast.report.tables import (
    COLUMN_HEADINGS,
    FOUND,
    NUMBERS,
    RULE_HEADINGS,
    Totals,
    change_lines,
    column_cells,
    found_cells,
    rule_cells,
)
from holdfast.visible import visible

if TYPE_CHECKING:
    from holdfast.api.outcome import Outcome

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 0.5rem 0 2rem; } td, th { padding: 0.25rem 0.75rem; text-align: left; }
th { border-bottom: 2px solid #888; } td { border-bottom: 1px solid #ddd; } td.number { text-align: right; }
@media (prefers-color-scheme: dark) { body { background: #1b1b1b; color: #ddd; } td { border-color: #444; } }
"""


def escape(text: str) -> str:
    """A text of others as HTML."""
    return html_escape(visible(text))


def html_table(headings: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[str] = ()) -> str:
    """An HTML table of plain texts."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="number">{escape(cell)}</td>' if heading in numeric else f"<td>{escape(cell)}</td>"
            for heading, cell in zip(headings, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def findings_html(findings: Sequence[Mapping[str, Any]], totals: Totals | None = None) -> str:
    """The findings as HTML tables, one a watched table; `totals` says how many there are where not all are given."""
    parts = []
    for name in dict.fromkeys(finding["table"] for finding in findings if "table" in finding):
        columns = [f for f in findings if f.get("table") == name and f["kind"] == "column"]
        if columns:
            parts.append(f"<h3>{escape(name)}: {columns[0]['rows']:,} rows</h3>")
            parts.append(html_table(COLUMN_HEADINGS, [column_cells(f) for f in columns], ("nulls", "distinct")))
        rules = [f for f in findings if f.get("table") == name and "severity" in f]
        if rules:
            parts.append(f"<h3>{escape(name)}: rules</h3>")
            parts.append(html_table(RULE_HEADINGS, [rule_cells(f) for f in rules], ("violations",)))
    for kind, (title, headings) in FOUND.items():
        if found := [f for f in findings if f["kind"] == kind and "severity" not in f]:
            count = sum(n for (_, each), n in (totals or {}).items() if each == kind) or len(found)
            more = f", the first {len(found):,}" if count > len(found) else ""
            parts.append(f"<h3>{count:,} {title}{more}</h3>")
            parts.append(html_table(headings, [found_cells(f) for f in found], NUMBERS))
    return "".join(parts)


def outcome_html(outcome: Outcome) -> str:
    """What a batch did, as HTML."""
    batch = outcome.batch
    pairs = [(old.to_json(), new.to_json()) for old, new in outcome.changed]
    lines = [line for old, new in pairs if new["kind"] == "column" for line in change_lines(old, new)]
    lines += [
        (new["name"], "violations", f"{old['violations']:,}", f"{new['violations']:,}")
        for old, new in pairs
        if "severity" in new
    ]
    table = html_table(("column or rule", "fact", "before", "after"), lines) if lines else "<p>No fact changed.</p>"
    heading = f"batch {batch.seq}: {batch.inserted:,} rows inserted, {batch.deleted:,} deleted"
    rules = "".join(
        f"<p>{escape(title)}</p><ul>{''.join(f'<li>{escape(line)}</li>' for line in listed)}</ul>"
        for title, listed in rule_lines(outcome)
    )
    return f"<h3>{escape(batch.table)}, {escape(heading)}</h3>{table}{rules}"


def page(title: str, body: str) -> str:
    """A page of its own."""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style><h1>{escape(title)}</h1>{body}</html>"
    )
