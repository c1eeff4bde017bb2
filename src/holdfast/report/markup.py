"""Texts from outside as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape as html_escape

from holdfast.visible import visible


def escape(text: str) -> str:
    """A text from outside as HTML."""
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
