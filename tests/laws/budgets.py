"""Budgets so small that strategies change at a handful of rows."""

from __future__ import annotations

from holdfast.borders.method import Budget
from holdfast.engines.functional import engine as functional
from holdfast.engines.order import engine as order
from holdfast.engines.pointwise import engine as pointwise

COUNTED = 4  # rows of which all pairs are counted
_FEW = Budget(pairs=COUNTED * (COUNTED - 1) // 2, wide=99, wide_pairs=0)
SMALL_BUDGETS = (
    (functional, "AGREE_SETS", _FEW),
    (order, "SIGNATURES", _FEW),
    (pointwise, "PATTERNS", _FEW),
    (pointwise, "WIDE_PATTERNS", _FEW),
)
