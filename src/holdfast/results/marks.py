"""What people say of rules that were found: some matter whatever their scores are (pinned), some never do (ignored).

A state keeps these marks; a batch that breaks a pinned rule is an alarm, one that breaks an ignored rule never is, and
a page tells pinned rules first and ignored ones only where someone asks for them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from holdfast.visible import Printed

MARKS = "marks"  # the fact of a state that keeps them

RuleName = tuple[str, str, str]  # class, table ("*": all) and text
Mark = Literal["ignored", "pinned"]


@dataclass(frozen=True, repr=False)
class Marks(Printed):
    """The rules that are ignored, and those that are pinned; none is both.

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
    def read(text: str | None) -> Marks:
        """What a state keeps."""
        kept = json.loads(text or "{}")
        return Marks(*(frozenset(tuple(rule) for rule in kept.get(mark, ())) for mark in ("ignored", "pinned")))

    def written(self) -> str:
        """The same as a state keeps it."""
        return json.dumps({"ignored": sorted(self.ignored), "pinned": sorted(self.pinned)})

    def with_mark(self, rule: RuleName, mark: Mark | None) -> Marks:
        """The same with a rule marked, or with its mark taken away."""
        without = Marks(self.ignored - {rule}, self.pinned - {rule})
        return without if mark is None else replace(without, **{mark: getattr(without, mark) | {rule}})

    def without(self, texts: Collection[str], subjects: Collection[str]) -> Marks:
        """The same without the marks of rules that have some texts, in some tables."""
        gone = {rule for rule in self.ignored | self.pinned if rule[1] in subjects and rule[2] in texts}
        return Marks(self.ignored - gone, self.pinned - gone)

    def kept_in(self, classes: Iterable[str]) -> Marks:
        """Those of some classes of rules."""
        known = set(classes)
        return Marks(*(frozenset(rule for rule in getattr(self, mark) if rule[0] in known) for mark in _MARKS))

    def to_json(self) -> list[dict[str, Any]]:
        """An object for each marked rule."""
        return [
            {"kind": "mark", "mark": mark, "class": name, "table": table, "text": text}
            for mark in _MARKS
            for name, table, text in sorted(getattr(self, mark))
        ]


_MARKS: tuple[Mark, Mark] = ("ignored", "pinned")
