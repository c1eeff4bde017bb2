"""The state of given rules of one table: their violations, and the pair search that keeps them true.

Violations are dumped; the search is shared with other engines, and knows the files of its indexes. They are opened
when the first batch comes; where there are none (the table is small, its files lie elsewhere, tasks have searched a
table that may be too large for one machine) they are made then, as they follow from the rows.

Rules become pair queries: columns by number, checks of single rows apart from conditions between two. A batch (papers:
weever, sections 5.4 to 5.6) is taken in for all rules at once: pairs of rows that died are dropped, pairs of rows born
are found by the pair search. An update is a death and a birth in one batch. Where only a count is kept, the pairs of
rows that die are counted before they leave.

Invariant: after `maintain`, the violations are those that `discover` finds in the changed table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.violations.kept import LIMIT, Delta, Violations
from holdfast.errors import BadInput
from holdfast.rules.conditions import Cell, Comparison
from holdfast.rules.constants import Constant
from holdfast.rules.given import Named
from holdfast.rules.rule import Breach, Rule
from holdfast.search.found import Found, Pairs, Sides, joined, paired, sides
from holdfast.search.queries import MIRRORED, Check, Condition, Operator, PairQuery
from holdfast.search.search import BatchPairs
from holdfast.search.shared import TableSearch
from holdfast.search.slices import find_in_tasks
from holdfast.table.change import Change
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Schema


@dataclass(frozen=True)
class Asked:
    """A rule, and the pair queries whose pairs violate it. No pair meets two of them."""

    rule: Named[Rule]
    queries: Sequence[PairQuery]


def queries_of(rule: Rule, schema: Schema) -> list[PairQuery]:
    """The pairs that break a rule in tables of a schema: a query a breach, and no pair meets two of them."""
    number = {name: place for place, name in enumerate(schema.names)}
    if missing := [name for name in rule.columns if name not in number]:
        raise BadInput(f"rule {rule.text}: table {schema.name} has no column {missing[0]!r}")
    return [_query(breach, number) for breach in rule.breaches(schema.nulls)]


def _query(breach: Breach, number: dict[str, int]) -> PairQuery:
    checks: dict[str, list[Check]] = {"t": [], "s": []}
    conditions = []
    for each in breach.comparisons:
        cells = each.cells
        if len(cells) == 2 and cells[0].row != cells[1].row:
            conditions.append(Condition(*_t_first(each, number)))
        else:
            checks[cells[0].row].append(_check(each, number))
    return PairQuery(tuple(conditions), tuple(checks["t"]), tuple(checks["s"]), not breach.is_pair)


def _t_first(comparison: Comparison, number: dict[str, int]) -> tuple[int, Operator, int]:
    left, right = comparison.cells
    if left.row == "t":
        return number[left.column], comparison.operator, number[right.column]
    return number[right.column], MIRRORED[comparison.operator], number[left.column]


def _check(comparison: Comparison, number: dict[str, int]) -> Check:
    left, right = comparison.left, comparison.right
    assert isinstance(left, Cell)
    assert isinstance(right, Cell | Constant)
    return Check(number[left.column], comparison.operator, number[right.column] if isinstance(right, Cell) else right)


class State:
    """The violations of some rules in one table."""

    def __init__(self, search: TableSearch, asked: Sequence[Asked], limit: int = LIMIT) -> None:
        self.limit, self.search = limit, search
        self.rules = [each.rule for each in asked]
        numbers = iter(search.ask([query for each in asked for query in each.queries]))
        self.numbers = [[next(numbers) for _ in each.queries] for each in asked]  # of the queries of each rule
        self.violations: list[Violations] = []

    @property
    def nbytes(self) -> int:
        """The bytes of indexes and violations."""
        return self.search.pairs.nbytes + sum(violations.nbytes for violations in self.violations)

    def found(self) -> list[Found]:
        """All violations now, rule by rule."""
        return [violations.found() for violations in self.violations]

    def take(self, found: Sequence[Found]) -> None:
        """Keep what was found, rule by rule."""
        self.violations = [
            Violations(rule, each.count, None if each.pairs is None else partial(_given, each.pairs))
            for rule, each in zip(self.rules, found, strict=True)
        ]

    def count_what_is_not_listed(self) -> None:
        """Have the search count the pairs of rows that die, where only the number of violations is kept."""
        for numbers, violations in zip(self.numbers, self.violations, strict=True):
            (self.search.counted.difference_update if violations.listed else self.search.counted.update)(numbers)

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and facts from which `load` makes the same state."""
        arrays: dict[str, NDArray[Any]] = {}
        for number, violations in enumerate(self.violations):
            pairs = violations.in_any_order()
            if pairs is not None:
                arrays |= dict(zip((f"t/{number}", f"s/{number}"), sides(pairs), strict=True))
        return arrays, {"limit": self.limit, "counts": [violations.count for violations in self.violations]}


