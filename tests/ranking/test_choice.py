"""The best suggestions of each table: what they leave out follows from them, or ranks behind them."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from holdfast.engines.scored import Scored
from holdfast.ranking.choice import best_of_each
from holdfast.ranking.order import AS_GOOD, ranked
from holdfast.ranking.suggestion import Suggestion
from holdfast.rules.dependency import FD, Key
from holdfast.table.table import Schema
from holdfast.table.types import Column

COLUMNS = "abcde"
SHAPES = {name: (Schema(name, tuple(Column(each, pa.int64()) for each in COLUMNS)), 1000) for name in ("t", "u")}


def fd(text: str, score: float, table: str = "t", to_remove: int = 0) -> Scored:
    left, right = text.split(" -> ")
    return Scored(FD(table, tuple(left.split(", ")), right), table, score, 1000, "", to_remove, to_remove / 1000)


def key(text: str, score: float, table: str = "t") -> Scored:
    return Scored(Key(table, tuple(text.split(", "))), table, score, 1000, "")


def best(top: int, *found: Scored) -> list[str]:
    return [f"{each.table}: {each.text}" for each in best_of_each(ranked(found, SHAPES)[0], top)]


def test_each_table_has_its_own_best() -> None:
    found = [fd("a -> b", 0.9), fd("a -> c", 0.89), fd("a -> b", 0.7, "u"), fd("a -> c", 0.69, "u")]
    assert best(1, *found) == ["t: a -> b", "u: a -> b"]
    assert best(2, *found) == ["t: a -> b", "t: a -> c", "u: a -> b", "u: a -> c"]


def test_what_only_follows_from_a_rule_that_is_cut_is_taken() -> None:
    chain = [fd("a -> b", 0.99), fd("a -> c", 0.98), fd("d -> e", 0.97), fd("b -> c", 0.9)]
    assert best(3, *chain) == ["t: a -> b", "t: d -> e", "t: b -> c"], "a -> c follows from two of these"
    assert best(2, *chain) == ["t: a -> b", "t: a -> c", "t: d -> e"], "b -> c is cut, and with it what it implies"
    assert best(1, *chain) == ["t: a -> b", "t: a -> c"]
    weak = [*chain[:1], *chain[2:], fd("a -> c", 0.8)]
    assert best(2, *weak) == ["t: a -> b", "t: d -> e"], "it ranks behind the rule that is cut"


def test_a_key_that_only_follows_from_one_that_is_cut_is_taken() -> None:
    found = [key("b", 0.99), key("a, c", 0.7), fd("a -> b", 0.65)]
    assert best(2, *found) == ["t: key(b)", "t: a -> b"]
    assert best(1, *found) == ["t: key(b)", "t: key(a, c)"]


def _drawn(left: set[str], right: str, to_remove: int) -> tuple[str, str, int]:
    return ", ".join(sorted(left - {right}) or ["b" if right == "a" else "a"]), right, to_remove


_RULES = st.builds(
    _drawn,
    st.sets(st.sampled_from(COLUMNS), min_size=1, max_size=2),
    st.sampled_from(COLUMNS),
    st.sampled_from([0, 0, 0, 10, 15, 40]),
)


@given(rules=st.lists(_RULES, unique_by=lambda each: each[:2], max_size=12), top=st.integers(1, 6))
def test_nothing_better_than_the_first_rule_cut_is_lost(rules: list[tuple[str, str, int]], top: int) -> None:
    found = [fd(f"{left} -> {right}", 0.99 - at / 50, to_remove=gone) for at, (left, right, gone) in enumerate(rules)]
    order = [each for each in ranked(found, SHAPES)[0] if each.is_likely]
    taken = best_of_each(order, top)
    listed = [each for each in order if each.is_listed]
    assert {each.text for each in taken} >= {each.text for each in listed[:top]}
    behind = listed[top].rank if len(listed) > top else len(order) + 1
    for each in order:
        if each.rank < behind:
            assert each in taken or len(listed) <= top or each.right in _closure(each, taken)


def _closure(each: Suggestion, taken: tuple[Suggestion, ...]) -> set[str]:
    """The columns that follow by Armstrong's rules from the left side, by rules with not many more exceptions."""
    columns = set(each.scored.columns)
    for _ in COLUMNS:
        for rule in taken:
            if rule.scored.to_remove <= AS_GOOD * each.scored.to_remove and columns >= set(rule.scored.columns):
                columns.add(rule.right)
    return columns
