"""The keeper of list order dependencies: all violating pairs, and when someone looks, the least number of rows that
must go, and the canonical dependencies that a rule means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from holdfast.engines.given.explain import GivenExplanation
from holdfast.engines.given.keeper import Tally
from holdfast.engines.given.pairs import PairsKeeper, PairsState
from holdfast.engines.order.canonical_set import parts_of
from holdfast.engines.order.list_error import error_facts, rows_to_remove
from holdfast.engines.order.list_first import error_line, part_lines
from holdfast.engines.watched import WatchedTable
from holdfast.rules.error_measures import g3


class ListsKeeper(PairsKeeper):
    """What keeps some list order dependencies of a table."""

    def measured(self, state: PairsState) -> Sequence[Tally]:
        """Also without how many rows each would hold: counted now, as no batch needs it."""
        rows = state.search.pairs.table.rows
        numbered = enumerate(self.tallies(state))
        return [replace(each, figures=error_facts(self._to_remove(state, rule), rows)) for rule, each in numbered]

    def _to_remove(self, state: PairsState, rule: int) -> int:
        violations = state.violations[rule]
        if not violations.count:
            return 0
        pairs = violations.found().pairs
        involved = None if pairs is None else np.unique(pairs)
        return rows_to_remove(self.rules[rule].rule, state.search.pairs.table, involved)

    def explain(self, state: PairsState, subject: WatchedTable, rule: int, rows: Sequence[int]) -> GivenExplanation:
        """Why some rows violate a rule; or why the first do, how far it holds, and what it means."""
        found = super().explain(state, subject, rule, rows)
        if rows:
            return found
        table = subject.table
        to_remove, parts = self._to_remove(state, rule), parts_of(self.rules[rule].rule, table)
        said = [*found.said, *error_line(to_remove, g3(to_remove, table.rows)), *part_lines(parts)]
        about = {**error_facts(to_remove, table.rows), "canonical": [each.to_json() for each in parts]}
        return replace(found, said=said, about={**found.about, **about})
