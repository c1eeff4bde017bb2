"""Findings as tables: for the terminal, and for pages.

Text is cut to the width of the screen, the most important part last: of a rule, its right side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from rich.box import ROUNDED
from rich.cells import cell_len
from rich.table import Table

from holdfast.changes.diff import Result
from holdfast.engines.contract import GIVEN_TABLE, LinesTable, RuleClass, is_given
from holdfast.engines.registry import found_classes, rule_class
from holdfast.lazy_rules import for_people, with_bound
from holdfast.report.terminal import Terminal, plain
from holdfast.visible import cut, visible


def text_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = (), title: str | None = None
) -> Table:
    """A terminal table of plain texts, one line a row, cut to the width of the screen. In a pipe nothing is cut."""
    screen = Terminal().width
    wide = min(len(title or ""), screen)  # else the title would wrap at the width of a narrow table
    shown = None if title is None else plain(title)
    table = Table(title=shown, title_justify="left", header_style="bold", box=ROUNDED, min_width=wide)
    for heading in headings:
        justify: Literal["left", "right"] = "right" if heading in right else "left"
        table.add_column(plain(heading), justify=justify, no_wrap=True, overflow="ellipsis")
    for row in fitted(headings, rows, right, screen):
        table.add_row(*map(plain, row))
    return table


@dataclass(frozen=True)
class Total:
    """How many findings there are, which are left out, and a title, if that of their class does not say enough."""

    count: int
    left_out: str = ""
    title: str = ""


def sections(
    findings: Iterable[Mapping[str, Any]], results: Iterable[Result] = (), top: int | None = None
) -> Iterator[LinesTable]:
    """The sections of each table: facts, given rules, and at most `top` found rules of each class. `results` have
    further findings, perhaps a million.
    """
    findings, totals = list(findings), dict[tuple[str, str], Total]()
    firsts = [(first, result) for result in results for first in islice(result.values(), 1)]
    kinds = {first.kind for first, _ in firsts}
    for first, result in firsts:
        line = first.to_json()
        if is_given(line) or rule_class(first.kind).facts:
            findings += [finding.to_json() for finding in result.values()]
        else:
            some, left_out = for_people(result, kinds)
            findings += [finding.to_json() for finding in islice(some.values(), top)]
            title = with_bound(rule_class(first.kind).title, result)
            totals[line.get("table", ""), first.kind] = Total(len(some), left_out, title)
    for name in dict.fromkeys([*(f.get("table", "") for f in findings), *(table for table, _ in totals)]):
        own = [f for f in findings if f.get("table", "") == name]
        given = [f for f in own if is_given(f)]
        by_kind = {each: [f for f in own if f["kind"] == each.name and not is_given(f)] for each in found_classes()}
        for each in by_kind:
            if each.facts and by_kind[each]:
                yield _section(name, each, by_kind[each], Total(len(by_kind[each])))
        if given:
            yield GIVEN_TABLE.of(f"{name}: rules", given)
        for each, lines in by_kind.items():
            total = totals.get((name, each.name), Total(len(lines)))
            if not each.facts and (total.count or total.left_out):
                yield _section(name, each, lines[:top], total)


def _section(name: str, each: RuleClass[Any], lines: list[Mapping[str, Any]], total: Total) -> LinesTable:
    """The findings of a class, with their number as the title."""
    before = f"{name}: " if name else ""
    if lines and (heading := each.heading(lines[0])):
        return each.table.of(f"{before}{heading}", lines)
    more = f", the first {len(lines):,}" if lines and total.count > len(lines) else ""
    left_out = f"; not shown: {total.left_out}" if total.left_out else ""
    return each.table.of(f"{before}{total.count:,} {total.title or each.title}{more}{left_out}", lines)


def findings_tables(
    findings: Iterable[Mapping[str, Any]], results: Iterable[Result] = (), top: int | None = None
) -> list[Table | str]:
    """A terminal table for each section; the title alone if a section has rules but none is to be shown."""
    return [
        text_table(each.headings, each.rows, each.numbers, each.title) if each.rows else plain(each.title)
        for each in sections(findings, results, top)
    ]


_NARROWEST = 8  # no column is cut below this
_LAST = ("rule", "dependency", "key", "column")  # headings of columns that are cut last


def cut_rule(text: str, room: int) -> str:
    """A rule, cut in its left side first: `A, B, … -> Z`."""
    mark = " -> " if " -> " in text else " in "
    left, arrow, right = text.rpartition(mark)
    if cell_len(text) <= room or not left or text.startswith("not("):
        return cut(text, room)
    return cut(_cut_names(left, room - cell_len(arrow + right)) + arrow + right, room)


def _cut_names(names: str, room: int) -> str:
    """As many of the names as fit, and a sign that there are more."""
    shown: list[str] = []
    for name in names.split(", "):
        if cell_len(", ".join([*shown, name, "…"])) > room:
            break
        shown.append(name)
    return ", ".join([*shown, "…"])


def fitted(
    headings: Sequence[str], rows: Sequence[Sequence[str]], whole: Sequence[str], screen: int
) -> list[list[str]]:
    """The cells of a table, cut so that it fits a screen; columns with headings in `whole` are not cut."""
    cells = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(map(visible, headings), *cells, strict=True)]
    excess = sum(widths) + 3 * len(widths) + 1 - screen  # each cell has a line and two spaces
    free = [place for place, heading in enumerate(headings) if heading not in whole]
    for places in ([p for p in free if headings[p] not in _LAST], [p for p in free if headings[p] in _LAST]):
        excess -= _narrow(widths, places, excess)
    cutters = [cut_rule if heading in (*_LAST, "text") else cut for heading in headings]
    return [[shorten(cell, width) for shorten, cell, width in zip(cutters, row, widths, strict=True)] for row in cells]


def _narrow(widths: list[int], places: Sequence[int], excess: int) -> int:
    """Narrow the widest of some columns until the excess is gone or all are narrow; returns how much was gained."""
    taken = 0
    while taken < excess and places:
        widest = max(places, key=widths.__getitem__)
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
        taken += 1
    return taken
