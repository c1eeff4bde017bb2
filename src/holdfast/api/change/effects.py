"""What a change did to rules and classes: objects for the history, and events for the memory of each rule."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.api.change.spec import WatchSpec
from holdfast.api.workspace import Subject
from holdfast.changes.diff import Result
from holdfast.engines.contract import Json
from holdfast.engines.registry import changed_settings, rule_class
from holdfast.results.marked_rules import RuleName
from holdfast.store.rule_events import RuleEvent

Results = Mapping[Subject, Result]
_SHOWN = ("name", "table", "severity", "text", "violations", "counted")


def effects(before: WatchSpec, spec: WatchSpec, old: Results, now: Results) -> dict[str, list[Json]]:
    """What a change did, as the history shows it."""
    given, given_now = _given(old), _given(now)
    both = [rule for rule in given_now if rule in given]
    edited = [rule for rule in both if _label(given[rule]) != _label(given_now[rule])]
    about: dict[str, list[Json]] = {
        "added": [_brief(finding) for rule, finding in given_now.items() if rule not in given],
        "removed": [_brief(finding) for rule, finding in given.items() if rule not in given_now],
        "edited": [_edited(given[rule], given_now[rule]) for rule in edited],
        "muted": [_brief(given_now[rule]) for rule in both if _is_muted(given_now[rule]) > _is_muted(given[rule])],
        "unmuted": [_brief(given_now[rule]) for rule in both if _is_muted(given_now[rule]) < _is_muted(given[rule])],
        "ignored": _marked(spec.marks.ignored - before.marks.ignored),
        "pinned": _marked(spec.marks.pinned - before.marks.pinned),
        "unmarked": _marked(_marks(before) - _marks(spec)),
        "watched": [_class(name, spec, now) for name in spec.classes if name not in before.classes],
        "unwatched": [{"class": name} for name in before.classes if name not in spec.classes],
    }
    return {event: listed for event, listed in about.items() if listed}


def effects_of_accepting(accepted: Mapping[Subject, Mapping[str, bool]], now: Results) -> dict[str, list[Json]]:
    """The given rules whose violations are accepted, and those whose are no longer."""
    about: dict[str, list[Json]] = {}
    for at, texts in accepted.items():
        for text, is_accepted in texts.items():
            about.setdefault("accepted" if is_accepted else "unaccepted", []).append(_brief(now[at][text].to_json()))
    return about


def effects_of_table(about: Mapping[str, Any], old: Results, now: Results) -> dict[str, Any]:
    """What a change of tables or columns did: given rules that are gone, those with another text, and how many rules
    are found. A text changes with the type of a column where it has constants: a date becomes a timestamp.
    """
    counts = [_counts(name, old, now) for name in dict.fromkeys(at[0] for at in now) if is_found(name)]
    found = [each for each in counts if each["before"] != each["now"]]
    gone = {each["name"] for each in about.get("removed", [])}
    edited = [each for each in about.get("added", []) if each["name"] in gone]
    rest = {each["name"] for each in edited}
    removed = [each for each in about.get("removed", []) if each["name"] not in rest]
    own = {"removed": removed, "edited": edited, "found": found}
    return {event: listed for event, listed in own.items() if listed}


def _counts(name: str, old: Results, now: Results) -> dict[str, Any]:
    before, after = (sum(len(found) for at, found in each.items() if at[0] == name) for each in (old, now))
    return {"class": name, "before": before, "now": after}


def events(old: Results, now: Results) -> Iterator[tuple[str, str, RuleEvent]]:
    """What happened to given rules, for the memory of each."""
    before, after = _given(old), _given(now)
    for event, rules, others in (("added", after, before), ("removed", before, after)):
        for (name, subject, text), finding in rules.items():
            if (name, subject, text) not in others:
                yield name, subject, RuleEvent(event, text, json.dumps(finding))


def is_found(name: str) -> bool:
    """Whether the rules of a class are found, and can break."""
    return not rule_class(name).given and not rule_class(name).facts


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


def _is_muted(finding: Json) -> bool:
    return finding.get("origin") == "muted"


def _brief(finding: Json) -> Json:
    return {name: finding[name] for name in _SHOWN}


def _edited(before: Json, now: Json) -> Json:
    """A rule with another name, note or severity, and the severity that it had."""
    had = before["severity"]
    return {**_brief(now), **({"severity_before": had} if had != now["severity"] else {})}


def _marks(spec: WatchSpec) -> frozenset[RuleName]:
    return spec.marks.ignored | spec.marks.pinned


def _marked(rules: frozenset[RuleName]) -> list[Json]:
    return [{"class": name, "table": table, "text": text} for name, table, text in sorted(rules)]


def _class(name: str, spec: WatchSpec, results: Results) -> Json:
    """A class with its settings and how many rules are found; settings may be older than the class."""
    found = sum(len(rules) for (own, _), rules in results.items() if own == name)
    settings = changed_settings(name, spec.settings)
    return {"class": name, **({"settings": settings} if settings else {}), "found": found}
