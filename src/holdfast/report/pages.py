"""Findings as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape as html_escape
from typing import Any

from holdfast.report.tables import Totals, sections
from holdfast.results.outcome import Outcome
from holdfast.visible import visible


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
    """The findings as HTML, a table for each section; `totals` says how many there are where not all are given."""
    parts = []
    for each in sections(findings, totals):
        parts.append(f"<h3>{escape(each.title)}</h3>")
        if each.lines:
            parts.append(html_table(each.table.headings, each.cells, each.table.numbers))
    return "".join(parts)


def outcome_html(outcome: Outcome) -> str:
    """What a batch did, as HTML."""
    batch = outcome.batch
    own, facts = outcome.change_lines()
    headings = ("column or rule", "fact", "before", "after")
    tables = [html_table(headings, lines) if lines else "" for lines in (own, facts)]
    unchanged = "" if own or facts else "<p>No fact changed.</p>"
    heading = f"batch {batch.seq}: {batch.inserted:,} rows inserted, {batch.deleted:,} deleted"
    rules = "".join(
        f"<p>{escape(title)}</p><ul>{''.join(f'<li>{escape(line)}</li>' for line in listed)}</ul>"
        for title, listed in (*outcome.aside_lines(), *outcome.rule_lines())
    )
    return f"<h3>{escape(', '.join(batch.tables))}, {escape(heading)}</h3>{tables[0]}{unchanged}{rules}{tables[1]}"
