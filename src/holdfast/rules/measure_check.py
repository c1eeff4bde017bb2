"""Does a rule about a table make sense for a table?"""

from __future__ import annotations

import math
from collections.abc import Collection

from holdfast.errors import BadInput
from holdfast.rules.check import Checker
from holdfast.rules.conditions import Comparison, IsNull, of_t
from holdfast.rules.constants import Constant
from holdfast.rules.measure import TableRule
from holdfast.table.table import Schema


def check(rule: TableRule, schema: Schema, ordered: Collection[str] = ()) -> Constant:
    """The constant of a rule in the type of its column; BadInput where the rule makes no sense for the table."""
    quantity, cell, checker = rule.quantity, of_t(rule.quantity.column), Checker.of(schema, ordered)
    if quantity.measure in ("min", "max"):
        checker.condition(Comparison(cell, "<", rule.constant))  # the least is one by an order
        fitted = checker.condition(Comparison(cell, rule.operator, rule.constant))
        assert isinstance(fitted, Comparison)
        assert isinstance(fitted.right, Constant)
        return fitted.right
    if quantity.column:
        checker.condition(IsNull(cell))
    number = rule.constant.value
    assert not isinstance(number, str)
    if isinstance(number, float) and not math.isfinite(number):
        raise BadInput(f"{rule.text} compares with no number; write one")
    if quantity.measure == "share" and not 0 <= number <= 1:  # type: ignore[operator]  # it is a number
        raise BadInput(f"{rule.text} compares a share, which is from 0 to 1; write 0.01 for one in a hundred")
    return rule.constant
