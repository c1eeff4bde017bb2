"""What rules about one row say."""

from __future__ import annotations

from holdfast.engines.language.constants import Constant
from holdfast.engines.meaning import NEGATED, Breach, Meaning
from holdfast.engines.meaning import Cell as SharedCell
from holdfast.engines.meaning import Comparison as SharedComparison
from holdfast.engines.meaning import Constant as SharedConstant
from holdfast.engines.row.model import (
    Cell,
    Comparison,
    Condition,
    Either,
    Every,
    Like,
    Matches,
    OneOf,
    columns_of,
    leaves,
)
from holdfast.engines.row.parse import parse
from holdfast.engines.row.sql import condition_sql, expression_sql


def meaning(text: str) -> Meaning:
    """Rows break it in which the condition is false. Plain comparisons are told one by one."""
    condition = parse(text)
    columns = columns_of(condition)
    parts = condition.parts if isinstance(condition, Every) else (condition,)
    breaches = [_breach(part) for part in parts]
    return Meaning(
        f"In every row t: {condition.text}.",
        columns,
        tuple(each for each in breaches if each is not None) if all(breaches) else (),
        nulls_compare=False,
        condition=condition_sql(condition),
        constants=tuple(dict.fromkeys(SharedConstant(each.text) for each in _constants(condition))),
    )


def _breach(part: Condition) -> Breach | None:
    """A comparison of a cell with another, or with a constant, that is the other way round."""
    if not isinstance(part, Comparison) or not isinstance(part.left, Cell):
        return None
    if isinstance(part.right, Cell):
        other: SharedCell | SharedConstant = SharedCell("t", part.right.column)
    elif isinstance(part.right, Constant):
        other = SharedConstant(part.right.text)
    else:
        return None
    broken = SharedComparison(SharedCell("t", part.left.column), NEGATED[part.operator], other)
    return Breach((broken,), columns_of(part))


def _constants(condition: Condition) -> list[Constant]:
    """All values that a condition names, patterns among them."""
    if isinstance(condition, Every | Either):
        return [constant for part in condition.parts for constant in _constants(part)]
    found = [leaf for operand in condition.operands for leaf in leaves(operand) if isinstance(leaf, Constant)]
    if isinstance(condition, OneOf):
        found += condition.values
    if isinstance(condition, Like | Matches):
        found.append(Constant(condition.pattern))
    if isinstance(condition, Matches):
        found.append(Constant(expression_sql(condition.pattern)))
    return found
