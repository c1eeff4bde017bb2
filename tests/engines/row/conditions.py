"""Random conditions that make sense for a small table, in the product's words and in the oracle's."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any, get_args

import pyarrow as pa
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
    constants_of,
    of_t,
)
from holdfast.rules.constants import Constant
from holdfast.rules.terms import names_of
from holdfast.search.queries import Operator

SCHEMA = pa.schema(
    [
        ("i", pa.int64()),
        ("j", pa.int64()),
        ("f", pa.float64()),
        ("g", pa.float64()),
        ("d", pa.decimal128(5, 1)),
        ("long", pa.decimal128(30, 2)),
        ("s", pa.string()),
        ("first name", pa.string()),
        ("y", pa.bool_()),
        ("day", pa.date32()),
        ("due", pa.date32()),
        ("at", pa.timestamp("us")),
    ]
)
NAMES = SCHEMA.names
FAMILIES = [["i", "j", "f", "g", "d", "long"], ["s", "first name"], ["y"], ["day", "due"], ["at"]]
NUMBERS, TEXTS, TRUTHS, DAYS, TIMES = FAMILIES

integers = st.one_of(st.integers(-2, 3), st.sampled_from([2**60, 2**63 - 1, -(2**63 - 1)]))
floats = st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.5, 2.0**60, float("nan"), float("inf"), float("-inf")])
decimals = st.sampled_from([Decimal(text) for text in ("0.0", "0.5", "1.0", "-1.5", "2.0", "9999.5")])
longs = st.sampled_from([Decimal(text) for text in ("0.00", "0.50", "1.00", "9" * 28 + ".99", str(2**60) + ".00")])
texts = st.sampled_from(["", "a", "ab", "b", "é", "a_b", "a%", "A", "a\nb", "100-2000"])
days = st.sampled_from([dt.date(2020, 1, 31), dt.date(1969, 12, 31), dt.date(2031, 1, 1)])
times = st.sampled_from(
    [dt.datetime(2020, 1, 31), dt.datetime(2020, 2, 1, 12, 30), dt.datetime(1969, 12, 31, 23, 59, 59, 1)]
)
POOLS: dict[str, st.SearchStrategy[Any]] = {
    "i": integers,
    "j": integers,
    "f": floats,
    "g": floats,
    "d": decimals,
    "long": longs,
    "s": texts,
    "first name": texts,
    "y": st.booleans(),
    "day": days,
    "due": days,
    "at": times,
}
rows = st.tuples(*(st.one_of(st.none(), POOLS[name]) for name in NAMES))
row_lists = st.lists(rows, max_size=8)

# Constants of comparisons without arithmetic: with floats those that a float can be, with others all but these.
_exact = st.one_of(st.integers(-2, 3), st.sampled_from([Decimal("0.5"), Decimal("-1.50"), Decimal("0.25"), 2**60, 1.0]))
_of_floats = st.one_of(st.integers(-2, 3), st.sampled_from([Decimal("0.5"), 0.5, -1.5, float("nan"), float("inf")]))
_of_column = {name: _of_floats if name in ("f", "g") else _exact for name in NUMBERS} | {
    name: POOLS[name] for name in (*TEXTS, *TRUTHS, *DAYS, *TIMES)
}
_small = st.one_of(st.integers(-2, 3), st.sampled_from([Decimal("0.5"), 0.5]))
OPERATORS: st.SearchStrategy[Operator] = st.sampled_from(get_args(Operator))
_EQUAL: st.SearchStrategy[Operator] = st.sampled_from(["=", "!="])


def _cells(names: list[str]) -> st.SearchStrategy[Cell]:
    return st.sampled_from(names).map(of_t)


def _constants(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Constant]:
    return values.map(Constant)


_leaves: st.SearchStrategy[Operand] = st.one_of(_cells(["i", "f", "d"]), _cells(["j", "g"]), _constants(_small))
_sums = st.builds(Arithmetic, _leaves, st.sampled_from(["+", "-", "*", "/"]), _leaves)
_deep = st.builds(Arithmetic, st.one_of(_sums, _leaves), st.sampled_from(["+", "-", "*"]), st.one_of(_sums, _leaves))
arithmetic = st.one_of(_sums, _deep).filter(lambda operand: bool(names_of(operand)))


@st.composite
def _plain(draw: st.DrawFn) -> Condition:
    """About a column and constants, or other columns."""
    family = draw(st.sampled_from(FAMILIES))
    cell = draw(_cells(family))
    constant = _constants(_of_column[cell.column])
    other = st.one_of(constant, _cells(family))
    kind = draw(st.sampled_from(["compare", "compare", "null", "in", "between", "like", "matches"]))
    negated = draw(st.booleans())
    if kind == "null":
        return IsNull(cell, negated=negated)
    if kind == "in":
        return OneOf(cell, tuple(draw(st.lists(constant, min_size=1, max_size=3))), negated=negated)
    if kind == "between" and family is not TRUTHS:
        return Between(cell, draw(other), draw(other), negated=negated)
    if kind == "like" and family is TEXTS:
        pattern, escape = draw(st.sampled_from([("a%", ""), ("_", ""), ("a!_%", "!"), ("%b", ""), ("", ""), ("é", "")]))
        return Like(cell, pattern, escape, negated=negated)
    if kind == "matches" and family is TEXTS:
        return Matches(
            cell, draw(st.sampled_from(["a|ab", "[a-z]+", "", ".", "[0-9]{3}-[0-9]{4}", "(a)?b"])), negated=negated
        )
    operator = draw(OPERATORS) if family is not TRUTHS else draw(_EQUAL)
    return Comparison(cell, operator, draw(other))


@st.composite
def _reckoned(draw: st.DrawFn) -> Condition:
    operand = draw(arithmetic)
    other = st.one_of(_constants(_small), arithmetic, _cells(["i", "f", "d"]))
    kind = draw(st.sampled_from(["compare", "compare", "null", "in", "between"]))
    if kind == "null":
        return IsNull(operand, negated=draw(st.booleans()))
    if kind == "in":
        return OneOf(
            operand, tuple(draw(st.lists(_constants(_small), min_size=1, max_size=3))), negated=draw(st.booleans())
        )
    if kind == "between":
        return Between(operand, draw(other), draw(other), negated=draw(st.booleans()))
    return Comparison(operand, draw(OPERATORS), draw(other))


# ---- functions and times --------------------------------------------------------------------------------------------

_whiles = _constants(
    st.sampled_from([dt.timedelta(), dt.timedelta(days=1), dt.timedelta(hours=36), dt.timedelta(days=-400)])
)
_moments = _cells([*DAYS, *TIMES])
_later = st.builds(Arithmetic, _moments, st.sampled_from(["+", "-"]), _whiles)
_apart = st.builds(Arithmetic, st.one_of(_moments, _later), st.just("-"), st.one_of(_moments, _later))
_cases = st.builds(Call, st.sampled_from(["lower", "upper"]), _cells(TEXTS))
_lengths = st.builds(Call, st.just("length"), st.one_of(_cells(TEXTS), _cases))


@st.composite
def _timed(draw: st.DrawFn) -> Condition:
    """About moments, how far these are apart, and functions of texts."""
    operands: list[tuple[Any, Any, Any]] = [
        (_later, st.one_of(_moments, _later, _constants(times), _constants(days)), OPERATORS),
        (_apart, st.one_of(_apart, _whiles), OPERATORS),
        (_lengths, st.one_of(_constants(st.integers(0, 3)), _cells(["i", "d"]), _lengths), OPERATORS),
        (_cases, st.one_of(_cases, _cells(TEXTS), _constants(texts)), _EQUAL),
    ]
    own, other, operators = draw(st.sampled_from(operands))
    left = draw(own)
    kind = draw(st.sampled_from(["compare", "compare", "null", "between"]))
    if kind == "null":
        return IsNull(left, negated=draw(st.booleans()))
    if kind == "between" and own is not _cases:
        return Between(left, draw(other), draw(other), negated=draw(st.booleans()))
    return Comparison(left, draw(operators), draw(other))


def subtracts_times_alone(condition: Condition) -> bool:
    """Whether it compares how far times are apart, and names no while: databases have several types for that."""
    if isinstance(condition, Every | Either):
        return any(map(subtracts_times_alone, condition.parts))
    are_times = not set(names_of(condition)).isdisjoint([*DAYS, *TIMES])
    whiles = any(isinstance(each.value, dt.timedelta) for each in constants_of(condition))
    return are_times and not whiles and any(isinstance(each, Arithmetic) for each in condition.operands)


def _combined(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(several.map(Every), several.map(Either))


conditions: st.SearchStrategy[Condition] = st.recursive(
    st.one_of(_plain(), _reckoned(), _timed()), _combined, max_leaves=4
)


# ---- the oracle's words ---------------------------------------------------------------------------------------------


def as_tuples(condition: Condition) -> Any:
    """The same condition as the oracle reads it."""
    if isinstance(condition, Every | Either):
        return ("and" if isinstance(condition, Every) else "or", [as_tuples(part) for part in condition.parts])
    if isinstance(condition, Comparison):
        return ("compare", _operand(condition.left), condition.operator, _operand(condition.right))
    own = _operand(condition.operand)
    found: Any
    if isinstance(condition, IsNull):
        found = ("null", own)
    elif isinstance(condition, OneOf):
        found = ("in", own, [value.value for value in condition.values])
    elif isinstance(condition, Between):
        found = ("between", own, _operand(condition.low), _operand(condition.high))
    elif isinstance(condition, Like):
        found = ("like", own, condition.pattern, condition.escape)
    else:
        found = ("matches", own, condition.pattern)
    return ("not", found) if condition.negated else found


def _operand(operand: Operand) -> Any:
    if isinstance(operand, Cell):
        return ("column", NAMES.index(operand.column))
    if isinstance(operand, Constant):
        return ("constant", operand.value)
    if isinstance(operand, Call):
        return (operand.function, _operand(operand.operand))
    return (operand.sign, _operand(operand.left), _operand(operand.right))


def table_of(some: list[tuple[Any, ...]]) -> pa.Table:
    """Rows as an Arrow table."""
    columns = [[row[place] for row in some] for place in range(len(NAMES))]
    return pa.Table.from_arrays(
        [pa.array(values, field.type) for values, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )
