"""Budgets so small that strategies change at a handful of rows."""

from __future__ import annotations

from typing import Any

from holdfast.borders.strategy_choice import Budget, StrategyChoice
from holdfast.engines.contract import Engine
from holdfast.engines.functional import engine as functional
from holdfast.engines.order import engine as order
from holdfast.engines.pointwise import engine as pointwise


def by_groups(engine: Engine[Any, Any]) -> Engine[Any, Any]:
    """An engine of approximate keys or FDs that counts groups of rows, however few there are."""
    engine._choice = lambda *_: StrategyChoice("groups", "as a test asks")  # type: ignore[attr-defined]
    return engine


COUNTED = 4  # rows of which all pairs are counted
_FEW = Budget(pairs=COUNTED * (COUNTED - 1) // 2, wide=99, wide_pairs=0)
SMALL_BUDGETS = (
    (functional, "AGREE_SETS", _FEW),
    (functional, "APPROXIMATE", _FEW),
    (order, "SIGNATURES", _FEW),
    (pointwise, "PATTERNS", _FEW),
    (pointwise, "WIDE_PATTERNS", _FEW),
)
