"""Does a rule about a table make sense for a table?"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from holdfast.engines.language.constants import Constant
from holdfast.engines.row.check import check as check_row
from holdfast.engines.row.model import Cell, Comparison, IsNull, RowRule
from holdfast.engines.row.table_model import TableRule
from holdfast.errors import BadInput
from holdfast.table.table import Schema


def check(rule: TableRule, schema: Schema, ordered: Collection[str] = ()) -> TableRule:
    """The rule with its constant in the type of its column; BadInput where it makes no sense for the table."""
    quantity, cell = rule.quantity, Cell(rule.quantity.column)
    if quantity.measure in ("min", "max"):
        _checked(rule, Comparison(cell, "<", rule.constant), schema, ordered)  # the least is one by an order
        fitted = _checked(rule, Comparison(cell, rule.operator, rule.constant), schema, ordered)
        assert isinstance(fitted, Comparison)
        assert isinstance(fitted.right, Constant)
        return replace(rule, constant=fitted.right)
    if quantity.column:
        _checked(rule, IsNull(cell), schema, ordered)
    number = rule.constant.value
    assert not isinstance(number, str)
    if isinstance(number, float) and not math.isfinite(number):
        raise _error(rule, "compares with no number; write one")
    if quantity.measure == "share" and not 0 <= number <= 1:  # type: ignore[operator]  # it is a number
        raise _error(rule, "compares a share, which is from 0 to 1; write 0.01 for one in a hundred")
    return rule


def _checked(rule: TableRule, condition: Comparison | IsNull, schema: Schema, ordered: Collection[str]) -> object:
    return check_row(RowRule(condition, rule.name), schema, ordered).condition


def _error(rule: TableRule, sentence: str) -> BadInput:
    named = f"rule {rule.name!r}: " if rule.name else ""
    return BadInput(f"{named}{rule.text} {sentence}")
