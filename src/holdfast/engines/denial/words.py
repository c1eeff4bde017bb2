"""Violations in words: why a pair of rows violates a denial constraint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.changes.naming import listed
from holdfast.engines.denial.model import Cell, Constant, DenialConstraint, Predicate

_WORDS = {
    "=": "equals",
    "!=": "differs from",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
}


def sentence(rule: DenialConstraint, names: Mapping[str, str], rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Why rows t and s violate a rule: what t and s are called, and their values by column name."""
    reasons = [_reason(predicate, names, rows) for predicate in rule.predicates]
    verb = "violates" if len(names) == 1 else "violate"
    return f"{listed(list(names.values()))} {verb} {rule.name or rule.text}: {'; '.join(reasons)}"


def _reason(predicate: Predicate, names: Mapping[str, str], rows: Mapping[str, Mapping[str, Any]]) -> str:
    left = predicate.left
    value = rows[left.row][left.column]
    if isinstance(predicate.right, Constant):
        return f"{left.column} {value!r} of {names[left.row]} {_WORDS[predicate.operator]} {predicate.right.text}"
    right = predicate.right
    other = rows[right.row][right.column]
    if predicate.operator == "=" and right.column == left.column:
        return f"both have {left.column} {value!r}"
    return (
        f"{left.column} {value!r} of {names[left.row]} {_WORDS[predicate.operator]} "
        f"{right.column} {other!r} of {names[right.row]}"
    )


def columns_of(rule: DenialConstraint, row: str) -> list[str]:
    """The columns that a rule looks at in row t or s, in the order of the rule."""
    cells = [cell for predicate in rule.predicates for cell in predicate.cells if isinstance(cell, Cell)]
    return list(dict.fromkeys(cell.column for cell in cells if cell.row == row))
