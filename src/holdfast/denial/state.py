"""The state of the denial engine for one table: constraints, their violations, and the indexes that keep them true.

Indexes follow from the table, so only violations are dumped; a loaded state makes its indexes when the first batch
comes. All constraints share the indexes and the operands (see `plan.arrange` and `operands`).

Invariant: after `maintain`, the violations are those that `detect` finds in the changed table, and every index holds
exactly the living rows that belong into it.
Cost: 8 bytes a row and dimension, and 8 for the id, by about 1.3, for each index; see `Violations` for pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.denial import detect
from holdfast.denial.indexes import Index
from holdfast.denial.model import DenialConstraint
from holdfast.denial.operands import Operands, Spaces, living
from holdfast.denial.plan import Arrangement, arrange, compile_constraint
from holdfast.denial.violations import LIMIT, Found, Violations
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Table

_GROWTH = 2  # the table's growth after which the order of the indexes is thought over


class State:
    """The violations of some constraints in one table."""

    def __init__(self, table: Table, constraints: Sequence[DenialConstraint], limit: int = LIMIT) -> None:
        self.limit = limit
        self.plans = [compile_constraint(constraint, table.schema) for constraint in constraints]
        self.spaces = Spaces(table.schema, self.plans)
        self.violations: list[Violations] = []
        self.indexes: list[Index] | None = None
        self.serving: list[tuple[int, int]] = []
        self._arranged_at = 0

    @property
    def nbytes(self) -> int:
        """The bytes of indexes and violations."""
        trees = sum(index.tree.nbytes for index in self.indexes or [])
        return trees + sum(violations.nbytes for violations in self.violations)

    def found(self) -> list[Found]:
        """All violations now, constraint by constraint."""
        return [violations.found() for violations in self.violations]

    def build(self, table: Table, threads: Threads | None = None) -> Operands:
        """Make the indexes of a table; gives the operands of its rows."""
        self.spaces.follow(table)
        rows = living(self.spaces, table)
        made, self.serving = self._arrange(rows.distinct)
        self._arranged_at = table.rows
        runner = threads or Threads(1)
        self.indexes = runner.map(lambda each: Index(each, self.spaces, table, rows), made)
        return rows

    def _arrange(self, distinct: Sequence[int]) -> tuple[list[Arrangement], list[tuple[int, int]]]:
        quests = [quest for plan in self.plans if not plan.single for quest in (plan.as_t, plan.as_s)]
        made, places = arrange(quests, distinct)
        taken = iter(places)
        return made, [(-1, -1) if plan.single else (next(taken), next(taken)) for plan in self.plans]

    def ready(self, before: Table, now: Table) -> list[Index]:
        """The indexes of a table's rows as they were before a batch, with keys current after it.

        They are made anew where keys changed, where codes outgrew their packing, and where the table has grown so much
        that another order suits it better (section 5.2: a schedule is thought over only when it could have changed).
        """
        self.spaces.follow(now)
        if self.indexes is None or any(index.stale(self.spaces, now) for index in self.indexes):
            self._rebuild(before, now)
        elif before.rows > _GROWTH * self._arranged_at + 1024:
            self._arranged_at = before.rows
            made, _ = self._arrange([len(dictionary) for dictionary in now.dictionaries])
            if made != [index.arrangement for index in self.indexes]:
                self._rebuild(before, now)
        assert self.indexes is not None
        return self.indexes

    def _rebuild(self, before: Table, now: Table) -> None:
        self.indexes = None  # free the old ones first
        self.build(before.grown(now.dictionaries).following(now), Threads())

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
    if runner is not None and not isinstance(runner, Threads):
        found = detect.detect(table, constraints, runner, limit)
    else:
        found = _find(state, table, runner)
    state.violations = [Violations(each.constraint, each.count, each.pairs) for each in found]
    return state


def _find(state: State, table: Table, threads: Threads | None) -> list[Found]:
    rows = state.build(table, threads)
    indexes = state.indexes or []
    return [
        detect.single(plan, rows, state.limit)
        if plan.single
        else detect.pairs(plan, indexes[as_t], rows, state.limit, threads)
        for plan, (as_t, _) in zip(state.plans, state.serving, strict=True)
    ]


def load(
    table: Table,
    constraints: Sequence[DenialConstraint],
    arrays: Mapping[str, NDArray[Any]],
    facts: Mapping[str, Any],
) -> State:
    """The state that `dump` described, of the same table and constraints."""
    state = State(table, constraints, int(facts["limit"]))
    for number, (plan, count) in enumerate(zip(state.plans, facts["counts"], strict=True)):
        listed = f"t/{number}" in arrays
        pairs = np.stack([arrays[f"t/{number}"], arrays[f"s/{number}"]], axis=1) if listed else None
        state.violations.append(Violations(plan.constraint, int(count), pairs))
    return state
