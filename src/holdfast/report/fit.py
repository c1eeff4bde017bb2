"""Cutting text to the room that a screen has. What matters most is cut last: of a rule, its right side."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from holdfast.visible import cut, visible

_NARROWEST = 8  # no column is cut below this
_LAST = ("rule", "dependency", "key", "column")  # headings of what is cut after all else


def cut_rule(text: str, room: int) -> str:
    """A rule, cut in its left side first: `A, B, … -> Z`."""
    mark = " -> " if " -> " in text else " in "
    left, arrow, right = text.rpartition(mark)
    if cell_len(text) <= room or not left or text.startswith("not("):
        return cut(text, room)
    return cut(_cut_names(left, room - cell_len(arrow + right)) + arrow + right, room)


def _cut_names(names: str, room: int) -> str:
    """As many of the names as there is room for, and a sign that there are more."""
    shown: list[str] = []
    for name in names.split(", "):
        if cell_len(", ".join([*shown, name, "…"])) > room:
            break
        shown.append(name)
    return ", ".join([*shown, "…"])


def fitted(
    headings: Sequence[str], rows: Sequence[Sequence[str]], whole: Sequence[str], screen: int
) -> list[list[str]]:
    """The cells of a table, cut so that it fits a screen; those under the headings in `whole` are not cut."""
    cells = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(map(visible, headings), *cells, strict=True)]
    excess = sum(widths) + 3 * len(widths) + 1 - screen  # each cell has a line and two spaces
    free = [place for place, heading in enumerate(headings) if heading not in whole]
    for places in ([p for p in free if headings[p] not in _LAST], [p for p in free if headings[p] in _LAST]):
        excess -= _narrow(widths, places, excess)
    cutters = [cut_rule if heading in (*_LAST, "text") else cut for heading in headings]
    return [[shorten(cell, width) for shorten, cell, width in zip(cutters, row, widths, strict=True)] for row in cells]


def _narrow(widths: list[int], places: Sequence[int], excess: int) -> int:
    """Take from the widest columns among some, until the excess is gone or all are narrow; tells how much was taken."""
    taken = 0
    while taken < excess and places:
        widest = max(places, key=widths.__getitem__)
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
        taken += 1
    return taken
