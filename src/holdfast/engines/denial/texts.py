"""The texts of denial constraints, as people give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.engines.declared import GivenRule
from holdfast.engines.denial.check import check, notes
from holdfast.engines.denial.model import Cell, DenialConstraint, Predicate
from holdfast.engines.denial.parse import is_denial, parse
from holdfast.table.table import Schema

EXAMPLES = ("not(t.Zip = s.Zip and t.City != s.City)",)
DESCRIBED = ("a denial constraint, such as not(t.Zip = s.Zip and t.City != s.City)",)
means = is_denial


def canonical(text: str) -> str:
    """The constraint as it is always written."""
    return parse(text).text


def prefix(text: str) -> str:  # noqa: ARG001
    """`dc1` names a denial constraint."""
    return "dc"


def constraint_of(rule: GivenRule, schema: Schema, ordered: frozenset[str]) -> DenialConstraint:
    """The constraint with constants in the types of the table's columns."""
    parsed = parse(rule.text, name=rule.name, table=schema.name, severity=rule.severity, note=rule.note)
    return check(parsed, schema, ordered)


def bound(rule: GivenRule, schema: Schema, ordered: frozenset[str]) -> tuple[str, tuple[str, ...]]:
    """The constraint with constants in the types of the columns, and what is allowed and yet odd about it."""
    constraint = constraint_of(rule, schema, ordered)
    return constraint.text, tuple(notes(constraint))


def renamed(text: str, table: str, names: Mapping[str, str]) -> str:  # noqa: ARG001
    """The rule of a table whose columns have other names now."""
    rule = parse(text)
    return replace(rule, predicates=tuple(_renamed(each, names) for each in rule.predicates)).text


def _renamed(predicate: Predicate, names: Mapping[str, str]) -> Predicate:
    left, right = predicate.left, predicate.right
    other = Cell(right.row, names.get(right.column, right.column)) if isinstance(right, Cell) else right
    return replace(predicate, left=Cell(left.row, names.get(left.column, left.column)), right=other)
