"""What rules about a table say."""

from __future__ import annotations

from holdfast.engines.meaning import Constant, Meaning
from holdfast.engines.row.model import Cell
from holdfast.engines.row.sql import operand_sql
from holdfast.engines.row.table_model import Quantity, parse

_WORDS = {
    "rows": "The number of rows",
    "share": "The share of rows with a null in {}",
    "distinct": "The number of values of {}",
    "min": "The least value of {}",
    "max": "The greatest value of {}",
}
_SIGNS = {"=": "is", "!=": "is not", "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least"}


def meaning(text: str) -> Meaning:
    """A table breaks it whose quantity compares otherwise."""
    rule = parse(text)
    said = _WORDS[rule.quantity.measure].format(rule.quantity.column)
    quantity, constant = _quantity(rule.quantity), operand_sql(rule.constant)
    sign = "<>" if rule.operator == "!=" else rule.operator
    if rule.quantity.measure == "share":  # without a division, which would round
        condition = f"{_NULLS.format(_column(rule.quantity))} {sign} {constant} * COUNT(*)"
    else:
        condition = f"{quantity} {sign} {constant}"
    return Meaning(
        f"{said} {_SIGNS[rule.operator]} {rule.constant.text}.",
        rule.columns,
        nulls_compare=False,
        condition=condition,
        quantity=quantity,
        constants=(Constant(rule.constant.text),),
    )


_NULLS = "SUM(CASE WHEN {} IS NULL THEN 1 ELSE 0 END)"


def _column(quantity: Quantity) -> str:
    return operand_sql(Cell(quantity.column))


def _quantity(quantity: Quantity) -> str:
    """What is measured, in SQL."""
    if quantity.measure == "rows":
        return "COUNT(*)"
    column = _column(quantity)
    if quantity.measure == "share":
        return f"{_NULLS.format(column)} * 1e0 / COUNT(*)"
    return f"COUNT(DISTINCT {column})" if quantity.measure == "distinct" else f"{quantity.measure.upper()}({column})"
