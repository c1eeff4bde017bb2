"""The language of rules about one row: text to model and back, and errors that point at the character."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.registry import class_of_text, given_class
from holdfast.errors import BadInput
from holdfast.rules.conditions import (
    Arithmetic,
    Between,
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
from holdfast.rules.constants import Constant
from holdfast.rules.measure import TableRule
from holdfast.rules.registry import parse as parse_rule
from holdfast.rules.registry import rule_type
from holdfast.rules.row import RowRule
from holdfast.rules.terms import names_of


def parse(text: str) -> Condition:
    return RowRule.parse(text).condition


def canonical(text: str) -> str:
    return parse_rule(text).text


# ---- any condition --------------------------------------------------------------------------------------------------

NAMES = st.one_of(
    st.sampled_from(["Age", "in", "is", "not", "t", "null", "first name", 'a"b', "a'b", "x -> y", "é", "or"]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5),
)
CONSTANTS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.decimals(-1000, 1000, places=3),
    st.integers(-(10**38), 10**38).map(lambda unscaled: Decimal(f"{unscaled}e-6")),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.booleans(),
    st.dates(dt.date(1, 1, 1)),
    st.datetimes(),
    st.times(),
).map(Constant)
CELLS = NAMES.map(of_t)
NUMERALS = st.one_of(st.integers(-9, 9), st.decimals(-9, 9, places=1), st.floats(-9, 9)).map(Constant)
SIGNS = st.sampled_from(["+", "-", "*", "/"])
OPERANDS: st.SearchStrategy[Operand] = st.recursive(
    st.one_of(CELLS, NUMERALS), lambda inner: st.builds(Arithmetic, inner, SIGNS, inner), max_leaves=5
)
WITH_CELLS = OPERANDS.filter(lambda operand: bool(names_of(operand)))
PATTERNS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
OPERATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
ENDS = st.one_of(OPERANDS, CONSTANTS)
SIMPLE: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Comparison, WITH_CELLS, OPERATORS, st.one_of(OPERANDS, CONSTANTS)),
    st.builds(Comparison, CONSTANTS, OPERATORS, WITH_CELLS),
    st.builds(IsNull, WITH_CELLS, negated=st.booleans()),
    st.builds(OneOf, WITH_CELLS, st.lists(CONSTANTS, min_size=1, max_size=3).map(tuple), negated=st.booleans()),
    st.builds(
        Between, WITH_CELLS, st.one_of(OPERANDS, CONSTANTS), st.one_of(OPERANDS, CONSTANTS), negated=st.booleans()
    ),
    st.builds(Like, WITH_CELLS, PATTERNS, st.just(""), negated=st.booleans()),
    st.builds(Like, WITH_CELLS, st.sampled_from(["a!%", "!!", ""]), st.just("!"), negated=st.booleans()),
    st.builds(Matches, WITH_CELLS, PATTERNS, negated=st.booleans()),
)


def _combined(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(several.map(Every), several.map(Either))


CONDITIONS: st.SearchStrategy[Condition] = st.recursive(SIMPLE, _combined, max_leaves=5)


@settings(max_examples=200)
@given(CONDITIONS)
def test_a_text_reads_back(condition: Condition) -> None:
    assert parse(condition.text) == condition
    assert canonical(condition.text) == condition.text


@settings(max_examples=200)
@given(CONDITIONS)
def test_a_text_is_known_for_what_it_is(condition: Condition) -> None:
    found = given_class(condition.text)
    assert found is not None
    assert found.name == "row"


@settings(max_examples=200)
@given(CONDITIONS)
def test_not_is_gone(condition: Condition) -> None:
    assert parse(f"not ({condition.text})") == condition.opposite
    assert parse(f"NOT NOT ({condition.text})") == condition


# ---- some conditions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("T.Phone IS NOT NULL", "t.Phone is not null"),
        ("t.State in('NY' , 'CA')", "t.State in ('NY', 'CA')"),
        ("0<t.Age", "t.Age > 0"),
        ("t.A <> 5 && t.B == 1 || t.C ≤ 2", "(t.A != 5 and t.B = 1) or t.C <= 2"),
        ("t.A-1 = -1", "t.A - 1 = -1"),
        ("-t.A < 5", "0 - t.A < 5"),
        ("t.A - (t.B - t.C) = (t.A - t.B) - t.C", "t.A - (t.B - t.C) = t.A - t.B - t.C"),
        ("(t.A + 1) * 2 not between (1) and ((t.B))", "(t.A + 1) * 2 not between 1 and t.B"),
        ("((t.A = 1)) and ((t.B = 2) and t.C = 3)", "t.A = 1 and t.B = 2 and t.C = 3"),
        ("not (t.A = 1 or not t.B like '%')", "t.A != 1 and t.B like '%'"),
        ("not t.A in (-1, 1)", "t.A not in (-1, 1)"),
        ('t.`a b` = t."c""d"', 't."a b" = t."c""d"'),
        ("t.A like 'it''s%'", "t.A like 'it''s%'"),
        ("t.Day <= date '2030-01-01'", "t.Day <= DATE '2030-01-01'"),
        ("t.A = -Infinity", "t.A = -Infinity"),
        (f"t.A in (-{'9' * 32}.999999, --1)", f"t.A in (-{'9' * 32}.999999, 1)"),  # Python's - rounds to 28 digits
        (f"t.A > -{'9' * 40}.5", f"t.A > -{'9' * 40}.5"),
    ],
)
def test_texts_have_one_form(text: str, written: str) -> None:
    assert canonical(text) == written


def test_columns_come_in_the_order_of_mention() -> None:
    assert RowRule(parse("t.B + t.A > 1 or t.C is null or t.A = t.D")).columns == ("B", "A", "C", "D")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("t.n in u.m", "reference"),
        ("t.n IN u.m", "reference"),
        ("orders.cust in customers.id", "reference"),
        ("not(t.Age < 0)", "dc"),
        ("not(t.Age < -1 and t.B = 2)", "dc"),
        ("not(t.A = s.A and t.B + 1 > s.B)", "dc"),
        ("!(t.A = 1e-5)", "dc"),
        ("not(t.is = 1)", "dc"),
        ("Zip -> State", "named"),
        ("key(t)", "named"),
        ("[Year] orders [Bin]", "lod"),
        ("not (t.A = 1 or t.B = 2)", "row"),
        ("not(t.A - 1 < 0)", "row"),
        ("not t.A = 1", "row"),
        ("not(t.A = 1) and t.B = 2", "row"),
        ("t.A like 'a in b'", "row"),
        ("t.A = '->'", "row"),
    ],
)
def test_other_classes_keep_their_texts(text: str, name: str) -> None:
    found = given_class(text)
    assert found is not None
    assert found.name == name
    assert RowRule.means(text) == (name == "row")
    if name == "row":
        assert class_of_text(text) == found


# ---- errors point at the character ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence", "at"),
    [
        ("t.a = ", "expected a cell such as t.Age, or a constant, after =", 5),
        ("t.a", "expected an operator after t.a", 3),
        ("t.a in ()", "expected a cell such as t.Age, or a constant, after (", 8),
        ("t.a in ('x' 'y')", "expected ) after 'x'", 12),
        ("u.a = 1 and t.b = 2", "there is no row u; in a rule about one row it is called t", 0),
        ("t.a = null", "write is null, or is not null", 6),
        ("t.a = 1 and 1 = 2", "there is no column in this comparison", 12),
        ("5 between t.a and t.b", "between needs a column before it", 2),
        ("t.a = paid", "write t.paid for a column, and 'paid' for a text", 6),
        ("t.a = 'x", "this text is not closed", 6),
        ('t.a = "x"', "text goes in single quotes", 6),
        ("t.a like 5", "expected a pattern in single quotes after like", 9),
        ("t.a like 'x' escape 'ab'", "escape takes one character", 20),
        ("t.a like 'a!b' escape '!'", "in the pattern, ! may stand only before %, _ or itself", 22),
        ("(t.a = 1", "a parenthesis is not closed", 8),
        ("t.a = 1)", "expected and, or, or the end after 1", 7),
        ("t.a is 5", "expected null after is", 7),
        ("t.a between 1 or 2", "between has two ends", 14),
        ("t.a in (-'x')", "expected a number after -", 8),
        ("t. = 1", "expected a column after t.", 3),
        ("t.a = DATE '2020-13-01'", "is not a date; write it as DATE 'YYYY-MM-DD'", 11),
        ("t.a = 1e999", "this number is too large or too small", 6),
        ("t.a # 5", "unexpected '#'", 4),
        ("t.a = 0" + " + 1" * 101, "there are more than 100 operators of arithmetic", 408),
        ("(" * 60 + "t.a = 1" + ")" * 60, "nested too deep; write several rules", 50),
        ("t.a in (" + "-" * 1000 + "1)", "nested too deep; write several rules", 58),
        ("t.a = " + "-" * 1000 + "1", "nested too deep; write several rules", 56),
        ("not " * 1000 + "t.a = 1", "nested too deep; write several rules", 200),
    ],
)
def test_errors_point_at_the_character(text: str, sentence: str, at: int) -> None:
    with pytest.raises(BadInput) as error:
        parse(text)
    first, shown, mark = str(error.value).split("\n")
    assert sentence in first
    assert shown == f"  {text.strip()}"
    assert mark.index("^") - 2 == at


_KEYWORDS = ["and", "or", "not", "is", "null", "in", "between", "like", "matches", "escape", "DATE", "true", "key"]
_MARKS = ["(", ")", "=", "<", "+", "-", "*", "/", ",", ".", "!", "->", "#", "'"]
_OPERANDS = ["t.a", "t.b", "u.b", "s.a", "a", "1", "5e3", "'x'", '"q"', "`r`", "rows", "share(", "min("]
WORDS = st.sampled_from([*_KEYWORDS, *_MARKS, *_OPERANDS])


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_any_text_is_read_or_refused_in_a_sentence(text: str) -> None:
    found = class_of_text(text)
    assert (found is None) == (rule_type(text) is None)
    for read in (parse, TableRule.parse, parse_rule):
        with suppress(BadInput):
            assert read(read(text).text) == read(text)


def test_constants_are_as_they_were_written() -> None:
    found: Any = parse("t.a in (1, 1.50, 2e3, 'x', true)")
    assert [value.value for value in found.values] == [1, Decimal("1.50"), 2000.0, "x", True]
