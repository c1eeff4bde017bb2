"""What a change of rules did, for people and programs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.changes.diff import Result
from holdfast.engines.registry import rule_class
from holdfast.store.events import Event
from holdfast.store.records import BatchRecord
from holdfast.visible import visible

if TYPE_CHECKING:
    from holdfast.api.wanted import Wanted

Json = Mapping[str, Any]
RuleName = tuple[str, str, str]  # class, table ("*": all) and text
Results = Mapping[tuple[str, str], Result]  # by class and table
_TOLD = ("name", "table", "severity", "text", "violations", "counted")
_SAID = {
    "added": "now given",
    "removed": "no longer given",
    "edited": "edited",
    "ignored": "ignored from now on",
    "pinned": "pinned",
    "unmarked": "neither pinned nor ignored any more",
    "watched": "watched from now on",
    "unwatched": "no longer watched",
}


@dataclass(frozen=True)
class RuleChange:
    """What a change of rules did: its record in the history, and what it did to which rules and classes.

    `about` has lists of objects: rules that were `added`, `removed` and `edited`; found ones that were `ignored`,
    `pinned` or `unmarked`; classes that are `watched` and `unwatched`. Empty lists are left out.
    """

    batch: BatchRecord | None  # None: nothing was to change, and nothing was kept
    about: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    already_applied: bool = False

    def to_json(self) -> list[dict[str, Any]]:
        """One object for the change, then one for each rule and class."""
        first = {} if self.batch is None else {**self.batch.to_json(), "already_applied": self.already_applied}
        lines = [{"event": event, **each} for event, listed in self.about.items() for each in listed]
        return [{**first, "kind": "change", "changed": len(lines)}, *lines]

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """A line for the change, and one for each rule and class."""
        if self.already_applied:
            assert self.batch is not None
            return [f"change {visible(self.batch.batch_id)} was made before, at {self.batch.at}; nothing to do"]
        if self.batch is None or not self.about:
            return ["nothing changed: all is as you want it"]
        told = [visible(line(event, each)) for event, listed in self.about.items() for each in listed]
        return [f"change {self.batch.seq} of the rules", *(f"  {each}" for each in told)]


def summary(about: Mapping[str, Sequence[Json]]) -> str:
    """What a change of rules or columns did, in a few words: `2 added, 1 removed`."""
    counts = {event: len(listed) for event, listed in about.items() if event not in ("columns", "found")}
    columns = Counter(each["done"] for each in about.get("columns", ()))
    return ", ".join([*(f"{n:,} {done}" for done, n in columns.items()), *(f"{n:,} {e}" for e, n in counts.items())])


def line(event: str, about: Json) -> str:
    """What happened to a rule or a class."""
    return f"{called(about)}: {said(event, about)}"


def called(about: Json) -> str:
    """A rule by its name and text, or the name of a class."""
    rule = str(about.get("text") or about["class"])
    return f"{about['name']}: {rule}" if about.get("name") else rule


def said(event: str, about: Json) -> str:
    """What happened to it."""
    found, violations = about.get("found"), about.get("violations")
    if found is not None:
        return f"{_SAID[event]}; {found:,} hold"
    return _SAID[event] + ("" if violations is None or event == "removed" else f"; {violations:,} violations")


# ---- what differs ---------------------------------------------------------------------------------------------------


def told(before: Wanted, wanted: Wanted, old: Results, now: Results) -> dict[str, list[Json]]:
    """What a change did, as the history tells it."""
    about: dict[str, list[Json]] = {
        **_given_changes(_given(old), _given(now)),
        "ignored": _marks(wanted.marks.ignored - before.marks.ignored),
        "pinned": _marks(wanted.marks.pinned - before.marks.pinned),
        "unmarked": _marks(_marked(before) - _marked(wanted)),
        "watched": [_class(name, now) for name in wanted.classes if name not in before.classes],
        "unwatched": [{"class": name} for name in before.classes if name not in wanted.classes],
    }
    return {event: listed for event, listed in about.items() if listed}


def events(old: Results, now: Results) -> Iterator[tuple[str, str, Event]]:
    """What happened to given rules, for the memory of each."""
    before, after = _given(old), _given(now)
    for event, rules, others in (("added", after, before), ("removed", before, after)):
        for (name, subject, text), finding in rules.items():
            if (name, subject, text) not in others:
                yield name, subject, Event(event, text, json.dumps(finding))


def _given_changes(old: Mapping[RuleName, Json], now: Mapping[RuleName, Json]) -> dict[str, list[Json]]:
    edited = [rule for rule in now if rule in old and _label(old[rule]) != _label(now[rule])]
    return {
        "added": [_brief(finding) for rule, finding in now.items() if rule not in old],
        "removed": [_brief(finding) for rule, finding in old.items() if rule not in now],
        "edited": [_brief(now[rule]) for rule in edited],
    }


def _given(results: Results) -> dict[RuleName, Json]:
    """The objects of given rules."""
    return {
        (name, subject, text): finding.to_json()
        for (name, subject), result in results.items()
        if rule_class(name).given
        for text, finding in result.items()
    }


def _label(finding: Json) -> tuple[Any, ...]:
    return finding["name"], finding["severity"], finding.get("note", "")


def _brief(finding: Json) -> Json:
    return {name: finding[name] for name in _TOLD}


def _marked(wanted: Wanted) -> frozenset[RuleName]:
    return wanted.marks.ignored | wanted.marks.pinned


def _marks(rules: frozenset[RuleName]) -> list[Json]:
    return [{"class": name, "table": table, "text": text} for name, table, text in sorted(rules)]


def _class(name: str, results: Results) -> Json:
    return {"class": name, "found": sum(len(found) for (own, _), found in results.items() if own == name)}
