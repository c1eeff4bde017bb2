"""Denial constraints against the columns of a table: what fits, what is refused, and what is only noted."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.rules.conditions import Cell
from holdfast.rules.constants import Constant
from holdfast.rules.denial import DenialConstraint
from holdfast.rules.denial_check import check, notes
from holdfast.table.table import Schema
from holdfast.table.types import Column

parse = DenialConstraint.parse

TYPES = {
    "Int": pa.int64(),
    "Other": pa.int64(),
    "Float": pa.float64(),
    "Price": pa.decimal128(6, 2),
    "Text": pa.string(),
    "Grade": pa.string(),
    "Flag": pa.bool_(),
    "Day": pa.date32(),
    "Local": pa.timestamp("us"),
    "Moment": pa.timestamp("us", tz="UTC"),
    "Clock": pa.time64("us"),
    "Span": pa.duration("us"),
}
SCHEMA = Schema("tax", tuple(Column(name, kept) for name, kept in TYPES.items()))

FITTING = [
    ("t.Int = s.Float and t.Int < s.Price and t.Float >= s.Price", None),
    *((f"t.{name} = s.{name} and t.{name} != s.{name}", None) for name in TYPES),
    *((f"t.{name} < s.{name}", None) for name in TYPES if name not in ("Text", "Flag")),
    ("t.Grade <= 'B'", None),
    ("t.Text = 'x'", None),
    ("t.Flag = true", None),
    # numbers
    ("t.Float = 1", "t.Float = 1.0"),
    ("t.Float = 0.1", "t.Float = 0.1"),
    ("t.Float < -0.0", "t.Float < 0.0"),
    ("t.Float = NaN and t.Float != -Infinity", None),
    ("t.Price = 5", "t.Price = 5.00"),
    ("t.Price = 1.5", "t.Price = 1.50"),
    ("t.Price = 1.500", "t.Price = 1.50"),
    ("t.Price > -1e3", "t.Price > -1000.00"),
    ("t.Int = 5.0", "t.Int = 5"),
    ("t.Int = 1e6", "t.Int = 1000000"),
    ("t.Int < 0.5", "t.Int <= 0"),
    ("t.Int <= 0.5", "t.Int <= 0"),
    ("t.Int > 0.5", "t.Int > 0"),
    ("t.Int >= -0.5", "t.Int > -1"),
    ("t.Price >= 1.005", "t.Price > 1.00"),
    ("t.Int <= 9223372036854775807", None),
    ("t.Int = 1 and t.Int = 1.0", "t.Int = 1"),
    # dates and times
    ("t.Day = '2020-01-31'", "t.Day = DATE '2020-01-31'"),
    ("t.Day < DATE '2020-01-31'", None),
    ("t.Local = DATE '2020-01-31'", "t.Local = TIMESTAMP '2020-01-31 00:00:00'"),
    ("t.Local = '2020-01-31 10:00'", "t.Local = TIMESTAMP '2020-01-31 10:00:00'"),
    ("t.Moment = '2020-01-31'", "t.Moment = TIMESTAMP '2020-01-31 00:00:00+00:00'"),
    ("t.Moment = '2020-01-31 10:00:00+02:00'", "t.Moment = TIMESTAMP '2020-01-31 08:00:00+00:00'"),
    ("t.Clock = '10:00'", "t.Clock = TIME '10:00:00'"),
    ("t.Clock < TIME '10:00:00'", None),
]


@pytest.mark.parametrize(("body", "checked"), FITTING, ids=[body for body, _ in FITTING])
def test_what_fits_a_table(body: str, checked: str | None) -> None:
    result = DenialConstraint(check(parse(f"not({body})").predicates, SCHEMA, ordered=["Grade"]))
    assert result.text == f"not({checked or body})"
    assert check(result.predicates, SCHEMA, ordered=["Grade"]) == result.predicates
    for predicate in result.predicates:
        assert isinstance(predicate.left, Cell)
        if isinstance(predicate.right, Constant):
            value, kept = predicate.right.value, TYPES[predicate.left.column]
            assert pa.array([value], kept)[0].as_py() == value or value != value
            assert isinstance(value, bool) == pa.types.is_boolean(kept)


REFUSED = [
    ("t.Salry = 1", "names the column 'Salry', which the table tax does not have; there are Int, Other"),
    ("t.Pric = 1", "did you mean 'Price'?"),
    ("t.text = s.Text", "did you mean 'Text'?"),
    ("t.Text < s.Text", "needs an order of text; if the order of 'Text'"),
    ("t.Grade < s.Text", "ordered: [Text]"),
    ("t.Text >= 'a'", "needs an order of text"),
    ("t.Flag < s.Flag", "needs an order of booleans; use = or !="),
    ("t.Flag <= true", "needs an order of booleans; use = or !="),
    ("t.Int = s.Text", "compares integer with text; compare columns of one type"),
    ("t.Day < s.Int", "compares date with integer"),
    ("t.Day = s.Local", "compares date with timestamp without time zone"),
    ("t.Local = s.Moment", "compares timestamp without time zone with timestamp"),
    ("t.Flag = t.Int", "compares boolean with integer"),
    ("t.Int = '5'", "compares integer with text; write a number, without quotes"),
    ("t.Int = true", "compares integer with a constant of another type; write a number, without quotes"),
    ("t.Float < DATE '2020-01-31'", "compares float with a constant of another type"),
    ("t.Text = 12345", "compares text with a constant of another type; write '12345'"),
    ("t.Text = DATE '2020-01-31'", "write '2020-01-31'"),
    ("t.Flag = 1", "compares boolean with a constant of another type; write true or false"),
    ("t.Flag = 'true'", "compares boolean with text; write true or false"),
    ("t.Day = 20200131", "compares date with a constant of another type; write DATE 'YYYY-MM-DD'"),
    ("t.Day = '31.1.2020'", "compares date with text; write DATE 'YYYY-MM-DD'"),
    ("t.Day = TIMESTAMP '2020-01-31 00:00:00'", "write DATE 'YYYY-MM-DD'"),
    ("t.Local = 'noon'", "write TIMESTAMP 'YYYY-MM-DD HH:MM:SS'"),
    ("t.Local = '2020-01-31 10:00Z'", "leave the zone out"),
    ("t.Moment < '0001-01-01 00:00+01:00'", "has a date that is out of range"),
    ("t.Clock = 10", "write TIME 'HH:MM:SS'"),
    ("t.Span = 5", "compares interval with a constant of another type; write 30 days, for example"),
    ("t.Int = 0.5", "is never true: a column of type integer holds no such number"),
    ("t.Price != 0.005", "is always true: a column of type decimal(6,2) holds no such number"),
    ("t.Int < 9223372036854775808", "a column of type integer holds no such number"),
    ("t.Price < 10000", "a column of type decimal(6,2) holds no such number"),
    ("t.Float = 9007199254740993", "the nearest number that a column of type float holds is 9007199254740992.0"),
    ("t.Float < 1" + "0" * 400, "names a number that is too large for a float; write a smaller one"),
    ("t.Int < 1" + "0" * 400, "a column of type integer holds no such number"),
    ("t.Float < 1" + "0" * 400 + ".5", "names a number that is too large for a float; write a smaller one"),
    ("t.Int = NaN", "a column of type integer holds no such value"),
    ("t.Price < Infinity", "a column of type decimal(6,2) holds no such value"),
]


@pytest.mark.parametrize(("body", "sentence"), REFUSED, ids=[body[:40] for body, _ in REFUSED])
def test_what_makes_no_sense_for_a_table(body: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        check(parse(f"not(t.Int = s.Int and {body})").predicates, SCHEMA, ordered=["Grade"])
    assert str(caught.value).startswith(f"{body} ")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.integers(-50, 50), st.decimals(-5, 5, places=3), st.sampled_from(["<", "<=", ">", ">="]))
def test_rounding_a_constant_changes_nothing(number: int, constant: Decimal, operator: str) -> None:
    holds = {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
    for column, value in (("Int", number), ("Price", Decimal(number) / 10)):
        predicate = check(parse(f"not(t.{column} {operator} {constant:f})").predicates, SCHEMA)[0]
        assert isinstance(predicate.right, Constant)
        rounded = getattr(Decimal(value), holds[predicate.operator])(predicate.right.value)
        assert rounded == getattr(Decimal(value), holds[operator])(constant)


# ---- notes ----------------------------------------------------------------------------------------------------------

NEVER = [
    "t.Int = s.Int and t.Int != s.Int",
    "t.Int < s.Int and t.Int > s.Int",
    "t.Int < s.Other and s.Other <= t.Int",
    "t.Int < t.Other and t.Other < t.Int",
    "t.Int != t.Int",
    "t.Int < 0 and t.Int > 10",
    "t.Text = 'a' and t.Text = 'b'",
    "t.Flag = true and t.Flag = false",
    "t.Float = NaN and t.Float <= Infinity",
    "t.Day < '2020-01-01' and t.Day >= '2020-01-01' and t.Int = s.Int",
]
FINE = [
    "t.Int < s.Int and t.Int <= s.Int",
    "t.Int < s.Other and t.Other < s.Int",
    "t.Int > 0 and t.Int < 10 and t.Int != 5",
    "t.Int < 0 and s.Int > 10 and t.Day = s.Day",
    "t.Float = NaN and t.Float > 1",
    "t.Int = 1",
]


@pytest.mark.parametrize("body", NEVER)
def test_what_no_rows_can_violate_is_noted(body: str) -> None:
    assert (
        "no rows can violate this rule"
        in notes(DenialConstraint(check(parse(f"not({body})").predicates, SCHEMA)).predicates)[0]
    )


@pytest.mark.parametrize("body", FINE)
def test_nothing_to_note(body: str) -> None:
    assert notes(DenialConstraint(check(parse(f"not({body})").predicates, SCHEMA)).predicates) == []


def test_other_notes() -> None:
    assert notes(parse("not(t.A = t.A and t.B = 1)").predicates) == [
        "t.A = t.A compares a cell with itself: it is true wherever A is not null"
    ]
    assert "nothing relates t to s" in notes(parse("not(t.A = 1 and s.B = 2)").predicates)[0]
