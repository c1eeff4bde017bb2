"""What a change of rules, columns or tables did, for people and programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.engines.contract import Json
from holdfast.store.records import RULES, BatchRecord
from holdfast.visible import Printed, counted, visible

About = Mapping[str, Sequence[Json]]

_SAID = {
    "added": "now given",
    "removed": "no longer given",
    "edited": "edited",
    "muted": "muted, as new rows break it as often as chance does",
    "unmuted": "no longer muted",
    "ignored": "ignored from now on",
    "pinned": "pinned",
    "unmarked": "no longer pinned or ignored",
    "accepted": "accepted",
    "unaccepted": "no longer accepted",
    "silenced": "nothing is said of it from now on",
    "unsilenced": "it speaks again",
    "watched": "watched from now on",
    "unwatched": "no longer watched",
}

_COLUMN_SAID = {
    "added": "column {column!r} ({type}) added, null in all existing rows",
    "dropped": "column {column!r} dropped",
    "renamed": "column {column!r} renamed to {name!r}",
    "retyped": "column {column!r} is now {type}, was {before}",
    "sensitive": "column {column!r} is sensitive from now on",
    "not sensitive": "column {column!r} is no longer sensitive",
}


@dataclass(frozen=True, repr=False)
class Changed(Printed):
    """What a change did: its record in the history, and its effects on rules, classes, columns and tables.

    `about` has lists of objects: given rules that were `added`, `removed`, `edited`, `muted` or `unmuted`; found rules
    that were `ignored`, `pinned` or `unmarked`; rules whose violations are `accepted`, or `unaccepted`; figures of
    batches that are `silenced` or `unsilenced`; classes that are `watched` and `unwatched`; `columns` and `tables`,
    each with what happened to it; and the numbers of rules `found`, before and after a change of columns or tables.
    Empty lists are left out.

    With `watch` and `more` of the example of `Monitor`:

    >>> watch.add_rules("key(zip)")
    change of the rules
      key1: key(zip): now given; 0 violations
    """

    batch: BatchRecord | None  # None: there was nothing to change
    about: About = field(default_factory=dict)
    already_applied: bool = False

    def to_json(self) -> list[dict[str, Any]]:
        """One object for the change, then one for each thing that changed."""
        first = {} if self.batch is None else {**self.batch.to_json(), "already_applied": self.already_applied}
        lines = [{"event": event, **each} for event, listed in self.about.items() for each in listed]
        return [{**first, "kind": "change", "changed": len(lines)}, *lines]

    def sentence(self) -> str:
        """What happened to columns, and to the given rules that named them, in one sentence."""
        assert self.batch is not None
        done = [self._line(event, each) for event in ("columns", "removed") for each in self.about.get(event, ())]
        return visible(f"{self.batch.table}: {'; '.join(done)}.")

    def lines(self) -> list[str]:
        """A line for the change, and one for each thing that changed."""
        if self.already_applied:
            assert self.batch is not None
            return [f"change {visible(self.batch.batch_id)} was made before, at {self.batch.when}; nothing to do"]
        if self.batch is None or not self.about:
            return ["nothing changed: all is as you want it"]
        lines = [self._line(event, each) for event, listed in self.about.items() for each in listed]
        return [visible(str(self.batch)), *(f"  {visible(each)}" for each in lines)]

    def _line(self, event: str, about: Json) -> str:
        """What happened to one thing; for a rule that went with its columns, also why."""
        by_others = event == "removed" and self.batch is not None and self.batch.kind != RULES
        return line(event, about) + (", as it has no meaning now" if by_others else "")


def summary(about: About) -> str:
    """What a change did, in a few words: `2 added, 1 removed`."""
    done = Counter(each["done"] for event in ("columns", "tables") for each in about.get(event, ()))
    rules = {event: len(listed) for event, listed in about.items() if event not in ("columns", "tables", "found")}
    what = "rules " if done else ""
    counts = [*done.items(), *((f"{what}{event}", count) for event, count in rules.items())]
    return ", ".join(f"{count:,} {event}" for event, count in counts)


def line(event: str, about: Json) -> str:
    """What happened to a rule, a class, a column or a table."""
    if event == "columns":
        return _COLUMN_SAID[about["done"]].format(**about)
    if event == "tables":
        done = "watched from now on" if about["done"] == "added" else "no longer watched"
        return f"table {about['table']!r}: {done}; {about['rows']:,} rows, {about['columns']:,} columns"
    if event == "found":
        return f"{about['class']}: {about['before']:,} rules before, {about['now']:,} now"
    rule = str(about.get("text") or about["class"])
    named = f"{about['name']}: {rule}" if about.get("name") else rule
    return f"{named}: {said(event, about)}"


def said(event: str, about: Json) -> str:
    """What happened to a rule or a class."""
    found, violations = about.get("found"), about.get("violations")
    if found is not None:
        settings = ", ".join(f"{name} {value}" for name, value in about.get("settings", {}).items())
        return f"{_SAID[event]}{f', with {settings}' if settings else ''}; {found:,} hold"
    if violations is None or event == "removed":
        return _SAID[event]
    if had := about.get("severity_before"):
        return f"severity {about['severity']}, was {had}; {counted(violations, 'violation')}"
    return f"{_SAID[event]}; {counted(violations, 'violation')}"
