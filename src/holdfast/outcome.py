"""What a batch did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.changes.diff import Diff, Finding, PairChange, Witness
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
        """Rules that still hold, but are not told any more, as they follow from others that hold now."""
        return [rule for diff in self.diffs.values() for text, rule in diff.lost.items() if text not in diff.witnesses]

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

    def to_json(self) -> list[dict[str, Any]]:
        """One object for the batch, then one for each thing that changed."""
        lines = [{**self.batch.to_json(), "already_applied": self.already_applied}]
        for diff in self.diffs.values():
            for text, finding in diff.lost.items():
                witness = diff.witnesses.get(text)
                told = {"event": "lost" if witness else "implied", **finding.to_json()}
                lines.append({**told, "witness": witness.to_json()} if witness else told)
            lines += [{"event": "gained", **finding.to_json()} for finding in diff.gained.values()]
            lines += [
                {"event": "changed", **new.to_json(), **_moved(diff.violations.get(text)), "before": old.to_json()}
                for text, (old, new) in diff.changed.items()
            ]
        return lines

    def __repr__(self) -> str:
        from holdfast.report.text import outcome_text

        return outcome_text(self)

    def _repr_html_(self) -> str:
        from holdfast.report.pages import outcome_html

        return outcome_html(self)


def _moved(pairs: PairChange | None) -> dict[str, int]:
    """How many violations are new, and how many are gone, where they are kept one by one."""
    if pairs is None or pairs.added is None or pairs.resolved is None:
        return {}
    return {"new": len(pairs.added), "gone": len(pairs.resolved)}


def _grew(old: Finding, new: Finding, pairs: PairChange | None) -> bool:
    if pairs is not None and pairs.added is not None:
        return len(pairs.added) > 0
    return bool(new.to_json()["violations"] > old.to_json()["violations"])
