"""The text of a dependency names it and parses back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.rules.inclusion import IND, Side, parse
from tests.rules.pointed import pointed

names = st.text(max_size=8) | st.sampled_from(
    ["id", "l_partkey", "in", "not", "a -> b", "key(", 'say "hi"', "a.b", "a b", "(", "1st"]
)
sides = st.integers(1, 3).flatmap(
    lambda n: st.tuples(*(st.builds(Side, names, st.tuples(*[names] * n)) for _ in range(2)))
)


@given(sides)
def test_text_parses_back(pair: tuple[Side, Side]) -> None:
    ind = IND(*pair)
    assert parse(ind.text) == ind


def test_texts() -> None:
    one = IND(Side("orders", ("cust",)), Side("customers", ("id",)))
    assert one.text == "orders.cust in customers.id"
    assert one.to_json() == {
        "kind": "ind",
        "dependent": ["orders", "cust"],
        "referenced": ["customers", "id"],
        "value_coverage": 1.0,
        "row_coverage": 1.0,
        "missing_values": 0,
        "missing_rows": 0,
        "text": "orders.cust in customers.id",
    }
    two = parse(' lineitem( l_partkey ,l_suppkey)  in partsupp(ps_partkey, "ps suppkey") ')
    assert two.text == 'lineitem(l_partkey, l_suppkey) in partsupp(ps_partkey, "ps suppkey")'


HINT = "; write orders.cust in customers.id, or orders(a, b) in customers(c, d)"


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("", "", "expected a column name"),
        ("a.b", "", "expected in after b"),
        ("a.b in c", "", "expected . or ( after c"),
        ("a.b in c.d.e", ".e", "expected the end after d; put names that aren't plain words in double quotes"),
        ("a() in b()", ")", "expected a column name after ("),
        ("a.b subset c.d", "subset", "expected in after b"),
    ],
)
def test_what_is_no_dependency_is_refused(text: str, at: str, words: str) -> None:
    with pytest.raises(BadInput) as error:
        parse(text)
    assert str(error.value) == pointed(words + HINT, text, at)


def test_as_many_columns_on_both_sides() -> None:
    with pytest.raises(BadInput, match="the two sides differ in their number of columns"):
        parse("a(b, c) in d(e)")
