"""The given rule that a found rule becomes, and the denial constraint that a rule is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.rules.promotion import as_given, denial_of
from holdfast.rules.registry import parse
from holdfast.rules.rule import Rule
from holdfast.table.nulls import Nulls
from tests.rules.some import COLUMNS, Row, broken, denials, dependencies, list_rules, pairs, pointwise_rules


@pytest.mark.parametrize(
    ("text", "given_text", "ordered"),
    [
        ("a -> b", "a -> b", ()),
        ("key(a)", "key(a)", ()),
        ("x.a in y.b", "x.a in y.b", ()),
        ("[a] orders [b]", "[a] orders [b]", ()),
        ("{a}: [] -> b", "a -> b", ()),
        ("{}: [] -> b", "not(t.b != s.b)", ()),
        ("{a=, c=} -> b=", "a, c -> b", ()),
        ("{State}: Salary ~ Rate", "not(t.State = s.State and t.Salary < s.Salary and t.Rate > s.Rate)",
         ("Salary", "Rate")),
        ("{a<=, c=} -> b=", "not(t.a <= s.a and t.c = s.c and t.b != s.b)", ("a",)),
        ("{a}: [] -> b where t.c like 'x%'", "a -> b where t.c like 'x%'", ()),
        ("{}: a ~ b where t.c = 1", "not(t.c = 1 and s.c = 1 and t.a < s.a and t.b > s.b)", ("a", "b")),
    ],
)  # fmt: skip
def test_found_rules_as_given_ones(text: str, given_text: str, ordered: tuple[str, ...]) -> None:
    rule, columns = as_given(parse(text))
    assert (rule.text, columns) == (given_text, ordered)
    assert parse(rule.text) == rule


def test_what_no_denial_constraint_can_say() -> None:
    for text in ("x.a in y.b", "rows > 5", "t.a + t.b < 5", "key()", "[a, b] orders [c]"):
        assert denial_of(parse(text)) is None
    with pytest.raises(BadInput, match="can't be written as"):
        as_given(parse("{}: a ~ b where t.c like 'x%'"))


values = st.integers(0, 2)  # of nulls denial constraints have a meaning of their own


@settings(max_examples=300, deadline=None)
@given(
    rule=st.one_of(*(each(COLUMNS) for each in (dependencies, pairs, pointwise_rules, list_rules, denials))),
    rows=st.lists(st.tuples(values, values, values), max_size=4),
)
def test_the_denial_constraint_is_broken_by_the_same_rows(rule: Rule, rows: list[Row]) -> None:
    denial = denial_of(rule)
    if denial is None:
        return
    own, other = (broken(each, dict(enumerate(rows)), Nulls.EQUAL) for each in (rule, denial))
    assert set(map(frozenset, own)) == set(map(frozenset, other))
