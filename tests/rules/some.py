"""Random rules of every class, as values; and by the oracles, which rows break them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import strategies as st

from holdfast.rules.conditions import (
    Arithmetic,
    Between,
    Call,
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
    of_t,
)
from holdfast.rules.constants import UNITS
from holdfast.rules.constants import Constant as Value
from holdfast.rules.denial import DenialConstraint
from holdfast.rules.dependency import FD, Key
from holdfast.rules.inclusion import IND, Side
from holdfast.rules.lists import ListOD, SortColumn
from holdfast.rules.measure import Quantity, TableRule
from holdfast.rules.order import Compatible, ConstantOD
from holdfast.rules.pointwise import Pointwise
from holdfast.rules.row import RowRule
from holdfast.rules.rule import NoPartner, Predicate, Rule
from holdfast.search.queries import Operator
from holdfast.table.nulls import Nulls
from tests.oracle import denial, functional, inclusion, list_order, order, pointwise, row

COLUMNS = ["a", "b", "c"]
Row = Sequence[Any]
Rows = Mapping[int, Row]
OPERATORS: st.SearchStrategy[Operator] = st.sampled_from(get_args(Operator))
POINTWISE_OPERATORS: st.SearchStrategy[Any] = st.sampled_from(["<", "<=", "=", ">=", ">"])
_FUNCTIONS: st.SearchStrategy[Any] = st.sampled_from(["length", "lower", "upper"])
_SIGNS: st.SearchStrategy[Any] = st.sampled_from(["+", "-"])
_WHILES = st.builds(
    lambda unit, count: Value(count * unit), st.sampled_from(list(UNITS.values())), st.integers(-3, 100)
)
NUMBERS = st.one_of(st.integers(-1, 3), st.just(Decimal("1.5")))


# ---- conditions -----------------------------------------------------------------------------------------------------


def operands(names: Sequence[str]) -> st.SearchStrategy[Operand]:
    """Cells, and arithmetic of them and of numbers."""
    cells = st.sampled_from(names).map(of_t)
    leaves = st.one_of(cells, NUMBERS.map(Value))
    signs = st.sampled_from(["+", "-", "*", "/"])
    return st.one_of(
        cells, cells, st.builds(Arithmetic, cells, signs, leaves), st.builds(Arithmetic, leaves, signs, cells)
    )


def conditions(names: Sequence[str], texts: bool = False) -> st.SearchStrategy[Condition]:
    """Conditions on row t over columns of numbers; with `texts`, also those that ask for a pattern."""
    own, negated = operands(names), st.booleans()
    sides = st.one_of(NUMBERS.map(Value), operands(names))
    parts: list[st.SearchStrategy[Condition]] = [
        st.builds(Comparison, own, OPERATORS, sides),
        st.builds(IsNull, st.sampled_from(names).map(of_t), negated=negated),
        st.builds(OneOf, own, st.lists(NUMBERS.map(Value), min_size=1, max_size=2).map(tuple), negated=negated),
        st.builds(Between, own, sides, sides, negated=negated),
    ]
    if texts:
        cells = st.sampled_from(names).map(of_t)
        parts.append(st.builds(Like, cells, st.sampled_from(["a%", "it''s", "!_"]), st.sampled_from(["", "!"])))
        parts.append(st.builds(Comparison, st.builds(Call, _FUNCTIONS, cells), OPERATORS, st.just(Value("x"))))
        parts.append(st.builds(Comparison, st.builds(Arithmetic, cells, _SIGNS, cells), OPERATORS, _WHILES))
        parts.append(st.builds(Matches, cells, st.sampled_from(["[a-z]+ where t.a", "'"]), negated=negated))

    def several(some: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
        lists = st.lists(some, min_size=2, max_size=3).map(tuple)
        return st.one_of(lists.map(Every), lists.map(Either))

    return st.recursive(st.one_of(parts), several, max_leaves=3)


# ---- rules ----------------------------------------------------------------------------------------------------------


@st.composite
def _sets(draw: st.DrawFn, names: Sequence[str], least: int = 0) -> tuple[str, ...]:
    return tuple(draw(st.lists(st.sampled_from(names), min_size=least, max_size=len(names), unique=True)))


@st.composite
def dependencies(draw: st.DrawFn, names: Sequence[str]) -> Rule:
    *lhs, rhs = draw(_sets(names, 1))
    return draw(st.sampled_from([FD("", tuple(lhs), rhs), Key("", tuple(lhs)), ConstantOD("", tuple(lhs), rhs)]))


@st.composite
def pairs(draw: st.DrawFn, names: Sequence[str]) -> Rule:
    *context, one, other = draw(_sets(names, 2))
    return Compatible("", tuple(context), (one, other), draw(st.sampled_from(["asc", "desc"])))


@st.composite
def pointwise_rules(draw: st.DrawFn, names: Sequence[str]) -> Rule:
    *left, right = [(name, draw(POINTWISE_OPERATORS)) for name in draw(_sets(names, 1))]
    return Pointwise("", tuple(left), right)


def list_rules(names: Sequence[str]) -> st.SearchStrategy[Rule]:
    """A column may stand twice, in both lists, upwards and downwards."""
    columns = st.builds(SortColumn, st.sampled_from(names), st.booleans())
    return st.builds(
        ListOD, st.lists(columns, max_size=3).map(tuple), st.lists(columns, min_size=1, max_size=3).map(tuple)
    )


def denials(names: Sequence[str]) -> st.SearchStrategy[Rule]:
    cells = st.builds(Cell, st.sampled_from(["t", "s"]), st.sampled_from(names))
    predicates = st.builds(Comparison, cells, OPERATORS, st.one_of(cells, NUMBERS.map(Value)))
    return st.builds(DenialConstraint, st.lists(predicates, min_size=1, max_size=3).map(tuple))


@st.composite
def references(draw: st.DrawFn, names: Sequence[str]) -> Rule:
    sides = [draw(st.lists(st.sampled_from(names), min_size=2, max_size=2)) for _ in range(2)]
    arity = draw(st.integers(1, 2))
    own, other = (tuple(side[:arity]) for side in sides)
    return IND(Side("orders", own), Side("customers", other), grace=draw(st.integers(0, 2)))


def row_rules(names: Sequence[str], texts: bool = False) -> st.SearchStrategy[Rule]:
    return st.builds(RowRule, conditions(names, texts))


def table_rules(names: Sequence[str]) -> st.SearchStrategy[Rule]:
    measures = st.sampled_from(["share", "distinct", "min", "max", "sum", "avg", "median"])
    parts = st.sampled_from([Decimal(text) for text in ("0", "0.25", "0.5", "1")]).map(Value)
    quantities = st.one_of(
        st.just(Quantity("rows")),
        st.builds(Quantity, measures, st.sampled_from(names)),
        st.builds(Quantity, st.just("quantile"), st.sampled_from(names), part=parts),
        st.builds(Quantity, st.sampled_from(["share", "count"]), condition=conditions(names)),
    )
    numbers = NUMBERS.map(Value)
    return st.one_of(
        st.builds(TableRule, quantities, OPERATORS, numbers),
        st.builds(TableRule, quantities, st.just("between"), numbers, numbers),
    )


def with_where(rules: st.SearchStrategy[Rule], names: Sequence[str], texts: bool = False) -> st.SearchStrategy[Rule]:
    """Also rules about some rows."""
    wheres = st.one_of(st.none(), conditions(names, texts))
    return st.builds(lambda rule, where: replace(rule, where=where), rules, wheres)


CLASSES = [dependencies, pairs, pointwise_rules, list_rules, denials, references, row_rules, table_rules]
# Hypothesis checks each strategy that it has not seen, which takes longer than to draw a rule: so these are made once.
of_each_class = pytest.mark.parametrize(
    "rules", [with_where(each(COLUMNS), COLUMNS) for each in CLASSES], ids=[each.__name__ for each in CLASSES]
)


# ---- by the oracles -------------------------------------------------------------------------------------------------


def as_oracle(condition: Condition) -> Any:
    """A condition as the oracle of rules about rows reads it, of a row t followed by a row s."""
    if isinstance(condition, Every | Either):
        return "and" if isinstance(condition, Every) else "or", [as_oracle(part) for part in condition.parts]
    if isinstance(condition, Comparison):
        return "compare", _operand(condition.left), condition.operator, _operand(condition.right)
    own = _operand(condition.operand)
    found: Any = ("null", own)
    if isinstance(condition, OneOf):
        found = ("in", own, [value.value for value in condition.values])
    elif isinstance(condition, Between):
        found = ("between", own, _operand(condition.low), _operand(condition.high))
    return ("not", found) if condition.negated else found


def _operand(operand: Operand) -> Any:
    if isinstance(operand, Cell):
        return "column", COLUMNS.index(operand.column) + (len(COLUMNS) if operand.row == "s" else 0)
    if isinstance(operand, Value):
        return "constant", operand.value
    assert isinstance(operand, Arithmetic)
    return operand.sign, _operand(operand.left), _operand(operand.right)


def is_true(predicate: Predicate, t: Row, s: Row, others: Sequence[Row] = ()) -> bool:
    """Whether a predicate is true of two rows; `others` are the rows of another table."""
    if isinstance(predicate, NoPartner):
        own, other = ([COLUMNS.index(name) for name in side] for side in (predicate.columns, predicate.other_columns))
        return bool(inclusion.orphans({0: tuple(t)}, own, [tuple(each) for each in others], other))
    if isinstance(predicate, Every | Either):
        found = [is_true(part, t, s) for part in predicate.parts]
        return all(found) if isinstance(predicate, Every) else any(found)
    if isinstance(predicate, Comparison) and predicate.nulls is not Nulls.SQL:
        values = [(t if cell.row == "t" else s)[COLUMNS.index(cell.column)] for cell in predicate.cells]
        return _compared(values[0], values[1], predicate.operator, predicate.nulls)
    return row.truth(as_oracle(predicate), [*t, *s]) is True


def _compared(one: Any, other: Any, operator: str, nulls: str) -> bool:
    sign = order.compared(one, other, nulls)
    if sign is None:  # a null differs from everything, and has no order
        return operator == "!="
    return {"=": sign == 0, "!=": sign != 0, "<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}[operator]


def among(rule: Rule, rows: Rows) -> Rows:
    """The rows that a rule is about."""
    where = rule.where
    return rows if where is None else {n: own for n, own in rows.items() if is_true(where, own, own)}


def broken(rule: Rule, rows: Rows, nulls: str, others: Sequence[Row] = ()) -> set[tuple[int, ...]]:
    """The pairs (t, s) of rows, or the rows, by which a rule is broken, as its definition has it. Where t and s may
    change places, both pairs are there.
    """
    own = among(rule, rows)
    places = {name: place for place, name in enumerate(COLUMNS)}
    if isinstance(rule, RowRule):
        return {(n,) for n in row.violators(own, as_oracle(rule.condition))}
    if isinstance(rule, IND):
        columns, of = ([places[name] for name in side.columns] for side in rule.sides)
        found = inclusion.orphans(
            {n: tuple(each) for n, each in own.items()}, columns, [tuple(each) for each in others], of
        )
        return {(n,) for n in found}
    if isinstance(rule, DenialConstraint):
        predicates = [(_side(each.left), each.operator, _side(each.right)) for each in rule.predicates]
        pairs: set[tuple[int, ...]] = set(denial.violations(own, predicates))
        if rule.is_single:
            return {pair[:1] for pair in pairs}
        return pairs | {pair[::-1] for pair in pairs} if denial.is_symmetric(predicates) else pairs
    if isinstance(rule, ListOD):
        lists = [[(places[each.name], each.descending) for each in side] for side in (rule.by, rule.then)]
        return set(list_order.violations(own, lists[0], lists[1]))
    return {(t, s) for t in own for s in own if t != s and _breaks(rule, own[t], own[s], nulls, places)}


def is_directed(rule: Rule) -> bool:
    """Whether a rule about two rows treats t and s differently."""
    return isinstance(rule, ListOD | DenialConstraint | Pointwise)


def _breaks(rule: Rule, t: Row, s: Row, nulls: str, places: Mapping[str, int]) -> bool:
    if isinstance(rule, FD | Key):
        agree = all(functional.equal(t[places[name]], s[places[name]], nulls) for name in rule.lhs)
        return agree and (
            isinstance(rule, Key) or not functional.equal(t[places[rule.rhs]], s[places[rule.rhs]], nulls)
        )
    if isinstance(rule, ConstantOD | Compatible):
        within = list(order.pairs_within([t, s], tuple(places[name] for name in rule.context), nulls))
        if isinstance(rule, ConstantOD):
            return bool(within) and order.splits(t, s, places[rule.column], nulls)
        one, other = (places[name] for name in rule.pair)
        return bool(within) and order.swaps(t, s, one, other, rule.direction, nulls)
    assert isinstance(rule, Pointwise)

    def meets(predicate: tuple[str, str]) -> bool:
        return (
            pointwise.sign(t[places[predicate[0]]], s[places[predicate[0]]], True, nulls)
            in pointwise.MEANS[predicate[1]]
        )

    return all(map(meets, rule.left)) and not meets(rule.right)


def _side(operand: Operand) -> tuple[str, Any]:
    if isinstance(operand, Cell):
        return operand.row, COLUMNS.index(operand.column)
    assert isinstance(operand, Value)
    return "constant", operand.value
