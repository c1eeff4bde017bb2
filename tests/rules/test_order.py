"""The text forms of canonical order dependencies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.rules import registry
from holdfast.rules.order import Compatible, ConstantOD, Direction, parse

names = st.one_of(st.sampled_from(["Zip", "desc", "in", "key", "é1", "a ~ b", "{", "not", "}:"]), st.text(max_size=4))
several = st.lists(names, min_size=2, max_size=5, unique=True)
directions: st.SearchStrategy[Direction] = st.sampled_from(["asc", "desc"])


@given(several)
def test_a_constant_reads_back(columns: list[str]) -> None:
    rule = ConstantOD("", tuple(columns[1:]), columns[0])
    assert registry.parse(str(rule)) == rule
    assert registry.rule_type(rule.text) is ConstantOD


@given(several, directions)
def test_a_pair_reads_back(columns: list[str], direction: Direction) -> None:
    rule = Compatible("", tuple(columns[2:]), (columns[0], columns[1]), direction)
    assert registry.parse(str(rule)) == rule
    assert registry.parse(rule.text).text == rule.text
    assert registry.rule_type(rule.text) is Compatible


def test_texts_and_objects() -> None:
    constant = ConstantOD("tax", ("Zip",), "State", tested_pairs=9)
    assert constant.text == "{Zip}: [] -> State"
    assert constant.to_json() == {
        "kind": "od",
        "table": "tax",
        "context": ["Zip"],
        "constant": "State",
        "error": 0.0,
        "tested_pairs": 9,
        "text": "{Zip}: [] -> State",
    }
    pair = Compatible("tax", ("State",), ("Salary", "Rate"), "desc")
    assert pair.text == "{State}: Salary ~ Rate desc"
    assert pair.to_json() == {
        "kind": "od",
        "table": "tax",
        "context": ["State"],
        "pair": ["Salary", "Rate"],
        "direction": "desc",
        "error": 0.0,
        "text": "{State}: Salary ~ Rate desc",
    }
    assert Compatible("t", (), ("education-num", 'say "hi"')).text == '{}: "education-num" ~ "say ""hi"""'


def test_columns_come_in_the_order_of_the_schema() -> None:
    schema = ["a", "b", "c", "desc"]
    assert parse("{c,b}:[]->a", schema, "") == ConstantOD("", ("b", "c"), "a")
    assert parse(" { } : b ~ a ", schema, "") == Compatible("", (), ("a", "b"))
    assert parse("{c}: b ~ a desc", schema, "") == Compatible("", ("c",), ("a", "b"), "desc")
    assert parse("{}: b desc ~ a", schema, "") == Compatible("", (), ("a", "b"), "desc")
    assert parse("{}: a desc ~ b desc", schema, "") == Compatible("", (), ("a", "b"))
    assert parse("{}: a ~ desc", schema, "") == Compatible("", (), ("a", "desc"))
    assert parse("{}: desc desc ~ a", schema, "") == Compatible("", (), ("a", "desc"), "desc")
    assert parse('{b}: a ~ "desc" desc', schema, "") == Compatible("", ("b",), ("a", "desc"), "desc")


@pytest.mark.parametrize(
    "text",
    ["", "{}", "{a}: b", "{a}: b ~", "{a}: [] ->", "{a: [] -> b", "a: [] -> b", "{a} [] -> b", "{a}: [b] -> c",
     "{a}: b ~ c d", "{a}: b ~ c asc", '{a}: b ~ c "desc"', "{a, a}: [] -> b", "{a}: [] -> a", "{a}: a ~ b",
     "{a}: b ~ b", "{a}: b ~ b desc", "{a,}: [] -> b", "{x}: [] -> a", "{}: a ~ x", "{a;b}: [] -> c",
     "{a}: [] -> b, c"],
)  # fmt: skip
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse(text, ["a", "b", "c"], "")
