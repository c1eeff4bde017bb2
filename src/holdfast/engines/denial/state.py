"""The denial engine's state of one table: constraints, their violations, and the pair search that keeps them true.

The search's indexes follow from the table, so only violations are dumped; a loaded state makes its indexes when the
first batch comes.

Invariant: after `maintain`, the violations are those that `discover` finds in the changed table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.denial.model import DenialConstraint
from holdfast.engines.denial.plan import query_of
from holdfast.engines.denial.violations import LIMIT, Violations
from holdfast.search.found import Found
from holdfast.search.search import PairSearch
from holdfast.search.slices import find_in_tasks
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Table


class State:
    """The violations of some constraints in one table."""

    def __init__(self, table: Table, constraints: Sequence[DenialConstraint], limit: int = LIMIT) -> None:
        self.limit = limit
        self.constraints = list(constraints)
        self.search = PairSearch(table, [query_of(constraint, table.schema) for constraint in constraints])
        self.violations: list[Violations] = []

    @property
    def nbytes(self) -> int:
        """The bytes of indexes and violations."""
        return self.search.nbytes + sum(violations.nbytes for violations in self.violations)

    def found(self) -> list[Found]:
        """All violations now, constraint by constraint."""
        return [violations.found() for violations in self.violations]

    def take(self, found: Sequence[Found]) -> None:
        """Keep what was found, constraint by constraint."""
        self.violations = [Violations(*each) for each in zip(self.constraints, found, strict=True)]

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and facts from which `load` makes the same state."""
        arrays: dict[str, NDArray[Any]] = {}
        for number, found in enumerate(self.found()):
            if found.pairs is not None:
                arrays |= {f"t/{number}": found.pairs[:, 0].copy(), f"s/{number}": found.pairs[:, 1].copy()}
        return arrays, {"limit": self.limit, "counts": [violations.count for violations in self.violations]}


def discover(
    table: Table, constraints: Sequence[DenialConstraint], runner: Runner | None = None, limit: int = LIMIT
) -> State:
    """The state of a table, from scratch."""
    state = State(table, constraints, limit)
    if runner is None or isinstance(runner, Threads):
        state.take(state.search.all(limit, runner))
    else:
        state.take(find_in_tasks(table, state.search.queries, runner, limit))
    return state


def load(
    table: Table,
    constraints: Sequence[DenialConstraint],
    arrays: Mapping[str, NDArray[Any]],
    facts: Mapping[str, Any],
) -> State:
    """The state that `dump` described, of the same table and constraints."""
    state = State(table, constraints, int(facts["limit"]))
    found = []
    for number, count in enumerate(facts["counts"]):
        listed = f"t/{number}" in arrays
        pairs = np.stack([arrays[f"t/{number}"], arrays[f"s/{number}"]], axis=1) if listed else None
        found.append(Found(int(count), pairs))
    state.take(found)
    return state
