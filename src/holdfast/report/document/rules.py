"""The rules of a document: all of them, or the best ones if a page has no room for all.

Written as columns of numbers and one long text (see `columns`), a million rules fit a page. The page takes rules class
by class, the best first, until their deflated size reaches the budget.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from holdfast.changes.diff import Result, Worth
from holdfast.engines.contract import RuleClass
from holdfast.lazy_rules import LazyRules, bounds
from holdfast.report.document.columns import ColumnIndex

HOLDS, VIOLATED, BROKE, IMPLIED, UNTESTED = range(5)
UNKNOWN = -1  # no score

_AT_ONCE = 5000  # rules

RuleName = tuple[str, str, str]  # engine, table ("": several) and text


@dataclass(frozen=True)
class RuleLine:
    """A rule in the list of a page."""

    text: str
    score: float | None
    state: int = HOLDS


@dataclass(frozen=True)
class RuleSection:
    """The rules of one class and table, the best first: some lines, then a whole result."""

    declared: RuleClass[Any]
    table: str  # "": it looks across tables
    title: str
    lines: Sequence[RuleLine] = ()
    result: Result = field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.lines) + len(self.result)

    def coded(self, columns: ColumnIndex) -> Iterator[tuple[str, int, int]]:
        """The coded text, the score in percent and the state of each rule."""
        for line in self.lines:
            yield columns.coded(self.table, line.text), percent(line.score), line.state
        quick = self.result.written(columns.written(self.table)) if isinstance(self.result, LazyRules) else iter(())
        first = next(quick, None)
        if first is not None:
            yield from ((text, percent(score), HOLDS) for text, score in chain([first], quick))
            return
        for text, rule in self.result.items():
            yield columns.coded(self.table, text), percent(score_of(rule)), HOLDS


class RuleBlock:
    """The rules that a page lists, and the places of those that other parts refer to."""

    def __init__(
        self,
        sections: Sequence[RuleSection],
        columns: ColumnIndex,
        wanted: Iterable[RuleName],
        budget: int,
        most: int | None,
    ) -> None:
        self._columns, self._sections = columns, sections
        self._taken: list[list[tuple[str, int, int]]] = [[] for _ in sections]  # texts, scores and states
        self._fill(budget, most)
        self._first = [sum(len(each) for each in self._taken[:at]) for at in range(len(sections))]
        self._places = dict(self._found(wanted))

    def _fill(self, budget: int, most: int | None) -> None:
        """Take rules from all sections in turn, until none is left or the page is full."""
        waiting = {at: section.coded(self._columns) for at, section in enumerate(self._sections)}
        packer = zlib.compressobj(6)
        used = count = 0
        while waiting and used < budget and (most is None or count < most):
            for at in list(waiting):
                some = list(islice(waiting[at], _AT_ONCE if most is None else min(_AT_ONCE, most - count)))
                if not some:
                    del waiting[at]
                    continue
                texts = "\n".join(text for text, _, _ in some)
                scores = ",".join(str(score) for _, score, _ in some)
                used += len(packer.compress(texts.encode() + scores.encode()))
                used += len(packer.flush(zlib.Z_SYNC_FLUSH))
                count += len(some)
                self._taken[at] += some
                if used >= budget:
                    break

    def _found(self, wanted: Iterable[RuleName]) -> Iterator[tuple[RuleName, int]]:
        """The places of some rules."""
        coded: dict[tuple[str, str], dict[str, RuleName]] = {}
        for rule in wanted:
            engine, table, text = rule
            coded.setdefault((engine, table), {})[self._columns.coded(table, text)] = rule
        for section, taken, first in zip(self._sections, self._taken, self._first, strict=True):
            own = coded.get((section.declared.name, section.table), {})
            yield from ((own[text], first + at) for at, (text, _, _) in enumerate(taken) if text in own)

    def place(self, rule: RuleName) -> int | None:
        """The number of a wanted rule; None: it is left out."""
        return self._places.get(rule)

    @property
    def left_out(self) -> str:
        """What is left out, in words."""
        short = [
            f"{section.total - len(taken):,} of {section.total:,} {section.title}"
            for section, taken in zip(self._sections, self._taken, strict=True)
            if len(taken) < section.total
        ]
        if not short:
            return ""
        listed = " and ".join(short)
        return f"To stay small, the page leaves out {listed}: those with the lowest scores or the most columns."

    def to_json(self, details: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
        """The rules in the document."""
        sections = [
            {
                "kind": section.declared.name,
                "title": section.title,
                "table": section.table,
                "given": section.declared.given,
                "lens": section.declared.lens,
                "first": first,
                "count": len(taken),
                "total": section.total,
                "bound": ", ".join(map(str, bounds([section.result]))),
            }
            for section, taken, first in zip(self._sections, self._taken, self._first, strict=True)
        ]
        rules = list(chain.from_iterable(self._taken))
        return {
            "sections": sections,
            "texts": "\n".join(text for text, _, _ in rules),
            "scores": [score for _, score, _ in rules],
            "states": [state for _, _, state in rules],
            "details": {str(place): detail for place, detail in sorted(details.items())},
            "left_out": self.left_out,
        }


def percent(score: float | None) -> int:
    """A score in percent, as pages show it."""
    return UNKNOWN if score is None else round(100 * score)


def score_of(rule: Any) -> float | None:
    """The score of a found rule, from 0 to 1, if it has one."""
    worth: Worth | None = getattr(rule, "worth", None)
    return worth.score if worth else getattr(rule, "score", None)
