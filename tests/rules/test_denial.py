"""The language of denial constraints: text to model and back, and errors that point at the character."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.rules.conditions import Cell, Comparison, swapped
from holdfast.rules.constants import TIME_TYPES, Constant
from holdfast.rules.denial import DenialConstraint
from holdfast.search.queries import MIRRORED, Operator

parse = DenialConstraint.parse

# ---- any constraint -------------------------------------------------------------------------------------------------

_ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: dt.timezone(dt.timedelta(minutes=minutes)))
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.decimals(allow_nan=False, allow_infinity=False, places=3),
    st.sampled_from([Decimal("1E+400"), Decimal("-1E-400"), Decimal("NaN"), Decimal("-Infinity"), Decimal("-0.0")]),
    st.text(max_size=6),
    st.booleans(),
    st.dates(),
    st.datetimes(timezones=st.none() | _ZONES),
    st.times(),
)
COLUMNS = st.sampled_from(["A", "B", "and", "nan", "DATE", "First Name", "1st", 'a"b', "a`b", "a.b", "", "é", "名"])
CELLS = st.builds(Cell, st.sampled_from(["t", "s"]), COLUMNS | st.text(max_size=4))
OPERATORS = st.sampled_from(get_args(Operator))
PREDICATES = st.builds(Comparison, CELLS, OPERATORS, CELLS | st.builds(Constant, VALUES))
CONSTRAINTS = st.lists(PREDICATES, min_size=1, max_size=5).map(lambda each: DenialConstraint(tuple(each)))


@given(CONSTRAINTS)
def test_every_constraint_parses_back(constraint: DenialConstraint) -> None:
    assert parse(constraint.text).predicates == constraint.predicates
    assert parse(constraint.text).text == constraint.text
    assert DenialConstraint.means(constraint.text)


@given(CONSTRAINTS)
def test_constraints_are_in_normal_form(constraint: DenialConstraint) -> None:
    for predicate in constraint.predicates:
        rows = [cell.row for cell in predicate.cells]
        assert rows != ["s", "t"]
    mentioned = {cell.row for predicate in constraint.predicates for cell in predicate.cells}
    assert mentioned != {"s"}
    assert constraint.is_single == (mentioned == {"t"})
    said = [predicate.canonical for predicate in constraint.predicates]
    assert len(set(said)) == len(said)
    assert DenialConstraint(constraint.predicates) == constraint


@given(CONSTRAINTS)
def test_a_constraint_and_its_swap_are_symmetric_together(constraint: DenialConstraint) -> None:
    other = DenialConstraint(tuple(map(swapped, constraint.predicates)))
    both = DenialConstraint((*constraint.predicates, *map(swapped, constraint.predicates)))
    assert other.is_symmetric == constraint.is_symmetric
    assert both.is_symmetric


@given(st.text(alphabet="ts.A'\"`=<>!()&, 0-1eand|¬", max_size=30))
def test_any_text_parses_or_is_refused_with_a_pointer(text: str) -> None:
    for rule in (text, f"not({text})"):
        answer = _answer(rule)
        if isinstance(answer, str):
            assert answer.splitlines()[-1].strip() == "^"
        else:
            assert parse(answer.text) == answer


def _answer(rule: str) -> DenialConstraint | str:
    try:
        return parse(rule)
    except BadInput as error:
        return str(error)


# ---- forms ----------------------------------------------------------------------------------------------------------

FORMS = [
    ("not(t.State = s.State and t.Salary > s.Salary)", "not(t.State = s.State and t.Salary > s.Salary)"),
    ("!(t.State == s.State & t.Salary > s.Salary)", "not(t.State = s.State and t.Salary > s.Salary)"),
    ("  NOT ( t.A = s.A AND t.B != s.B )\n", "not(t.A = s.A and t.B != s.B)"),
    (
        "¬(t.A ≠ s.A ∧ t.B ≤ s.B && t.C ≥ s.C, t.D <> s.D)",
        "not(t.A != s.A and t.B <= s.B and t.C >= s.C and t.D != s.D)",
    ),
    ("not((t.A = s.A) and ((t.B < s.B and t.C > s.C)))", "not(t.A = s.A and t.B < s.B and t.C > s.C)"),
    # rows
    ("not(t1.A = t2.A)", "not(t.A = s.A)"),
    ("not(t0.A < t1.A)", "not(t.A < s.A)"),
    ("not(t2.A < t1.A)", "not(t.A > s.A)"),
    ("not(s.A < t.B)", "not(t.B > s.A)"),
    ("not(T.A = S.A)", "not(t.A = s.A)"),
    ("not(s.A < 1)", "not(t.A < 1)"),
    ("not(t2.A < t2.B)", "not(t.A < t.B)"),
    ("not(t.B > t.A)", "not(t.B > t.A)"),
    # constants
    ("not(0 > t.Age)", "not(t.Age < 0)"),
    ("not('paid' = t.Status)", "not(t.Status = 'paid')"),
    ("not(t.A = 'it''s')", "not(t.A = 'it''s')"),
    ("not(t.A=-1.50 and t.B=+2 and t.C=.5 and t.D=3.)", "not(t.A = -1.50 and t.B = 2 and t.C = 0.5 and t.D = 3)"),
    ("not(t.A>1E3 and t.B<-inf and t.C=nan)", "not(t.A > 1000.0 and t.B < -Infinity and t.C = NaN)"),
    ("not(t.A = -0 and t.B = -0.0 and t.C = -0e0)", "not(t.A = 0 and t.B = 0.0 and t.C = 0.0)"),
    ("not(t.A = TRUE and t.B != False)", "not(t.A = true and t.B != false)"),
    ("not(t.A = date'2020-01-31')", "not(t.A = DATE '2020-01-31')"),
    ("not(t.A = timestamp '2020-01-31T10:00')", "not(t.A = TIMESTAMP '2020-01-31 10:00:00')"),
    ("not(t.A = TIMESTAMP '2020-01-31 10:00:00.5Z')", "not(t.A = TIMESTAMP '2020-01-31 10:00:00.500000+00:00')"),
    ("not(t.A = TIME '10:30')", "not(t.A = TIME '10:30:00')"),
    # names
    ('not(t."First Name" = s.`First Name`)', 'not(t."First Name" = s."First Name")'),
    ('not(t."a""b" = s.`a``b`)', 'not(t."a""b" = s."a`b")'),
    ('not(t."A" = s . A)', "not(t.A = s.A)"),
    ("not(t.not = s.and and t.nan = t.inf)", "not(t.not = s.and and t.nan = t.inf)"),
    ("not(t.Größe = s.名)", "not(t.Größe = s.名)"),
    # what is said twice
    ("not(t.A = s.A and s.A = t.A and t.A == s.A)", "not(t.A = s.A)"),
    ("not(t.A < t.B and t.B > t.A)", "not(t.A < t.B)"),
    ("not(t.A > s.B and t.C = 1 and s.B < t.A and 1 = t.C)", "not(t.A > s.B and t.C = 1)"),
    ("not(t.A = s.B and t.B = s.A)", "not(t.A = s.B and t.B = s.A)"),
    ("not(t.A = 1 and t.A = true)", "not(t.A = 1 and t.A = true)"),
    ("not(t.A = t.A)", "not(t.A = t.A)"),
]


@pytest.mark.parametrize(("text", "canonical"), FORMS, ids=[text for text, _ in FORMS])
def test_forms(text: str, canonical: str) -> None:
    assert parse(text).text == canonical
    assert str(parse(canonical)) == canonical


TRAITS = [
    ("not(t.A = s.A)", True, False, ("A",)),
    ("not(t.A = s.A and t.B != s.B)", True, False, ("A", "B")),
    ("not(t.A = s.A and t.B < s.B)", False, False, ("A", "B")),
    ("not(t.origin = s.destination and t.destination = s.origin)", True, False, ("origin", "destination")),
    ("not(t.origin = s.destination)", False, False, ("origin", "destination")),
    ("not(t.A < s.B and t.B > s.A)", True, False, ("A", "B")),
    ("not(t.A = s.A and t.B = 1)", False, False, ("A", "B")),
    ("not(t.A = s.A and t.B = 1 and s.B = 1)", True, False, ("A", "B")),
    ("not(t.A = 1 and s.B = 2)", False, False, ("A", "B")),
    ("not(t.A < t.B)", False, True, ("A", "B")),
    ("not(t.B < 0)", False, True, ("B",)),
]


@pytest.mark.parametrize(("text", "symmetric", "single", "columns"), TRAITS, ids=[each[0] for each in TRAITS])
def test_traits(text: str, symmetric: bool, single: bool, columns: tuple[str, ...]) -> None:
    constraint = parse(text)
    assert (constraint.is_symmetric, constraint.is_single, constraint.columns) == (symmetric, single, columns)


def test_mirrored_operators_say_the_same() -> None:
    for operator, mirror in MIRRORED.items():
        assert MIRRORED[mirror] == operator
        assert parse(f"not(1 {operator} t.A)").text == f"not(t.A {mirror} 1)"


def test_numbers_are_exact() -> None:
    values = [
        each.right.value
        for each in parse("not(t.A = 0.1 and t.A = 9007199254740993 and t.A = 1e2)").predicates
        if isinstance(each.right, Constant)
    ]
    assert values == [Decimal("0.1"), 9007199254740993, 100.0]
    assert [type(value) for value in values] == [Decimal, int, float]


def test_constants_are_equal_where_their_texts_are() -> None:
    assert Constant(0.1) == Constant(Decimal("0.1"))
    assert Constant(math.nan) == Constant(-math.nan)
    assert Constant(1) != Constant(True)
    assert Constant("1") != Constant(1)
    assert Constant(-0.0) == Constant(0.0)
    assert len({Constant(1.5), Constant(Decimal("1.5")), Constant(2)}) == 2


def test_a_constraint_needs_a_predicate() -> None:
    with pytest.raises(BadInput, match="at least one predicate"):
        DenialConstraint(())


@pytest.mark.parametrize("text", ["not(x)", " NOT (", "!x", "¬(", "not"])
def test_what_sets_out_to_be_a_denial_constraint(text: str) -> None:
    assert DenialConstraint.means(text)


@pytest.mark.parametrize("text", ["Zip -> State", "key(A, B)", "notes.a in t.b", "{A}: [] -> B", "", "t.A = s.A"])
def test_what_does_not(text: str) -> None:
    assert not DenialConstraint.means(text)


def test_dates_and_times_are_read_in_one_form() -> None:
    date, timestamp, time = (TIME_TYPES[kind].read for kind in ("date", "timestamp", "time"))
    assert date("2020-02-29") == dt.date(2020, 2, 29)
    assert [date(text) for text in ("2021-02-29", "20200131", "2020-1-31", "2020-01-31 ", "")] == [None] * 5
    assert timestamp("2020-01-31") == dt.datetime(2020, 1, 31)
    assert [timestamp(text) for text in ("2020-01-31 24:01", "2020-01-31  10:00", "now")] == [None] * 3
    assert time("23:59:59.000001") == dt.time(23, 59, 59, 1)
    assert [time(text) for text in ("24:01", "10", "1:30")] == [None] * 3


# ---- errors point at the character ----------------------------------------------------------------------------------

ERRORS = [
    ("not(t.State = s.State and t.Salary s.Salary)", "s.Salary)", "expected an operator after t.Salary"),
    ("", "", "a denial constraint starts with not( …"),
    ("t.A = s.A", "t.A = s.A", "a denial constraint starts with not( …"),
    ("not", "", "expected ( after not"),
    ("not t.A = s.A", "t.A =", "expected ( after not"),
    ("!", "", "expected ( after !"),
    ("not()", ")", "expected a cell such as t.Age, or a constant, after ("),
    ("not(t.A", "", "expected an operator after t.A"),
    ("not(t.A =", "", "expected a cell such as t.Age, or a constant, after ="),
    ("not(t.A = s.A", "", "expected ) after s.A: a parenthesis is not closed"),
    ("not((t.A = s.A)", "", "expected ) after ): a parenthesis is not closed"),
    ("not(t.A = s.A and", "", "expected a cell such as t.Age, or a constant, after and"),
    ("not(t.A = s.A,)", ")", "expected a cell such as t.Age, or a constant, after ,"),
    ("not(t.A = s.A and and t.B = 1)", "and t.B", "expected a cell such as t.Age, or a constant"),
    ("not(t.A = s.A t.B = s.B)", "t.B", "expected and or ) after s.A"),
    ("not(t.A < s.A < 5)", "< 5", "expected and or ) after s.A"),
    ("not(t.A = s.A))", ")", "expected nothing after the closing )"),
    ("not(t.A = s.A) and t.B = 1", "and", "expected nothing after the closing )"),
    ("not(t.A = s.A or t.B = s.B)", "or", "has no or;"),
    ("not(t.A = s.A || t.B = s.B)", "||", "has no or;"),
    ("not(t.A = s.A and not(t.B = s.B))", "not(t.B", "not may stand only in front"),
    ("not(t.A => 5)", "> 5", "expected a cell such as t.Age, or a constant, after ="),
    ("not(t.A is null)", "is", "there is no operator is"),
    ("not(t.A in ('x'))", "in", "there is no operator in"),
    ("not(t.A = null)", "null", "a comparison with null is never true"),
    ("not(t.A = 'x)", "'x)", "this text is not closed"),
    ("not(t.A = 'it''s)", "'it''s)", "this text is not closed"),
    ('not(t."A = 1)', '"A = 1)', 'this column name is not closed; end it with "'),
    ("not(t.`A = 1)", "`A = 1)", "this column name is not closed; end it with `"),
    ('not(t.A = "paid")', '"paid"', "text goes in single quotes"),
    ("not(t. = 1)", "= 1", "expected a column after t."),
    ("not(t.1st = 1)", "1st", "expected a column after t."),
    ("not(t.a-b = 1)", "-b", "a denial constraint has no arithmetic"),
    ("not(t.A * 2 = 1)", "* 2", "a denial constraint has no arithmetic"),
    ("not(t.A = #)", "#", "unexpected '#'"),
    ("not(t.State = Alaska)", "Alaska)", "or s.Alaska for a column, and 'Alaska', in quotes, for a text"),
    ("not(t.State = New York and t.A = 1)", "New York", "and 'New York', in quotes, for a text"),
    ("not(Salary > 5)", "Salary", "expected a cell or a constant; write t.Salary or s.Salary"),
    ("not(t.A = DATE)", "DATE)", "expected a cell or a constant"),
    ("not(x.A = 1)", "x.A", "there is no row x"),
    ("not(t.A = t2.A)", "t2", "the rows t and t2 don't go together"),
    ("not(t1.A = t2.A and t0.B = 1)", "t0", "the rows t2 and t0 don't go together"),
    ("not(1 = 2)", "1 = 2", "both sides are constants"),
    ("not(t.A = DATE '2020-13-01')", "'2020-13-01'", "'2020-13-01' is not a date; write it as DATE 'YYYY-MM-DD'"),
    ("not(t.A = TIMESTAMP 'now')", "'now'", "'now' is not a timestamp"),
    ("not(t.A = TIME '25:00')", "'25:00'", "'25:00' is not a time"),
    ("not(t.A = 1e999)", "1e999", "this number is too large or too small"),
    ("not(t.A = 1e-999)", "1e-999", "this number is too large or too small"),
    ("not(t.A = " + "9" * 5000 + ")", "999", "this number is too large or too small"),
    ("not" + "(" * 60, "(" * 10, "too many nested parentheses"),
]


@pytest.mark.parametrize(("text", "rest", "sentence"), ERRORS, ids=[text[:40] for text, _, _ in ERRORS])
def test_errors_point_at_the_character(text: str, rest: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse(text)
    said, shown, caret = str(caught.value).split("\n")
    assert said.startswith(sentence) or sentence in said
    assert shown == f"  {text}"
    assert caret.strip() == "^"
    pointed = shown[caret.index("^") :]
    assert pointed.startswith(rest) if rest else pointed == ""


def test_a_rule_of_several_lines_is_shown_on_one_and_wide_letters_take_two_places() -> None:
    with pytest.raises(BadInput) as caught:
        parse("not(t.A =\n\ts.A and\nt.名 s.B)")
    assert str(caught.value).split("\n")[1:] == ["  not(t.A =  s.A and t.名 s.B)", "  " + " " * 24 + "^"]
