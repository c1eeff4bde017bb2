"""What a batch did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.changes.diff import Diff, Finding, PairChange, Witness
from holdfast.engines.declared import is_given
from holdfast.engines.registry import rule_class
from holdfast.store.records import BatchRecord


@dataclass(frozen=True)
class Outcome:
    """What a batch did: its record, and what changed for each engine."""

    batch: BatchRecord
    diffs: Mapping[str, Diff] = field(default_factory=dict)
    already_applied: bool = False

    @property
    def lost(self) -> list[Finding]:
        """Rules that no longer hold."""
        return [rule for diff in self.diffs.values() for text, rule in diff.lost.items() if text in diff.witnesses]

    @property
    def implied(self) -> list[Finding]:
        """Rules that still hold, but are not told any more: they follow from others that hold now, or nothing is left
        that could break them.
        """
        unbroken = (self._unbroken(name) for name in self.diffs)
        return [rule for rules in unbroken for rule in rules if not _is_empty(rule)]

    @property
    def untested(self) -> list[Finding]:
        """Rules that don't hold, but did not break either: they were about columns without values until now."""
        unbroken = (self._unbroken(name) for name in self.diffs if not rule_class(name).many)
        return [rule for rules in unbroken for rule in rules if _is_empty(rule)]

    def _unbroken(self, name: str) -> Iterator[Finding]:
        """Rules of an engine that are not told any more, and that no rows broke."""
        diff = self.diffs[name]
        return (rule for text, rule in diff.lost.items() if text not in diff.witnesses)

    def witness(self, rule: Finding) -> Witness | None:
        """The rows that broke a rule, where they are known."""
        found = (diff.witnesses.get(rule.text) for diff in self.diffs.values())
        return next((witness for witness in found if witness is not None), None)

    @property
    def gained(self) -> list[Finding]:
        """Rules that hold now and did not before."""
        return [finding for diff in self.diffs.values() for finding in diff.gained.values()]

    @property
    def changed(self) -> list[tuple[Finding, Finding]]:
        """Findings before and after, where they are about the same thing and differ."""
        return [pair for diff in self.diffs.values() for pair in diff.changed.values()]

    @property
    def violations(self) -> dict[str, PairChange]:
        """The violations that were added and resolved, by the text of the rule."""
        return {text: change for diff in self.diffs.values() for text, change in diff.violations.items()}

    @property
    def broken(self) -> bool:
        """Whether a rule was lost, or a rule of severity error has more violations, or others, than before."""
        worse = [
            new
            for diff in self.diffs.values()
            for text, (old, new) in diff.changed.items()
            if new.to_json().get("severity") == "error" and _grew(old, new, diff.violations.get(text))
        ]
        return bool(worse) or any(diff.witnesses for diff in self.diffs.values())

    def moved(self, text: str) -> tuple[int | None, int | None]:
        """How many violations of a given rule are new, and how many are gone; None where only their number is kept."""
        change = self.violations.get(text)
        return (0, 0) if change is None else (change.new, change.gone)

    def to_json(self) -> list[dict[str, Any]]:
        """One object for the batch, then one for each thing that changed."""
        lines = [{**self.batch.to_json(), "already_applied": self.already_applied}]
        for diff in self.diffs.values():
            for text, finding in diff.lost.items():
                witness = diff.witnesses.get(text)
                event = "lost" if witness else "untested" if _is_empty(finding) else "implied"
                line = {"event": event, **finding.to_json(), **_cause(diff, text)}
                lines.append({**line, "witness": witness.to_json()} if witness else line)
            lines += [{"event": "gained", **new.to_json(), **_cause(diff, text)} for text, new in diff.gained.items()]
            lines += [self._changed(old, new) for old, new in diff.changed.values()]
        return lines

    def _changed(self, old: Finding, new: Finding) -> dict[str, Any]:
        line = {"event": "changed", **new.to_json(), "before": old.to_json()}
        return {**line, **dict(zip(("new", "gone"), self.moved(new.text), strict=True))} if is_given(line) else line

    def __repr__(self) -> str:
        from holdfast.report.text import outcome_text

        return outcome_text(self)

    def _repr_html_(self) -> str:
        from holdfast.report.pages import outcome_html

        return outcome_html(self)


def _cause(diff: Diff, text: str) -> dict[str, Any]:
    """Why a rule came or went, where the engine tells it."""
    cause = diff.causes.get(text)
    return cause.to_json() if cause else {}


def _is_empty(rule: Finding) -> bool:
    """Whether a rule is about nothing, so that nothing tests it."""
    return bool(getattr(rule, "empty", False))


def _grew(old: Finding, new: Finding, pairs: PairChange | None) -> bool:
    if pairs is not None and pairs.new is not None:
        return pairs.new > 0
    return bool(new.to_json()["violations"] > old.to_json()["violations"])
