"""Found rules that users marked: pinned rules matter whatever their scores are, ignored ones never do.

The state stores these marks. Breaking a pinned rule is always an alarm, breaking an ignored one never. A page shows
pinned rules first, and ignored ones only on request.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.visible import Printed

MARKS = "marks"  # the fact of a state that stores them

RuleName = tuple[str, str, str]  # class, table ("*": all) and text
Mark = Literal["ignored", "pinned"]


@dataclass(frozen=True, repr=False)
class MarkedRules(Printed):
    """The ignored and the pinned rules; no rule is both.

    With `watch` and `more` of the example of `Monitor`:

    >>> changed = watch.watch("fd"), watch.pin("city -> zip")
    >>> watch.marks()
    pinned: city -> zip (fd of towns)
    """

    ignored: frozenset[RuleName] = frozenset()
    pinned: frozenset[RuleName] = frozenset()

    def lines(self) -> list[str]:
        """A line for each marked rule."""
        lines = [f"{mark['mark']}: {mark['text']} ({mark['class']} of {mark['table']})" for mark in self.to_json()]
        return lines or ["no rule is ignored or pinned"]

    @staticmethod
    def read(text: str | None) -> MarkedRules:
        """The marks that a state stores."""
        stored = json.loads(text or "{}")
        return MarkedRules(*(frozenset(tuple(rule) for rule in stored.get(mark, ())) for mark in _MARKS))

    def written(self) -> str:
        """The text that a state stores."""
        return json.dumps({"ignored": sorted(self.ignored), "pinned": sorted(self.pinned)})

    def with_mark(self, rule: RuleName, mark: Mark | None) -> MarkedRules:
        """The same with one rule marked, or without its mark."""
        without = MarkedRules(self.ignored - {rule}, self.pinned - {rule})
        return without if mark is None else replace(without, **{mark: getattr(without, mark) | {rule}})

    def without(self, texts: Collection[str], subjects: Collection[str]) -> MarkedRules:
        """The same without the marks of the rules with some texts in some tables."""
        gone = {rule for rule in self.ignored | self.pinned if rule[1] in subjects and rule[2] in texts}
        return MarkedRules(self.ignored - gone, self.pinned - gone)

    def kept_in(self, classes: Iterable[str]) -> MarkedRules:
        """The marks of some classes of rules."""
        known = set(classes)
        return MarkedRules(*(frozenset(rule for rule in getattr(self, mark) if rule[0] in known) for mark in _MARKS))

    def to_json(self) -> list[dict[str, Any]]:
        """An object for each marked rule."""
        return [
            {"kind": "mark", "mark": mark, "class": name, "table": table, "text": text}
            for mark in _MARKS
            for name, table, text in sorted(getattr(self, mark))
        ]


_MARKS: tuple[Mark, Mark] = ("ignored", "pinned")
