"""Rows in the terminal: as a table where that fits the screen, else one below the other."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.report.tables import text_table
from holdfast.report.terminal import Terminal, plain
from holdfast.results.rows import Row
from holdfast.visible import brief

_LONGEST = 1000


def print_rows(rows: Sequence[Row], most: int) -> None:
    """What is known of each row, and its values."""
    console = Terminal()
    shown = rows[:most]
    columns = list(dict.fromkeys(name for row in shown for name in row.values or ()))
    lines = [[str(row.number), *(_cell(row, name) for name in columns)] for row in shown if row.values is not None]
    headings = ("row", *columns)
    widths = [max(map(len, column)) for column in zip(headings, *lines, strict=True)]
    fits = sum(width + 3 for width in widths) < console.width
    for row in shown:
        console.print(plain(str(row)), soft_wrap=True)
        if row.values is not None and not fits:
            console.print(text_table(("column", "value"), [(name, _cell(row, name)) for name in row.values]))
    if lines and fits:
        console.print(text_table(headings, lines))
    if len(rows) > most:
        console.print(f"… and {len(rows) - most:,} more; see --limit")


def _cell(row: Row, column: str) -> str:
    """A value as it is; nothing where it isn't kept."""
    values = row.values or {}
    value = values.get(column)
    return brief(None if value is None else str(value), _LONGEST) if column in values else ""
