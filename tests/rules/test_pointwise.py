"""The text form of pointwise order dependencies, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engines.registry import class_of_text
from holdfast.errors import BadInput
from holdfast.rules import registry
from holdfast.rules.pointwise import HINT, Pointwise, parse
from holdfast.search.queries import MIRRORED
from tests.rules.pointed import pointed

NAMES = ["State", "Zip", "Salary", "tax rate", 'say "x"']
operators = st.sampled_from([each for each in MIRRORED if each != "!="])


@st.composite
def rules(draw: st.DrawFn) -> Pointwise:
    columns = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    right, *left = [(name, draw(operators)) for name in columns]
    return Pointwise("", tuple(left), right)


@given(rules())
def test_a_text_parses_back(rule: Pointwise) -> None:
    assert registry.parse(rule.text) == rule
    assert registry.rule_type(rule.text) is Pointwise


@given(rules())
def test_of_two_mirror_images_one_is_the_rule(rule: Pointwise) -> None:
    parsed = parse(rule.text, NAMES, "")
    assert parsed == parse(rule.mirrored.text, NAMES, "")
    assert parsed.right[1] in ("<", "<=", "=")
    first = [operator for _, operator in parsed.left if operator != "="]
    assert parsed.right[1] != "=" or not first or first[0] in ("<", "<=")
    assert [name for name, _ in parsed.left] == sorted((name for name, _ in rule.left), key=NAMES.index)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{Zip=, Zip<} -> State=", "the column 'Zip' is there twice"),
        ("{Zip=} -> Zip=", "the column 'Zip' is there twice"),
        ("{Zip=} -> Town=", "there is no column 'Town'"),
    ],
)
def test_a_wrong_text_is_answered_in_one_sentence(text: str, wrong: str) -> None:
    with pytest.raises(BadInput) as error:
        parse(text, NAMES, "")
    assert str(error.value).startswith(f"{text!r}: {wrong}; ")


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("{Zip} -> State=", "}", "expected <, <=, =, >= or > after Zip"),
        ("{Zip!=} -> State=", "!=", "expected <, <=, =, >= or > after Zip"),
        ("{Zip=} -> State", "", "expected <, <=, =, >= or > after State"),
        ("{Zip=} -> State= and more", "and", "expected the end after ="),
    ],
)
def test_what_is_wrong_is_pointed_at(text: str, at: str, words: str) -> None:
    with pytest.raises(BadInput) as error:
        parse(text, NAMES, "")
    assert str(error.value) == pointed(f"{words}; {HINT}", text, at)


@pytest.mark.parametrize(
    ("text", "kind"),
    [("{Zip=} -> State=", "pod"), ("{} -> State=", "pod"), ("{Zip}: [] -> State", "od"), ("{A}: B ~ C", "od")],
)
def test_which_class_a_text_means(text: str, kind: str) -> None:
    declared = class_of_text(text)
    assert declared is not None
    assert declared.name == kind
