"""Tables of few columns and few values for the tests of keys and FDs."""

from __future__ import annotations

from typing import Any

from holdfast.engines.contract import Engine
from holdfast.rules.dependency import FD, Key
from tests.laws.world import COLUMNS

NAMES = [column.name for column in COLUMNS]


def found(engine: Engine[Any, Any], state: Any) -> dict[Any, float]:
    """The rules by column numbers, as the oracle has them. As they are ranked, empty ones come last."""
    rules: dict[Any, float] = {}
    result, ranked = engine.result(state), engine.ranked(state)
    assert dict(ranked) == dict(result)
    are_empty = [bool(getattr(rule, "empty", False)) for rule in ranked.values()]
    assert are_empty == sorted(are_empty)
    for text, rule in result.items():
        assert isinstance(rule, FD | Key)
        assert rule.text == text
        if isinstance(rule, FD):
            rules[tuple(map(NAMES.index, rule.lhs)), NAMES.index(rule.rhs)] = rule.error
        else:
            rules[tuple(map(NAMES.index, rule.columns))] = rule.error
    return rules


def empty(engine: Engine[Any, Any], state: Any) -> set[Any]:
    """The rules marked as empty (no rows test them), by column numbers."""
    marked = (rule for rule in engine.result(state).values() if isinstance(rule, FD | Key) and rule.empty)
    return {
        (tuple(map(NAMES.index, rule.lhs)), *([NAMES.index(rule.rhs)] if isinstance(rule, FD) else []))
        for rule in marked
    }