def _given(pairs: Pairs) -> Sides:
    return pairs[:, 0], pairs[:, 1]


def _read(arrays: Mapping[str, NDArray[Any]], number: int) -> Sides:
    """The violations of a rule in a dump."""
    return arrays[f"t/{number}"], arrays[f"s/{number}"]


def discover(search: TableSearch, asked: Sequence[Asked], runner: Runner | None = None, limit: int = LIMIT) -> State:
    """The state of a table, from scratch."""
    state = State(search, asked, limit)
    queries = [search.pairs.queries[number] for numbers in state.numbers for number in numbers]
    if runner is None or runner.is_local:
        found = iter(search.pairs.all(limit, queries))
        search.keeps_indexes = True
    else:
        found = iter(find_in_tasks(search.pairs.table, queries, runner, limit, nulls=search.nulls))
    state.take([joined(_next(found, len(numbers)), limit) for numbers in state.numbers])
    state.count_what_is_not_listed()
    return state


def with_rules(state: State, search: TableSearch, asked: Sequence[Asked], runner: Runner | None = None) -> State:
    """The state of other rules of the same table: those that it has are taken over, the others are searched for."""
    known = {rule.text: place for place, rule in enumerate(state.rules)}
    fresh = discover(search, [each for each in asked if each.rule.text not in known], runner, state.limit)
    new = {rule.text: place for place, rule in enumerate(fresh.rules)}
    made = State(search, (), state.limit)
    for rule in (each.rule for each in asked):
        source, place = (fresh, new[rule.text]) if rule.text in new else (state, known[rule.text])
        made.rules.append(rule)
        made.numbers.append(source.numbers[place])
        source.violations[place].rule = rule  # its name, severity or note may be others
        made.violations.append(source.violations[place])
    made.count_what_is_not_listed()
    return made


def _next(found: Iterator[Found], count: int) -> list[Found]:
    return [next(found) for _ in range(count)]


def load(
    search: TableSearch, asked: Sequence[Asked], arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]
) -> State:
    """The state that `dump` described, of the same table and rules."""
    state = State(search, asked, int(facts["limit"]))
    state.violations = [
        Violations(rule, int(count), partial(_read, arrays, number) if f"t/{number}" in arrays else None)
        for number, (rule, count) in enumerate(zip(state.rules, facts["counts"], strict=True))
    ]
    state.count_what_is_not_listed()
    return state


def maintain(state: State, change: Change) -> list[Delta]:
    """Bring the violations up to date with a batch, and tell what it did to those of each rule."""
    before = [violations.count for violations in state.violations]
    batch = state.search.follow(change)
    deltas = [_take_in(state, place, change, batch, before[place]) for place in range(len(before))]
    state.count_what_is_not_listed()
    return deltas


def _take_in(state: State, place: int, change: Change, batch: BatchPairs, before: int) -> Delta:
    """One rule: what the batch added and resolved."""
    kept, numbers = state.violations[place], state.numbers[place]
    if not kept.listed:
        lost, come = sum(batch.lost[number] for number in numbers), _count(batch, numbers)
        return _recount(state, place, Delta(kept.rule, before, before - lost + come, None, None, bool(lost or come)))
    resolved = kept.remove_rows(change.dead)
    added = _added(batch, numbers, state.limit - kept.count)
    if added is None:
        kept.count_only(kept.count + _count(batch, numbers))
        return Delta(kept.rule, before, kept.count, None, None, moved=True)
    kept.add(added)
    return Delta(kept.rule, before, kept.count, added, _in_order(resolved))


def _count(batch: BatchPairs, numbers: Iterable[int]) -> int:
    """How many violations the rows born are in."""
    return sum(batch.count(number) for number in numbers)


def _added(batch: BatchPairs, numbers: Iterable[int], room: int) -> Pairs | None:
    """The violations that rows born are in; None where they are more than there is room for."""
    parts: list[Pairs] = []
    for number in numbers:
        found = batch.added(number, room - sum(map(len, parts)))
        if found is None:
            return None
        parts.append(found)
    return parts[0] if len(parts) == 1 else _in_order(np.concatenate([np.empty((0, 2), np.int64), *parts]))


def _in_order(pairs: Pairs) -> Pairs:
    return paired(*sides(pairs)) if len(pairs) > 1 else pairs


def _recount(state: State, place: int, delta: Delta) -> Delta:
    """A rule of which only the count is kept; its pairs are listed again once they are few enough."""
    kept, now = state.violations[place], delta.after
    kept.count_only(now)
    if now <= state.limit:
        parts = [state.search.pairs.pairs(number, state.limit, Threads()) for number in state.numbers[place]]
        found = joined(parts, state.limit)
        if found.pairs is None or found.count != now:
            raise AssertionError(f"{kept.rule.text}: {found.count} violations were found, but {now} counted")
        kept.list_again(found.pairs)
    return delta
