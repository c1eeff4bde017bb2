"""Suggestions in the terminal and as HTML."""

from __future__ import annotations

from holdfast.engines.thresholds import SHOWN
from holdfast.report.pages import escape, html_table
from holdfast.report.tables import text_table
from holdfast.report.terminal import Terminal, plain
from holdfast.results.drawn import shape_lines
from holdfast.results.suggestions import NOTHING, Suggestions
from holdfast.visible import cut, visible


def print_suggestions(found: Suggestions, top: int = SHOWN) -> None:
    """One screen."""
    console = Terminal()
    for shape in shape_lines(found.shapes):
        console.print(f"[bold]{plain(shape)}[/bold]")
    for section in found.sections(top):
        note = "[dim]   score, rows to remove[/dim]" if section.lines[0].score is not None else ""
        console.print(f"[bold]{plain(section.heading)}[/bold]{note}")
        for line in section.lines:
            console.print(plain(cut(visible(str(line)), console.width)), soft_wrap=True)
        if section.more:
            console.print(f"  … and {section.more:,} more (--top shows more)")
    if not found.told:
        console.print(NOTHING)
    if counted := found.unlisted_line():
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
    parts = [f"<h3>{escape(line)}</h3>" for line in shape_lines(found.shapes)]
    for section in found.sections():
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
    return "".join(parts) + f"<p>{escape(found.unlisted_line())}</p>"
