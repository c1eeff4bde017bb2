"""List order dependencies behind the verbs that every engine offers. They are given: what is found is how many pairs of
rows violate each, and which. Nulls come first, as in `table/order.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.engines import contract
from holdfast.engines.order.list_first import look
from holdfast.engines.violations.engine import ViolationEngine
from holdfast.engines.violations.state import State
from holdfast.engines.watched import WatchedTable
from holdfast.rules.lists import ListOD


class ListEngine(ViolationEngine):
    """All violating pairs of given list order dependencies."""

    def explain(
        self, state: State | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()
    ) -> contract.Explanation:
        """Why some rows violate a rule. Of one that is not watched, the first rows that do are looked for."""
        schema = subject.table.schema
        rule = ListOD.parse(text).in_table(schema.names, schema.name)
        if rows or (state is not None and rule.text in [each.text for each in state.rules]):
            return super().explain(state, subject, rule.text, rows)
        rule.refuse_nulls(schema.nulls)
        return look(rule, subject.table)
