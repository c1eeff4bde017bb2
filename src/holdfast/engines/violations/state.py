"""The state of given rules of one table: their violations, and the pair search that keeps them true.

Violations are dumped; the search is shared with other engines, and knows the files of its indexes. They are opened
when the first batch comes; where there are none (the table is small, its files lie elsewhere, an older version wrote
it, tasks have searched a table that may be too large for one machine) they are made then, as they follow from the rows.

Invariant: after `maintain`, the violations are those that `discover` finds in the changed table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from holdfast.engines.violations.kept import LIMIT, Violations
from holdfast.engines.violations.queries import Asked
from holdfast.search.found import Found, Pairs, Sides, joined, sides
from holdfast.search.shared import TableSearch
from holdfast.search.slices import find_in_tasks
from holdfast.table.runner import Runner


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
