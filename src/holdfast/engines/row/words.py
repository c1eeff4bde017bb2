"""Violations in words: why a condition is false of a row."""

from __future__ import annotations

from holdfast.engines.row.evaluate import truth
from holdfast.engines.row.reckon import operand_values
from holdfast.engines.row.rows import Rows
from holdfast.rules.conditions import (
    Between,
    Cell,
    Comparison,
    Condition,
    Either,
    Every,
    IsNull,
    Like,
    Matches,
    OneOf,
    Operand,
)
from holdfast.rules.constants import Constant
from holdfast.table.plain import plain_values

_FALSE = {
    "=": "differs from",
    "!=": "equals",
    "<": "is at least",
    "<=": "is above",
    ">": "is at most",
    ">=": "is below",
}


def reason(condition: Condition, row: Rows) -> str:
    """Why a condition is false of one row: its parts that are, with the values of the row."""
    if isinstance(condition, Every | Either):
        parts = [part for part in condition.parts if truth(part, row)[0] < 0]
        return ("; " if isinstance(condition, Every) else ", and ").join(reason(part, row) for part in parts)
    if isinstance(condition, Comparison):
        left, right = (_told(side, row) for side in condition.operands)
        return f"{left} {_FALSE[condition.operator]} {right}"
    return _test(condition, _told(condition.operand, row), row)


def _test(condition: IsNull | OneOf | Between | Like | Matches, told: str, row: Rows) -> str:
    """A test that is false, so that what it denies is so."""
    no = "" if condition.negated else "not "
    if isinstance(condition, IsNull):
        return f"{_name(condition.operand)} is null" if condition.negated else f"{told} is not null"
    if isinstance(condition, OneOf):
        return f"{told} is {no}in ({', '.join(value.text for value in condition.values)})"
    if isinstance(condition, Between):
        return f"{told} is {no}between {_told(condition.low, row)} and {_told(condition.high, row)}"
    if isinstance(condition, Like):
        return f"{told} is {no}like {Constant(condition.pattern).text}"
    verb = "matches" if condition.negated else "does not match"
    return f"{told} {verb} {Constant(condition.pattern).text}"


def _told(operand: Operand, row: Rows) -> str:
    """What an operand is called, with its value in the row."""
    if isinstance(operand, Constant):
        return operand.text
    (value,) = plain_values(operand_values(operand, row))
    if isinstance(operand, Cell):
        return f"{operand.column} {value!r}"
    return f"{_name(operand)} ({value})"


def _name(operand: Operand) -> str:
    return operand.column if isinstance(operand, Cell) else operand.text
