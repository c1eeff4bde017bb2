"""Breaches say when rows break a rule: as the definition has it, for every class; and no pair of rows meets two."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.rules.rule import Breach, Rule
from holdfast.table.nulls import Nulls
from tests.rules.some import COLUMNS, Row, Rows, broken, is_directed, is_true, list_rules, of_each_class

values = st.one_of(st.none(), st.integers(0, 2))
rows = st.lists(st.tuples(values, values, values), max_size=5).map(lambda some: dict(enumerate(some)))
many = settings(max_examples=300, deadline=None)
lists = list_rules(COLUMNS)


def met(breach: Breach, rows: Rows, others: list[Row]) -> list[tuple[int, ...]]:
    """The pairs of rows, or the rows, that meet a breach."""
    known = permutations(rows, 2) if breach.is_pair else ((n,) for n in rows)
    return [
        each for each in known
        if all(is_true(part, rows[each[0]], rows[each[-1]], others) for part in breach.predicates)
    ]  # fmt: skip


@of_each_class
@many
@given(data=st.data(), some=rows, others=st.lists(st.tuples(values, values, values), max_size=3))
def test_rows_meet_a_breach_iff_they_break_the_rule(
    rules: st.SearchStrategy[Rule], data: st.DataObject, some: Rows, others: list[Row]
) -> None:
    rule = data.draw(rules)
    nulls = data.draw(st.sampled_from([Nulls.EQUAL, Nulls.DISTINCT]))
    found = {each for breach in rule.breaches(nulls) for each in met(breach, some, others)}
    if not rule.breaches(nulls):  # about a table, or of lists that no rows can violate
        assert not found
    expected = set() if rule.kind == "table" else broken(rule, some, nulls, others)
    if any(breach.is_pair for breach in rule.breaches()) and not is_directed(rule):
        found |= {(s, t) for t, s in found}
        expected |= {(s, t) for t, s in expected}
    assert found == expected


@of_each_class
@many
@given(data=st.data(), some=rows, nulls=st.sampled_from(list(Nulls)))
def test_breaches_of_two_rows_exclude_each_other(
    rules: st.SearchStrategy[Rule], data: st.DataObject, some: Rows, nulls: Nulls
) -> None:
    breaches = [each for each in data.draw(rules).breaches(nulls) if each.is_pair]
    found = [each for breach in breaches for each in met(breach, some, [])]
    assert len(found) == len(set(found))


@many
@given(rule=lists, some=rows)
def test_no_pair_violates_lists_both_ways_round(rule: Rule, some: Rows) -> None:
    found = {each for breach in rule.breaches() for each in met(breach, some, [])}
    assert not {(s, t) for t, s in found} & found
