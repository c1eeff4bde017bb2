"""Denial constraints as pair queries: columns by number, checks of single rows apart from conditions between two."""

from __future__ import annotations

from holdfast.engines.denial.model import MIRRORED, Cell, DenialConstraint, Operator, Predicate
from holdfast.errors import BadInput
from holdfast.search.queries import Check, Condition, PairQuery
from holdfast.table.table import Schema


def query_of(constraint: DenialConstraint, schema: Schema) -> PairQuery:
    """The pairs that violate a constraint in tables of a schema."""
    number = {name: c for c, name in enumerate(schema.names)}
    if missing := [name for name in constraint.columns if name not in number]:
        raise BadInput(f"rule {constraint.text}: table {schema.name} has no column {missing[0]!r}")
    checks: dict[str, list[Check]] = {"t": [], "s": []}
    conditions = []
    for predicate in constraint.predicates:
        if isinstance(predicate.right, Cell) and predicate.right.row != predicate.left.row:
            conditions.append(Condition(*_t_first(predicate, number)))
        else:
            checks[predicate.left.row].append(_check(predicate, number))
    return PairQuery(tuple(conditions), tuple(checks["t"]), tuple(checks["s"]), constraint.is_single)


def _t_first(predicate: Predicate, number: dict[str, int]) -> tuple[int, Operator, int]:
    assert isinstance(predicate.right, Cell)
    left, right = number[predicate.left.column], number[predicate.right.column]
    if predicate.left.row == "t":
        return left, predicate.operator, right
    return right, MIRRORED[predicate.operator], left


def _check(predicate: Predicate, number: dict[str, int]) -> Check:
    other = predicate.right
    return Check(
        number[predicate.left.column], predicate.operator, number[other.column] if isinstance(other, Cell) else other
    )
