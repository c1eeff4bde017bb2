"""A summary as Markdown, for the page that a CI host shows of a job, or a comment on a change.

Names, rules and values come from others. They stand in code, in which nothing means anything: no markup, no link, no
mention of a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from holdfast.report.ci.summary import RuleSummary, Summary
from holdfast.visible import counted, cut, visible

_MOST_BLOCKS, _MOST_RULES = 50, 200  # a host refuses a summary of more than 1 MiB
_LONGEST = 500
# What means something anywhere in a sentence, and what does at its start: a list, a heading, a rule.
_MARKS = re.compile(r"[\\`*_{}\[\]<>|~&$]|^[-+=#]|^\d+(?=[.)])")


def markdown_text(summary: Summary) -> str:
    """The summary as a section."""
    return "\n".join([*_lines(summary), "", ""])


def _lines(summary: Summary) -> Iterator[str]:
    yield f"### Holdfast: {'failed' if summary.failed else 'passed'}"
    yield ""
    yield _escaped(summary.refused or summary.line)
    for error in summary.errors:
        yield ""
        yield f"**Failed:** {_escaped(error)}"
    for block in summary.blocks[:_MOST_BLOCKS]:
        yield ""
        yield f"**{block.level.capitalize()}:** {code(block.about)}"
        yield from _fenced(block.rows)
    for line in [*_left_out(len(summary.blocks) - _MOST_BLOCKS), *summary.more]:
        yield ""
        yield _escaped(line)
    if summary.rules:
        yield from _folded(summary.rules, summary.counted)


def _folded(rules: Sequence[RuleSummary], what: str) -> Iterator[str]:
    """All rules as a table, which is shown when it is asked for."""
    several = len({rule.table for rule in rules}) > 1
    headings = ["rule", *(["table"] if several else []), "result", what]
    yield ""
    yield f"<details><summary>{counted(len(rules), 'rule')}</summary>"
    yield ""
    yield _row(headings)
    yield _row(["---"] * (len(headings) - 1) + ["--:"])
    for rule in rules[:_MOST_RULES]:
        yield _row([_cell(rule.title), *([_cell(rule.table)] if several else []), rule.standing, f"{rule.count:,}"])
    yield ""
    for line in _left_out(len(rules) - _MOST_RULES):
        yield line
        yield ""
    yield "</details>"


def _left_out(count: int) -> Iterator[str]:
    if count > 0:
        yield f"… and {counted(count, 'more rule')}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Code in a table: there a bar would end the cell, also within code."""
    return code(text).replace("|", "\\|")


def code(text: str) -> str:
    """A text as code on one line.

    >>> print(code("Zip -> City"), code("a `b`"))
    `Zip -> City` `` a `b` ``
    """
    shown = _plain(text)
    fence = _fence(shown, 1)
    pad = " " if shown[:1] in ("`", " ", "") or shown[-1:] in ("`", " ") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    """Lines as a block of code."""
    shown = list(map(_plain, lines))
    if shown:
        fence = _fence("\n".join(shown), 3)
        yield from ("", f"{fence}text", *shown, fence)


def _fence(text: str, least: int) -> str:
    """More backticks than stand together anywhere in a text."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def _escaped(text: str) -> str:
    """A sentence, in which nothing is markup."""
    return _MARKS.sub(lambda found: f"{found[0]}\\" if found[0].isdecimal() else f"\\{found[0]}", _plain(text).strip())


def _plain(text: str) -> str:
    return cut(visible(text), _LONGEST)
