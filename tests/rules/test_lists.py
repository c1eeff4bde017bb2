"""The texts of list order dependencies: to a value and back, and what is wrong in a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engines.registry import class_of_text, given_class
from holdfast.errors import BadInput
from holdfast.rules.lists import ListOD, SortColumn
from tests.rules.pointed import pointed

names = st.one_of(st.sampled_from(["A", "desc", "asc", "orders", 'a"b', "First Name", "[x]", ""]), st.text(max_size=4))
columns = st.builds(SortColumn, names, st.booleans())
lists = st.lists(columns, max_size=4).map(tuple)
rules = st.builds(ListOD, lists, st.lists(columns, min_size=1, max_size=4).map(tuple))


@given(rules)
def test_a_text_parses_back(rule: ListOD) -> None:
    assert ListOD.parse(rule.text) == rule
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
    assert ListOD.parse(text).text == canonical


QUOTE = "; put names that aren't plain words in double quotes"
HINT = "; write [A, B desc] orders [C]"


def test_what_says_nothing() -> None:
    with pytest.raises(BadInput) as error:
        ListOD.parse("[A] orders []")
    assert str(error.value) == "'[A] orders []': the list on the right is empty, so it says nothing; name a column"


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("[A orders [B]", "orders", "expected , or ] after A" + HINT),
        ("[A] [B]", "[B]", "expected orders after ]" + HINT),
        ("[A] orders [B], [C]", ", [C]", "expected the end after ]" + HINT),
        ("[A,] orders [B]", "]", "expected a column name after ," + HINT),
        ("[A] orders [B", "", "expected , or ] after B" + HINT),
        ("[First Name] orders [B]", "Name", "expected , or ] after First" + HINT),
        (
            "[A-B] orders [C]",
            "-B",
            "expected , or ] after A" + QUOTE + HINT,
        ),
        ("[A;B] orders [C]", ";B", "unexpected ';'" + QUOTE + HINT),
    ],
)
def test_what_is_wrong(text: str, at: str, words: str) -> None:
    with pytest.raises(BadInput) as error:
        ListOD.parse(text)
    assert str(error.value) == pointed(words, text, at)
