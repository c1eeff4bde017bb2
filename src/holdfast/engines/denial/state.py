"""The denial engine's state of one table: constraints, their violations, and the pair search that keeps them true.

Violations are dumped, and where the search's indexes lie in files. A loaded state opens these when the first batch
comes; where there are none (the table is small, its files lie elsewhere, an older version wrote the state, tasks have
searched a table that may be too large for one machine) it makes them then, as they follow from the table.

Invariant: after `maintain`, the violations are those that `discover` finds in the changed table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.contract import FILES
from holdfast.engines.denial.model import DenialConstraint
from holdfast.engines.denial.plan import query_of
from holdfast.engines.denial.violations import LIMIT, Violations
from holdfast.search.found import Found, Pairs, sides
from holdfast.search.search import PairSearch
from holdfast.search.slices import find_in_tasks
from holdfast.table.runner import Runner
from holdfast.table.table import Table


class State:
    """The violations of some constraints in one table."""

    def __init__(self, table: Table, constraints: Sequence[DenialConstraint], limit: int = LIMIT) -> None:
        self.limit = limit
        self.constraints = list(constraints)
        self.search = PairSearch(table, [query_of(constraint, table.schema) for constraint in constraints])
        self.violations: list[Violations] = []
        self.keeps_indexes = False  # whether indexes are made for a dump where there are none yet

    @property
    def nbytes(self) -> int:
        """The bytes of indexes and violations."""
        return self.search.nbytes + sum(violations.nbytes for violations in self.violations)

    def found(self) -> list[Found]:
        """All violations now, constraint by constraint."""
        return [violations.found() for violations in self.violations]

    def take(self, found: Sequence[Found]) -> None:
        """Keep what was found, constraint by constraint."""
        self.violations = [
            Violations(constraint, each.count, None if each.pairs is None else partial(_given, each.pairs))
            for constraint, each in zip(self.constraints, found, strict=True)
        ]

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and facts from which `load` makes the same state. The fact `files` names those that go with it."""
        arrays, facts = self._dump_violations()
        folder = _folder_of(self.search.table)
        if folder is not None and (self.keeps_indexes or self.search.nbytes):
            self.search.write_indexes(folder)
        indexes, about = self.search.dump()
        arrays |= {f"search/{name}": array for name, array in indexes.items()}
        return arrays, facts | {"search": about, FILES: [name for name in about["files"] if name is not None]}

    def _dump_violations(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        arrays: dict[str, NDArray[Any]] = {}
        for number, violations in enumerate(self.violations):
            pairs = violations.in_any_order()
            if pairs is not None:
                arrays |= dict(zip((f"t/{number}", f"s/{number}"), sides(pairs), strict=True))
        return arrays, {"limit": self.limit, "counts": [violations.count for violations in self.violations]}

    def rewritten(self, table: Table) -> State:
        """The same state of the same rows with other codes: violations know no codes, and indexes are made anew."""
        state = load(table, self.constraints, *self._dump_violations())
        state.keeps_indexes = True
        return state


def _given(pairs: Pairs) -> Pairs:
    return pairs


def _read(arrays: Mapping[str, NDArray[Any]], number: int) -> Pairs:
    """The violations of a constraint in a dump."""
    return np.stack([arrays[f"t/{number}"], arrays[f"s/{number}"]], axis=1)


def _folder_of(table: Table) -> str | None:
    """The folder of this machine that a table's files lie in, if there is one: elsewhere nothing can be mapped."""
    segments = table.where.segments if table.where is not None else ()
    folder = segments[0].path.rpartition("/")[0] if segments else ""
    return folder if folder and "://" not in folder else None


def discover(
    table: Table, constraints: Sequence[DenialConstraint], runner: Runner | None = None, limit: int = LIMIT
) -> State:
    """The state of a table, from scratch."""
    state = State(table, constraints, limit)
    if runner is None or runner.is_local:
        state.take(state.search.all(limit))
        state.keeps_indexes = True
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
    state.violations = [
        Violations(constraint, int(count), partial(_read, arrays, number) if f"t/{number}" in arrays else None)
        for number, (constraint, count) in enumerate(zip(constraints, facts["counts"], strict=True))
    ]
    folder = _folder_of(table)
    if "search" in facts and folder is not None:
        own = {name.removeprefix("search/"): arrays[name] for name in arrays if name.startswith("search/")}
        state.search.open_when_needed(own, facts["search"], folder)
    return state
