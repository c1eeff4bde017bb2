"""The denial engine's state of one table: constraints, their violations, and the pair search that keeps them true.

Violations are dumped; the search is shared with other engines, and knows the files of its indexes. They are opened
when the first batch comes; where there are none (the table is small, its files lie elsewhere, an older version wrote
it, tasks have searched a table that may be too large for one machine) they are made then, as they follow from the rows.

Invariant: after `maintain`, the violations are those that `discover` finds in the changed table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.denial.model import DenialConstraint
from holdfast.engines.denial.plan import query_of
from holdfast.engines.denial.violations import LIMIT, Violations
from holdfast.search.found import Found, Pairs, sides
from holdfast.search.shared import TableSearch
from holdfast.search.slices import find_in_tasks
from holdfast.table.runner import Runner


class State:
    """The violations of some constraints in one table."""

    def __init__(self, search: TableSearch, constraints: Sequence[DenialConstraint], limit: int = LIMIT) -> None:
        self.limit, self.search = limit, search
        self.constraints = list(constraints)
        schema = search.pairs.table.schema
        self.numbers = search.ask([query_of(constraint, schema) for constraint in constraints])
        self.violations: list[Violations] = []

    @property
    def nbytes(self) -> int:
        """The bytes of indexes and violations."""
        return self.search.pairs.nbytes + sum(violations.nbytes for violations in self.violations)

    def found(self) -> list[Found]:
        """All violations now, constraint by constraint."""
        return [violations.found() for violations in self.violations]

    def take(self, found: Sequence[Found]) -> None:
        """Keep what was found, constraint by constraint."""
        self.violations = [
            Violations(constraint, each.count, None if each.pairs is None else partial(_given, each.pairs))
            for constraint, each in zip(self.constraints, found, strict=True)
        ]

    def count_what_is_not_listed(self) -> None:
        """Have the search count the pairs of rows that die, where only the number of violations is kept."""
        for number, violations in zip(self.numbers, self.violations, strict=True):
            (self.search.counted.discard if violations.listed else self.search.counted.add)(number)

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and facts from which `load` makes the same state."""
        arrays: dict[str, NDArray[Any]] = {}
        for number, violations in enumerate(self.violations):
            pairs = violations.in_any_order()
            if pairs is not None:
                arrays |= dict(zip((f"t/{number}", f"s/{number}"), sides(pairs), strict=True))
        return arrays, {"limit": self.limit, "counts": [violations.count for violations in self.violations]}


def _given(pairs: Pairs) -> Pairs:
    return pairs


def _read(arrays: Mapping[str, NDArray[Any]], number: int) -> Pairs:
    """The violations of a constraint in a dump."""
    return np.stack([arrays[f"t/{number}"], arrays[f"s/{number}"]], axis=1)


def discover(
    search: TableSearch, constraints: Sequence[DenialConstraint], runner: Runner | None = None, limit: int = LIMIT
) -> State:
    """The state of a table, from scratch."""
    state = State(search, constraints, limit)
    queries = [search.pairs.queries[number] for number in state.numbers]
    if runner is None or runner.is_local:
        state.take(search.pairs.all(limit, queries))
        search.keeps_indexes = True
    else:
        state.take(find_in_tasks(search.pairs.table, queries, runner, limit))
    state.count_what_is_not_listed()
    return state


def load(
    search: TableSearch,
    constraints: Sequence[DenialConstraint],
    arrays: Mapping[str, NDArray[Any]],
    facts: Mapping[str, Any],
) -> State:
    """The state that `dump` described, of the same table and constraints."""
    state = State(search, constraints, int(facts["limit"]))
    state.violations = [
        Violations(constraint, int(count), partial(_read, arrays, number) if f"t/{number}" in arrays else None)
        for number, (constraint, count) in enumerate(zip(constraints, facts["counts"], strict=True))
    ]
    state.count_what_is_not_listed()
    return state
