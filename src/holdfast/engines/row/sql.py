"""Conditions in plain SQL."""

from __future__ import annotations

from holdfast.changes.names import in_quotes
from holdfast.rules.conditions import (
    Arithmetic,
    Between,
    Cell,
    Comparison,
    Condition,
    Either,
    Every,
    IsNull,
    Like,
    OneOf,
    Operand,
)
from holdfast.rules.constants import Constant

_TEXT = "'"
_ESCAPES = "!#$^~|"


def condition_sql(condition: Condition) -> str:
    """A condition on a row t. Not all databases know `regexp_like`: it tells whether a part of a text matches."""
    if isinstance(condition, Every | Either):
        word = " AND " if isinstance(condition, Every) else " OR "
        return word.join(_grouped(part) for part in condition.parts)
    if isinstance(condition, Comparison):
        sign = "<>" if condition.operator == "!=" else condition.operator
        return f"{operand_sql(condition.left)} {sign} {operand_sql(condition.right)}"
    own, no = operand_sql(condition.operand), "NOT " if condition.negated else ""
    if isinstance(condition, IsNull):
        return f"{own} IS {no}NULL"
    if isinstance(condition, OneOf):
        return f"{own} {no}IN ({', '.join(map(operand_sql, condition.values))})"
    if isinstance(condition, Between):
        return f"{own} {no}BETWEEN {operand_sql(condition.low)} AND {operand_sql(condition.high)}"
    if isinstance(condition, Like):
        return f"{own} {no}LIKE {in_quotes(condition.pattern, _TEXT)}{_escape(condition)}"
    return f"{no}regexp_like({own}, {in_quotes(expression_sql(condition.pattern), _TEXT)})"


def expression_sql(pattern: str) -> str:
    """The regular expression of which a text as a whole is the only part that matches."""
    return f"^(?:{pattern})$"


def _grouped(part: Condition) -> str:
    return f"({condition_sql(part)})" if isinstance(part, Every | Either) else condition_sql(part)


def _escape(condition: Like) -> str:
    """Some databases take a backslash for the escape unless another is named: one that the pattern doesn't have."""
    if not condition.escape and "\\" not in condition.pattern:
        return ""
    free = (character for character in _ESCAPES if character not in condition.pattern)
    return f" ESCAPE {in_quotes(condition.escape or next(free, ''), _TEXT)}"


def operand_sql(operand: Operand) -> str:
    """An operand."""
    if isinstance(operand, Cell):
        return f"t.{in_quotes(operand.column)}"
    if isinstance(operand, Constant):
        word = operand.text.removeprefix("-")
        return f"CAST('{operand.text}' AS FLOAT)" if word in ("NaN", "Infinity") else operand.text
    return _arithmetic(operand)


def _arithmetic(operand: Arithmetic) -> str:
    left, right = (f"({own})" if isinstance(side, Arithmetic) else own for side, own in _sides(operand))
    if operand.sign == "/":  # in floating point, and unknown where it is by zero
        return f"{left} * 1e0 / NULLIF({right}, 0)"
    return f"{left} {operand.sign} {right}"


def _sides(operand: Arithmetic) -> list[tuple[Operand, str]]:
    return [(side, operand_sql(side)) for side in (operand.left, operand.right)]
