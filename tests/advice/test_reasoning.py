"""Reasoning against the definition: random small tables, whose rules are found by brute force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.advice.advice import Advice, advise
from holdfast.advice.clauses import Clause, Kind
from holdfast.advice.known import KnownRules
from holdfast.advice.reasoning import Reasoner
from holdfast.changes.diff import Finding
from holdfast.rules.dependency import FD, Key
from holdfast.rules.lists import ListOD, SortColumn
from holdfast.rules.order import Compatible, ConstantOD, Direction
from holdfast.rules.rule import Rule
from tests.oracle import list_order as oracle

NAMES = "ABCD"
Row = tuple[Any, ...]
small = st.one_of(st.none(), st.integers(0, 2))
tables = st.lists(st.tuples(small, small, small, small), min_size=2, max_size=6)
columns = st.builds(SortColumn, st.sampled_from(NAMES), st.booleans())
lists = st.lists(columns, min_size=1, max_size=3).map(tuple)
many = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


def plain(order: Sequence[SortColumn]) -> oracle.SortList:
    return [(NAMES.index(column.name), column.descending) for column in order]


def holds(rows: list[Row], by: Sequence[SortColumn], then: Sequence[SortColumn]) -> bool:
    return oracle.holds(rows, plain(by), plain(then))


def contexts_of(own: Sequence[str]) -> Iterator[tuple[str, ...]]:
    others = [name for name in NAMES if name not in own]
    return (context for size in range(len(others) + 1) for context in combinations(others, size))


def minimal(contexts: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [each for each in contexts if not any(set(other) < set(each) for other in contexts)]


def canonical(rows: list[Row]) -> list[Finding]:
    """All minimal canonical rules of some rows, as results list them."""
    found: list[Finding] = []
    for name in NAMES:
        valid = [c for c in contexts_of(name) if _is_constant(rows, c, name)]
        found += [ConstantOD("", c, name) for c in minimal(valid)]
    for one, other in combinations(NAMES, 2):
        for direction in get_args(Direction):
            last = SortColumn(other, direction == "desc")
            valid = [c for c in contexts_of([one, other]) if _is_compatible(rows, c, SortColumn(one), last)]
            found += [
                Compatible("", c, (one, other), direction)
                for c in minimal(valid)
                if not _is_constant(rows, c, one) and not _is_constant(rows, c, other)
            ]
    return found


def _is_constant(rows: list[Row], context: Sequence[str], name: str) -> bool:
    before = [SortColumn(each) for each in context]
    return holds(rows, before, [*before, SortColumn(name)])


def _is_compatible(rows: list[Row], context: Sequence[str], one: SortColumn, other: SortColumn) -> bool:
    before = [SortColumn(each) for each in context]
    return holds(rows, [*before, one, other], [*before, other, one])


def keys(rows: list[Row]) -> list[Finding]:
    unique = [
        c for c in contexts_of("") if len({tuple(row[NAMES.index(name)] for name in c) for row in rows}) == len(rows)
    ]
    return [Key("", c) for c in minimal(unique)]


@dataclass
class Status:
    """How a rule stands that was given."""

    rule: Rule
    violations: int = 0

    @property
    def kind(self) -> str:
        return self.rule.kind

    @property
    def text(self) -> str:
        return self.rule.text

    def to_json(self) -> dict[str, Any]:
        return {"severity": "error", "violations": self.violations, "text": self.text}


def check(rows: list[Row], advice: Advice) -> None:
    """Every piece of advice is true."""
    columns = advice.clause.columns
    if advice.clause.is_order:
        assert holds(rows, advice.enough, columns)
        assert holds(rows, columns, advice.enough)
        for each in advice.served_by:
            order = [SortColumn(column.name, column.descending != each.backwards) for column in each.order]
            assert holds(rows, order, columns)
    else:
        assert all(_is_constant(rows, [c.name for c in advice.enough], column.name) for column in columns)
    assert len(advice.enough) + len(advice.redundant) == len(columns)
    own = [tuple(row[NAMES.index(column.name)] for column in columns) for row in rows]
    assert advice.single is None or len(set(own)) == len(own)


@many
@given(tables, st.lists(st.tuples(lists, lists), min_size=1, max_size=6))
def test_with_all_canonical_rules_known_every_list_order_dependency_is_decided(
    rows: list[Row], pairs: list[tuple[Any, Any]]
) -> None:
    reasoner = Reasoner(KnownRules.of(canonical(rows), NAMES, NAMES))
    for by, then in pairs:
        proof = reasoner.orders(by, then)
        assert (proof is not None) == holds(rows, by, then), (by, then, proof)


@many
@given(
    tables,
    st.lists(st.tuples(lists, lists), max_size=8),
    st.sets(st.integers(0, 60), max_size=12),
    st.lists(columns, min_size=1, max_size=4).map(tuple),
    st.sampled_from(["ORDER BY", "GROUP BY", "DISTINCT"]),
    st.lists(lists, max_size=2),
)
def test_all_advice_is_true_whatever_is_known(
    rows: list[Row], tried: list[tuple[Any, Any]], some: set[int], wanted: Any, kind: Kind, have: list[Any]
) -> None:
    rules = [ListOD(by, then) for by, then in tried if holds(rows, by, then)]
    found = [*canonical(rows), *keys(rows)]
    known = [*(found[place % len(found)] for place in sorted(some) if found), *map(Status, rules)]
    near = [*(column.name for column in wanted), *(column.name for order in have for column in order)]
    reasoner = Reasoner(KnownRules.of(known, NAMES, near))
    clause = Clause(kind, wanted if kind == "ORDER BY" else tuple(SortColumn(column.name) for column in wanted))
    advice = advise("t", clause, reasoner, have)
    check(rows, advice)
    assert all(rule in {finding.text for finding in known} for each in advice.redundant for rule in each.rules)


@many
@given(tables, st.lists(columns, min_size=1, max_size=4).map(tuple))
def test_nothing_that_is_left_is_redundant(rows: list[Row], wanted: Any) -> None:
    """Where all is known that can be, no column more can go; also when only rules near the clause are looked at."""
    known = KnownRules.of(canonical(rows), NAMES, [column.name for column in wanted])
    advice = advise("t", Clause("ORDER BY", wanted), Reasoner(known))
    check(rows, advice)
    left = advice.enough
    for place in range(len(left)):
        assert not holds(rows, (*left[:place], *left[place + 1 :]), wanted)
    orders = [each.order for each in advice.served_by]
    for name in NAMES:
        order = (SortColumn(name),)
        if left and name not in {column.name for column in left} and holds(rows, order, wanted):
            assert order in orders


def test_orders_are_put_together() -> None:
    """What one list orders, and that another, the first orders, too."""
    rules = [Status(ListOD((SortColumn("A"),), (SortColumn("B", True),)))]
    rules.append(Status(ListOD((SortColumn("B"),), (SortColumn("C"),))))
    reasoner = Reasoner(KnownRules.of(rules, NAMES, "AC"))
    assert reasoner.orders([SortColumn("A")], [SortColumn("C", True)]) == ("[A] orders [B desc]", "[B] orders [C]")
    assert reasoner.orders([SortColumn("A")], [SortColumn("C")]) is None


def test_a_column_that_orders_itself_downwards_is_constant() -> None:
    rules = [Status(ListOD((SortColumn("A"), SortColumn("B")), (SortColumn("A"), SortColumn("B", True))))]
    reasoner = Reasoner(KnownRules.of(rules, NAMES, "AB"))
    assert reasoner.determined("A").keys() == {"A", "B"}
    assert reasoner.determined("").keys() == set()


def test_a_rule_that_does_not_hold_exactly_says_nothing() -> None:
    wrong: list[Finding] = [FD("", ("A",), "B", error=0.01), Status(FD("", ("A",), "C"), 1)]
    assert Reasoner(KnownRules.of(wrong, NAMES, "AB")).determined("A").keys() == {"A"}
