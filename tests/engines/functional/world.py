"""Tables of few columns and few values for the tests of keys and FDs."""

from __future__ import annotations

from typing import Any

from holdfast.engines.contract import Engine
from holdfast.engines.functional.model import FD, Key
from tests.laws.world import COLUMNS

NAMES = [column.name for column in COLUMNS]


def found(engine: Engine, state: Any) -> dict[Any, float]:
    """The rules by column numbers, as the oracle has them."""
    told: dict[Any, float] = {}
    for text, rule in engine.result(state).items():
        assert isinstance(rule, FD | Key)
        assert rule.text == text
        if isinstance(rule, FD):
            told[tuple(map(NAMES.index, rule.lhs)), NAMES.index(rule.rhs)] = rule.error
        else:
            told[tuple(map(NAMES.index, rule.columns))] = rule.error
    return told
