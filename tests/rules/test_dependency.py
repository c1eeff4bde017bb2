"""The text forms of FDs and keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.rules import registry
from holdfast.rules.dependency import FD, Key, parse

names = st.one_of(
    st.sampled_from(["Zip", "key", "é1", "_", "not", "Not", "a -> b", "not(", "key(a)"]), st.text(max_size=4)
)
some_names = st.lists(names, max_size=4, unique=True)


@given(some_names, names)
def test_an_fd_reads_back(lhs: list[str], rhs: str) -> None:
    fd = FD("", tuple(name for name in lhs if name != rhs), rhs)
    assert registry.parse(str(fd)) == fd
    assert registry.rule_type(fd.text) is FD


@given(some_names)
def test_a_key_reads_back(columns: list[str]) -> None:
    key = Key("", tuple(columns))
    assert registry.parse(key.text) == key
    assert registry.rule_type(key.text) is Key


def test_texts_and_objects() -> None:
    assert FD("tax", ("City", "Street"), "Zip").text == "City, Street -> Zip"
    assert FD("tax", (), "Country").text == "() -> Country"
    assert FD("adult", ("education-num",), 'say "hi"').text == '"education-num" -> "say ""hi"""'
    assert Key("tax", ("AreaCode", "Phone")).to_json() == {
        "kind": "ucc",
        "table": "tax",
        "columns": ["AreaCode", "Phone"],
        "text": "key(AreaCode, Phone)",
    }
    assert FD("tax", ("Zip",), "State").to_json() == {
        "kind": "fd",
        "table": "tax",
        "lhs": ["Zip"],
        "rhs": "State",
        "error": 0.0,
        "text": "Zip -> State",
    }
    assert Key("tax", ("Zip",), error=0.25).to_json()["error"] == 0.25


def test_columns_come_in_the_order_of_the_schema() -> None:
    schema = ["a", "b", "c"]
    assert parse("c,a->b", schema, "") == FD("", ("a", "c"), "b")
    assert parse(" key( c , a ) ", schema, "") == Key("", ("a", "c"))
    assert parse("->b", schema, "") == FD("", (), "b")


@pytest.mark.parametrize(
    "text",
    ["", "a", "a ->", "a b -> c", "a -> b, c", "a, -> b", "key(a", "key(a) b", "a, a -> b", "key(a, a)", "a -> a",
     "a; b -> c", '"a -> b', "(a) -> b", "key(a,)", "x -> a"],
)  # fmt: skip
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse(text, ["a", "b", "c"], "")
