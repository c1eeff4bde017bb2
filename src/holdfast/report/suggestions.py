"""Suggestions as people read them: one screen, what matters first, each thing once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.engines.registry import rule_class
from holdfast.engines.thresholds import SHOWN
from holdfast.ranking.suggestion import Suggestion
from holdfast.report.pages import escape, html_table
from holdfast.report.tables import text_table
from holdfast.report.terminal import Terminal, plain
from holdfast.report.values import Suggestions
from holdfast.visible import cut, visible

_HEADINGS = {
    "ucc": "likely keys",
    "fd": "what determines what",
    "ind": "likely foreign keys",
    "od": "orders",
    "lod": "orders",
    "pod": "orders between pairs of rows",
}


@dataclass(frozen=True)
class Line:
    """A line of a section: a score and a number of rows to remove, where it has them, and words."""

    text: str
    score: float | None = None
    to_remove: int = 0

    def __str__(self) -> str:
        if self.score is None:
            return f"  {self.text}"
        return f"  {self.score:.2f}  {f'{self.to_remove:,}' if self.to_remove else '':>6}  {self.text}"


@dataclass(frozen=True)
class Section:
    """A heading and the lines below it; `more` are left out."""

    heading: str
    lines: Sequence[Line]
    more: int = 0


def sections(found: Suggestions, top: int = SHOWN) -> Iterator[Section]:
    """What is told: keys, columns that say the same, what determines what, and the other classes, at most so many lines
    of each; then the rows that look wrong.
    """
    several = len(found.shapes) > 1
    told = [each for each in found if each.is_told]
    for kind in sorted({each.kind for each in told}, key=lambda kind: [*_HEADINGS, kind].index(kind)):
        own = [each for each in told if each.kind == kind]
        if kind == "fd":
            if found.same:
                same = [f"{each.table}: {each}" if several else str(each) for each in found.same[:top]]
                yield Section("the same in other words", [Line(text) for text in same], max(0, len(found.same) - top))
            lines = _determining(found, several)
        else:
            lines = [_line(each, several and kind != "ind") for each in own]
        if lines:
            yield Section(_HEADINGS.get(kind) or rule_class(kind).title, lines[:top], max(0, len(lines) - top))
    if found.doubts:
        doubts = [f"{each.table}: {each}" if several else str(each) for each in found.doubts]
        yield Section("rows that look wrong", [Line(text) for text in doubts])


def _line(each: Suggestion, with_table: bool) -> Line:
    text = f"{each.table}: {each.text}" if with_table else each.text
    return Line(text, each.scored.score, each.scored.to_remove)


# ---- what determines what -------------------------------------------------------------------------------------------


def _determining(found: Suggestions, several: bool) -> list[Line]:
    """A line for each left side, or two where it determines some columns, and others nearly."""
    halves = [
        (table, [each for each in rules if bool(each.scored.to_remove) is near])
        for (table, _), rules in _groups(found).items()
        for near in (False, True)
    ]
    told = [(table, rules) for table, rules in halves if any(each.is_told for each in rules)]
    return [_group_line(f"{table}: " if several else "", rules) for table, rules in told]


def _groups(found: Suggestions) -> dict[tuple[str, str], list[Suggestion]]:
    """The likely FDs by table and left side, told or not, without those between columns that are the same, which are
    told already, and without those of columns for which others stand.
    """
    standing = {(each.table, column): each.columns[0] for each in found.same for column in each.columns}
    groups: dict[tuple[str, str], list[Suggestion]] = {}
    for each in found:
        if each.kind == "fd" and each.is_likely:
            columns = [*each.scored.columns, _right(each)]
            stand = [standing.get((each.table, column), column) for column in columns]
            if stand == columns:
                groups.setdefault((each.table, each.group), []).append(each)
    return groups


def _group_line(before: str, rules: Sequence[Suggestion]) -> Line:
    told, through = ([_right(each) for each in rules if each.is_told is flag] for flag in (True, False))
    nearly = "nearly " if rules[0].scored.to_remove else ""
    verb = "determine" if len(rules[0].scored.columns) > 1 else "determines"
    listed = ", ".join(told) + (f"; through them {', '.join(through)}" if through else "")
    what = f"{len(rules):,} columns: {listed}" if len(rules) > 1 else listed
    text = f"{before}{', '.join(rules[0].scored.columns)} {nearly}{verb} {what}"
    return Line(text, rules[0].scored.score, max(each.scored.to_remove for each in rules))


def _right(each: Suggestion) -> str:
    return str(each.scored.rule.to_json()["rhs"])


# ---- for people -----------------------------------------------------------------------------------------------------


def count_line(found: Suggestions) -> str:
    """What is not listed, and how to see it."""
    implied = sum(bool(each.implied_by) for each in found)
    weak = sum(not each.is_likely for each in found)
    parts = [f"{implied:,} likely rules follow from these"] if implied else []
    parts += [f"{weak:,} others are weaker"] if weak else []
    return f"{' and '.join(parts)}: --all lists them" if parts else ""


def shape_lines(found: Suggestions) -> list[str]:
    """The tables."""
    return [f"{name}: {rows:,} rows, {len(schema.columns):,} columns" for name, (schema, rows) in found.shapes.items()]


def suggestions_text(found: Suggestions) -> str:
    """What `print()` shows."""
    lines = shape_lines(found)
    for section in sections(found):
        lines += [
            section.heading,
            *map(str, section.lines),
            *([f"  … and {section.more:,} more"] if section.more else []),
        ]
    if not any(each.is_told for each in found):
        lines.append("nothing looks as if it were meant")
    return "\n".join(map(visible, [*lines, *filter(None, [count_line(found)])]))


def print_suggestions(found: Suggestions, top: int = SHOWN) -> None:
    """One screen."""
    console = Terminal()
    for shape in shape_lines(found):
        console.print(f"[bold]{plain(shape)}[/bold]")
    for section in sections(found, top):
        note = "[dim]   score, rows to remove[/dim]" if section.lines[0].score is not None else ""
        console.print(f"[bold]{plain(section.heading)}[/bold]{note}")
        for line in section.lines:
            console.print(plain(cut(visible(str(line)), console.width)), soft_wrap=True)
        if section.more:
            console.print(f"  … and {section.more:,} more (--top shows more)")
    if not any(each.is_told for each in found):
        console.print("nothing looks as if it were meant")
    if counted := count_line(found):
        console.print(counted)


def print_all(found: Suggestions) -> None:
    """Every rule that was ranked, with what it follows from."""
    rows = [
        (
            str(each.rank),
            f"{each.scored.score:.3f}",
            f"{each.scored.support:,}",
            f"{each.scored.to_remove:,}",
            each.text,
            ", ".join(each.implied_by),
        )
        for each in found
    ]
    headings = ("rank", "score", "rows that tell", "to remove", "rule", "follows from")
    Terminal().print(text_table(headings, rows, headings[:4], f"{len(rows):,} rules"))


def suggestions_html(found: Suggestions) -> str:
    """What a notebook shows."""
    parts = [f"<h3>{escape(line)}</h3>" for line in shape_lines(found)]
    for section in sections(found):
        rows = [
            (
                "" if line.score is None else f"{line.score:.2f}",
                f"{line.to_remove:,}" if line.to_remove else "",
                line.text,
            )
            for line in section.lines
        ]
        headings = ("score", "rows to remove", section.heading)
        parts.append(html_table(headings, rows, headings[:2]))
    return "".join(parts) + f"<p>{escape(count_line(found))}</p>"
