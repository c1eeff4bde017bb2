"""The texts of list order dependencies: to a model and back, and what is wrong in a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engines.registry import class_of_text, given_class
from holdfast.errors import BadInput
from holdfast.rules.lists import ListOD, SortColumn, parse

names = st.one_of(st.sampled_from(["A", "desc", "asc", "orders", 'a"b', "First Name", "[x]", ""]), st.text(max_size=4))
columns = st.builds(SortColumn, names, st.booleans())
lists = st.lists(columns, max_size=4).map(tuple)
rules = st.builds(ListOD, lists, st.lists(columns, min_size=1, max_size=4).map(tuple))


@given(rules)
def test_a_text_parses_back(rule: ListOD) -> None:
    assert parse(rule.text) == rule
    declared = given_class(rule.text)
    assert declared is not None
    assert declared.name == "lod"
    assert class_of_text(rule.text) is declared


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("[Year,Salary DESC] ORDERS [ Year asc , Bin ]", "[Year, Salary desc] orders [Year, Bin]"),
        ("[]orders[Country]", "[] orders [Country]"),
        ('["First Name" desc] orders [desc desc]', '["First Name" desc] orders [desc desc]'),
        ("[A, A desc] orders [A desc]", "[A, A desc] orders [A desc]"),
    ],
)
def test_one_writing(text: str, canonical: str) -> None:
    assert parse(text).text == canonical


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[A] orders []", "the list on the right is empty"),
        ("[A orders [B]", "expected ']' where 'orders' stands"),
        ("[A] [B]", "expected 'orders' where '[' stands"),
        ("[A] orders [B], [C]", "expected the end where ',' stands"),
        ("[A,] orders [B]", "expected a column name where ']' stands"),
        ("[A] orders [B", "expected ']' at the end; write [A, B desc] orders [C]"),
        ("[First Name] orders [B]", "expected ']' where 'Name' stands"),
        ("[A-B] orders [C]", "put names that aren't plain words in double quotes"),
    ],
)
def test_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(BadInput) as error:
        parse(text)
    assert words in str(error.value)
