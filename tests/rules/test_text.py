"""Every rule has one text, which reads back as the same rule, also with `where`; and other names change it so."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.rules.conditions import Arithmetic, Comparison, of_t
from holdfast.rules.constants import Constant
from holdfast.rules.cross import CrossDenial
from holdfast.rules.dependency import FD, Key
from holdfast.rules.registry import CLASSES, parse, rule_type
from holdfast.rules.rule import Rule
from tests.rules import some
from tests.rules.some import with_where

NAMES = [
    "a",
    "Zip",
    "first name",
    "where",
    "desc",
    "orders",
    "in",
    "t",
    "s",
    "key",
    "not",
    "rows",
    "",
    'a "b"',
    "->",
    "é",
]
many = settings(max_examples=400, deadline=None)
rules = st.one_of(
    *(with_where(each(NAMES), NAMES, texts=True) for each in some.CLASSES),
    with_where(some.row_rules(NAMES, texts=True), NAMES),
)
_TWICE = Comparison(Arithmetic(Constant(2), "*", of_t("where")), "<", of_t("a"))


@many
@given(rule=rules)
@example(rule=FD("", ("where",), "a", where=_TWICE))
@example(rule=Key("", ("where",), where=Comparison(of_t("where"), "=", Constant("where t.a"))))
def test_a_text_reads_back(rule: Rule) -> None:
    assert parse(rule.text) == rule
    assert rule_type(rule.text) is type(rule)


@many
@given(rule=rules, data=st.data())
def test_other_names_stand_in_the_text_and_nowhere_the_old_ones(rule: Rule, data: st.DataObject) -> None:
    names = dict(zip(NAMES, [f"new {place}" for place, _ in enumerate(NAMES)], strict=True))
    mentioned = [name for _, own in rule.mentions() for name in own]
    changed = data.draw(st.sets(st.sampled_from([name for name in NAMES if name])))
    new = rule
    for table in dict.fromkeys(table for table, _ in rule.mentions()):
        new = new.renamed(table, {name: names[name] for name in changed})
    wanted = [names[name] if name in changed else name for name in mentioned]
    assert [name for _, own in new.mentions() for name in own] == wanted
    assert parse(new.text) == new
    assert all(f'"{names[name]}"' in new.text for name in set(mentioned) & changed)
    back = new
    for table in dict.fromkeys(table for table, _ in new.mentions()):
        back = back.renamed(table, {new: old for old, new in names.items()})
    assert back == rule


@many
@given(rule=rules)
def test_columns_are_those_of_its_breaches(rule: Rule) -> None:
    assert len(set(rule.columns)) == len(rule.columns) or rule.kind == "ind"
    for breach in rule.breaches():
        assert {cell.column for cell in breach.cells} <= set(_all_columns(rule))
        assert set(breach.faults) <= set(rule.columns)


def _all_columns(rule: Rule) -> Sequence[str]:
    return [name for _, own in rule.mentions() for name in own]


@pytest.mark.parametrize("each", [each for each in CLASSES if each is not CrossDenial], ids=lambda each: each.__name__)
def test_the_example_of_a_class_is_one_with_and_without_where(each: type[Rule]) -> None:
    plain, about = parse(each.example), parse(f"{each.example} where t.State = 'NY' or t.Zip is null")
    assert type(plain) is type(about) is each
    assert plain.where is None
    assert about.where is not None
    assert about.body == plain.text


@pytest.mark.parametrize(
    "text", ["", "a", "where t.a = 1", "a -> b where", "a -> b where t.a", "a -> b where t.a = 1 = 2"]
)
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse(text)
