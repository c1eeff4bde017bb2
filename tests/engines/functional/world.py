"""Tables of few columns and few values for the tests of keys and FDs."""

from __future__ import annotations

from typing import Any

from holdfast.engines.contract import Engine
from holdfast.rules.dependency import FD, Key
from tests.laws.world import COLUMNS

NAMES = [column.name for column in COLUMNS]


def found(engine: Engine[Any, Any], state: Any) -> dict[Any, float]:
    """The rules by column numbers, as the oracle has them. As they are ranked, empty ones come last."""
    told: dict[Any, float] = {}
    result, ranked = engine.result(state), engine.ranked(state)
    assert dict(ranked) == dict(result)
    marks = [bool(getattr(rule, "empty", False)) for rule in ranked.values()]
    assert marks == sorted(marks)
    for text, rule in result.items():
        assert isinstance(rule, FD | Key)
        assert rule.text == text
        if isinstance(rule, FD):
            told[tuple(map(NAMES.index, rule.lhs)), NAMES.index(rule.rhs)] = rule.error
        else:
            told[tuple(map(NAMES.index, rule.columns))] = rule.error
    return told


def empty(engine: Engine[Any, Any], state: Any) -> set[Any]:
    """The rules that say of themselves that nothing tests them, by column numbers."""
    marked = (rule for rule in engine.result(state).values() if isinstance(rule, FD | Key) and rule.empty)
    return {
        (tuple(map(NAMES.index, rule.lhs)), *([NAMES.index(rule.rhs)] if isinstance(rule, FD) else []))
        for rule in marked
    }
