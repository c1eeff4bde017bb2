"""What `print()` shows of results: a few lines for a person. Tables are for the terminal, pages for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from holdfast.changes.asked import for_people, with_bound
from holdfast.engines.declared import is_given
from holdfast.engines.registry import rule_class
from holdfast.report.outcome import aside_lines, rule_lines
from holdfast.report.tables import change_lines
from holdfast.report.values import Checked, Found, Outcome, RuleHistory
from holdfast.visible import visible

_MOST = 10


def found_text(found: Found) -> str:
    """What was found: the tables, and of each class how many there are and the first ones."""
    lines = [f"{name}: {rows:,} rows, {len(schema.columns):,} columns" for name, (schema, rows) in found.shapes.items()]
    firsts = [(first.kind, result) for result in found.ranked for first in islice(result.values(), 1)]
    for kind, result in firsts:
        some, left_out = for_people(result, {kind for kind, _ in firsts})
        hidden = f"; not shown: {left_out}" if left_out else ""
        title = with_bound(rule_class(kind).title, result)
        lines += _section(f"{title}: {len(some):,}{hidden}", len(some), map(str, some.values()))
    return _text(lines if found else [*lines, "nothing was found"])


def checked_text(checked: Checked) -> str:
    """How each rule stands."""
    broken = sum(bool(rule["violations"]) for rule in checked.to_json())
    rules = len(checked.findings)
    return _text(_section(f"rules: {rules:,}, {broken:,} of them violated", rules, map(str, checked.findings)))


def outcome_text(outcome: Outcome) -> str:
    """What a batch did."""
    lines = [str(outcome.batch) + (" (it was applied before)" if outcome.already_applied else "")]
    for told, listed in aside_lines(outcome):
        lines += [told, *(f"  {line}" for line in listed)]
    changed = [(old.to_json(), new.to_json()) for old, new in outcome.changed]
    for is_own, heading in ((True, "rules of your own"), (False, "changed facts")):
        several = len(outcome.batch.tables) > 1
        changes = [line for old, new in changed if is_given(new) == is_own for line in _changes(old, new, several)]
        lines += _section(f"{heading}: {len(changes):,}", len(changes), changes) if changes else []
        if is_own:  # they matter most
            for told, listed in rule_lines(outcome):
                lines += [told, *(f"  {line}" for line in listed)]
    return _text(lines)


def _changes(old: dict[str, Any], new: dict[str, Any], several: bool) -> list[str]:
    return [f"{about}: {fact} {before} → {after}" for about, fact, before, after in change_lines(old, new, several)]


def history_text(fared: RuleHistory) -> str:
    """How rules have fared, those that broke most often first."""
    lines = (
        f"{line['text']}: {'broken now' if line['holds_since'] is None else _since(line['holds_since'])}, "
        f"broke {line['broke']:,} times"
        for line in fared
    )
    return _text(_section(f"rules: {len(fared):,}", len(fared), lines))


def _since(batch: int) -> str:
    return f"holds since batch {batch}" if batch else "holds since the start"


def _section(heading: str, count: int, lines: Iterable[str]) -> list[str]:
    """A heading, and the first of so many lines below it."""
    more = [f"  … and {count - _MOST:,} more"] if count > _MOST else []
    return [heading, *(f"  {line}" for line in islice(lines, _MOST)), *more]


def _text(lines: Iterable[str]) -> str:
    return "\n".join(map(visible, lines))
