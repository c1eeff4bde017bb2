"""How given rules stand now: in a sentence, and in the one order of rules that broke."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.engines.contract import open_violations
from holdfast.engines.registry import given_class
from holdfast.results.ranks import broken_rank
from holdfast.store.memory import StoredMemory
from holdfast.visible import counted


def standing(given: Sequence[dict[str, Any]]) -> str:
    """How many rules hold. Violations that were accepted don't count.

    >>> standing([{"violations": 0}, {"violations": 3}])
    '1 of 2 rules holds.'
    >>> standing([{"violations": 0}, {"violations": 3, "accepted": 3}])
    'All 2 rules hold, but for accepted violations.'
    """
    held = sum(not open_violations(rule) for rule in given)
    known = ", but for accepted violations" if any(rule.get("accepted") for rule in given) else ""
    if held == len(given):
        return f"The rule holds{known}." if held == 1 else f"All {held:,} rules hold{known}."
    return f"{held:,} of {counted(len(given), 'rule')} {'holds' if held == 1 else 'hold'}{known}."


def broken_first(findings: Sequence[dict[str, Any]], memory: StoredMemory) -> list[dict[str, Any]]:
    """Findings with the given rules among them in the order of `broken_rank`: those that broke come first, then those
    that never held, and then the others, the best first.
    """
    events, scores = memory.rule_events(), memory.lost_scores()

    def place(finding: dict[str, Any]) -> tuple[Any, ...]:
        if "severity" not in finding:
            return (0,)
        declared = given_class(finding["text"])
        key = (
            declared.name if declared else "",
            "*" if declared and declared.across else finding["table"],
            finding["text"],
        )
        record, lost = events.get(key), scores.get(key)
        score = finding.get("score", 0.0)
        if not finding["violations"] and not (record and record.broke):
            return 2, -score
        last = max(record.last if record else 0, lost[0] if lost else 0)
        return 1, *broken_rank(finding["severity"], bool(finding["violations"]), lost[1] if lost else score, last)

    return sorted(findings, key=place)
