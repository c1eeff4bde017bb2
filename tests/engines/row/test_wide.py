"""Decimals of 38 digits are compared and reckoned with exactly, against fractions: in rules about a row, in rules
about a table and in denial constraints, with values and constants.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

import holdfast as hf
from tests.oracle import row as oracle

_MOST = 10**38 - 1
_SCALE = 6
NINES = -_MOST  # in units of the last place

unscaled = st.one_of(st.integers(-_MOST, _MOST), st.sampled_from([NINES, NINES + 1, -(10**32), -1, 0, 1, _MOST]))
rows = st.lists(st.tuples(unscaled, st.one_of(st.none(), unscaled)), min_size=1, max_size=4)
signs = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
Rows = list[tuple[Any, ...]]


def _decimal(units: int) -> Decimal:
    return Decimal((int(units < 0), tuple(map(int, str(abs(units)))), -_SCALE))


def _text(units: int) -> str:
    return format(_decimal(units), "f")


def _violators(some: Rows, rule: str) -> set[int]:
    columns = [[None if units is None else _decimal(units) for units in column] for column in zip(*some, strict=True)]
    kept = pa.decimal128(38, _SCALE)
    (listing,) = hf.check(pa.table({"a": pa.array(columns[0], kept), "b": pa.array(columns[1], kept)}), rule).listings
    return set(listing.listed[:, 0].tolist())


def _expected(some: Rows, condition: Any) -> set[int]:
    values = {n: [None if units is None else _decimal(units) for units in row] for n, row in enumerate(some)}
    return oracle.violators(values, condition)


def _near(data: st.DataObject, some: Rows) -> int:
    """A constant at one of the values, or next to it."""
    value = data.draw(st.sampled_from([units for row in some for units in row if units is not None]))
    return int(value) + data.draw(st.sampled_from([0, 0, 1, -1]))


A, B = ("column", 0), ("column", 1)


@settings(max_examples=60, deadline=None)
@example(some=[(NINES, None)], sign="!=", data=None)
@given(some=rows, sign=signs, data=st.data())
def test_constants_of_all_rules_are_exact(some: Rows, sign: str, data: Any) -> None:
    units = NINES if data is None else _near(data, some)
    written, constant = _text(units), ("constant", _decimal(units))
    found = _expected(some, ("compare", A, sign, constant))
    assert _violators(some, f"t.a {sign} {written}") == found
    if abs(units) <= _MOST:  # a denial constraint refuses what its column can't hold
        assert _violators(some, f"not(t.a {sign} {written})") == set(range(len(some))) - found
    for measure in ("min", "max"):
        broken = oracle.is_broken([[_decimal(row[0])] for row in some], measure, 0, sign, _decimal(units))
        (line,) = hf.check(_column(some), f"{measure}(a) {sign} {written}").to_json()
        assert line["violations"] == int(broken)


def _column(some: Rows) -> pa.Table:
    return pa.table({"a": pa.array([_decimal(row[0]) for row in some], pa.decimal128(38, _SCALE))})


@settings(max_examples=60, deadline=None)
@example(some=[(NINES, None)], negated=False, data=None)
@given(some=rows, negated=st.booleans(), data=st.data())
def test_between_and_in_are_exact(some: Rows, negated: bool, data: Any) -> None:
    one, other = (NINES, NINES) if data is None else (_near(data, some), _near(data, some))
    no = "not " if negated else ""
    ends = [("constant", _decimal(one)), ("constant", _decimal(other))]
    between: Any = ("between", A, *ends)
    listed: Any = ("in", A, [_decimal(one), _decimal(other)])
    texts = f"t.a {no}between {_text(one)} and {_text(other)}", f"t.a {no}in ({_text(one)}, {_text(other)})"
    for rule, condition in zip(texts, (between, listed), strict=True):
        assert _violators(some, rule) == _expected(some, ("not", condition) if negated else condition)


@settings(max_examples=60, deadline=None)
@given(some=rows, sign=signs, data=st.data())
def test_arithmetic_is_exact(some: Rows, sign: str, data: st.DataObject) -> None:
    factor = data.draw(st.integers(-(10**9), 10**9))
    left: Any = data.draw(st.sampled_from([("+", A, B), ("-", A, B), ("*", A, ("constant", factor))]))
    values = [[None if units is None else Fraction(units, 10**_SCALE) for units in row] for row in some]
    results = [_reckoned(left, row) for row in values]
    known = [result for result in results if result is not None]
    near = data.draw(st.sampled_from(known)) if known else Fraction(0)
    units = int(near * 10**_SCALE) + data.draw(st.sampled_from([0, 0, 1, -1]))
    shown = {"+": "t.a + t.b", "-": "t.a - t.b", "*": f"t.a * {factor}"}[left[0]]
    expected = _expected(some, ("compare", left, sign, ("constant", _decimal(units))))
    assert _violators(some, f"{shown} {sign} {_text(units)}") == expected


def _reckoned(operand: Any, row: list[Fraction | None]) -> Fraction | None:
    sign, one, other = operand
    left: Fraction | None = row[one[1]]
    right: Fraction | None = row[other[1]] if other[0] == "column" else Fraction(other[1])
    if left is None or right is None:
        return None
    return left + right if sign == "+" else left - right if sign == "-" else left * right
