"""Rules as pair queries: columns by number, checks of single rows apart from conditions between two."""

from __future__ import annotations

from holdfast.errors import BadInput
from holdfast.rules.conditions import Cell, Comparison
from holdfast.rules.constants import Constant
from holdfast.rules.rule import Breach, Rule
from holdfast.search.queries import MIRRORED, Check, Condition, Operator, PairQuery
from holdfast.table.table import Schema


def queries_of(rule: Rule, schema: Schema) -> list[PairQuery]:
    """The pairs that break a rule in tables of a schema: a query a breach, and no pair meets two of them. They leave
    `where` out, which says what rows there are (see `slices`).
    """
    number = {name: place for place, name in enumerate(schema.names)}
    if missing := [name for name in rule.columns if name not in number]:
        raise BadInput(f"rule {rule.text}: table {schema.name} has no column {missing[0]!r}")
    return [_query(breach, number) for breach in rule.broken_by(schema.nulls)]


def _query(breach: Breach, number: dict[str, int]) -> PairQuery:
    checks: dict[str, list[Check]] = {"t": [], "s": []}
    conditions = []
    for each in breach.comparisons:
        cells = each.cells
        if len(cells) == 2 and cells[0].row != cells[1].row:
            conditions.append(Condition(*_t_first(each, number)))
        else:
            checks[cells[0].row].append(_check(each, number))
    return PairQuery(tuple(conditions), tuple(checks["t"]), tuple(checks["s"]), not breach.is_pair)


def _t_first(comparison: Comparison, number: dict[str, int]) -> tuple[int, Operator, int]:
    left, right = comparison.cells
    if left.row == "t":
        return number[left.column], comparison.operator, number[right.column]
    return number[right.column], MIRRORED[comparison.operator], number[left.column]


def _check(comparison: Comparison, number: dict[str, int]) -> Check:
    left, right = comparison.left, comparison.right
    assert isinstance(left, Cell)
    assert isinstance(right, Cell | Constant)
    return Check(number[left.column], comparison.operator, number[right.column] if isinstance(right, Cell) else right)
