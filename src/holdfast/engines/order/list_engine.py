"""List order dependencies behind the verbs that every engine offers. They are given: what is found is how many pairs of
rows violate each, and which. Nulls come first, as in `table/order.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from holdfast.engines import contract
from holdfast.engines.declared import GivenRule, RuleClass, TableRules
from holdfast.engines.order.list_first import look
from holdfast.engines.order.list_model import ListOD
from holdfast.engines.order.list_queries import queries_of
from holdfast.engines.order.list_texts import refuse_distinct_nulls, rule_of
from holdfast.engines.order.list_words import breach_of, values_of
from holdfast.engines.violations import ViolationSettings
from holdfast.engines.violations.engine import ViolationEngine
from holdfast.engines.violations.listing import PairListing
from holdfast.engines.violations.state import State
from holdfast.engines.watched import WatchedTable
from holdfast.search.found import Found
from holdfast.search.queries import PairQuery
from holdfast.search.shared import NullsFirstSearch, TableSearch
from holdfast.table.table import Schema, Table


class ListListing(PairListing):
    """The violating pairs of a list order dependency: t is not after s by its first list, and after s by its second."""

    rule: ListOD

    def sentence(self, ids: NDArray[np.int64], names: dict[str, str]) -> str:
        """Whether rows t and s are a split or a swap, and by which values."""
        why = breach_of(self.rule, self.table, ids).sentence(names, values_of(self.table, ids))
        return f"{names['t']} and {names['s']} violate {self.rule.name or self.rule.text}: {why}"


class ListEngine(ViolationEngine[ListOD]):
    """All violating pairs of given list order dependencies."""

    search: ClassVar[type[TableSearch]] = NullsFirstSearch

    def rule_of(self, given: GivenRule, schema: Schema, ordered: frozenset[str]) -> ListOD:  # noqa: ARG002
        """The rule; text has an order here, whether it is declared or not."""
        return rule_of(given, schema)

    def queries_of(self, rule: ListOD, schema: Schema) -> list[PairQuery]:
        """One for each column of the first list and each of the second."""
        return queries_of(rule, schema)

    def listing_of(self, rule: ListOD, found: Found, table: Table) -> ListListing:
        """The violations of a rule."""
        return ListListing(rule, table, found.count, found.pairs, {"t": rule.columns, "s": rule.columns})

    def counted(self, rule: ListOD) -> str:  # noqa: ARG002
        """No pair of rows violates a rule both ways round."""
        return "pairs, each once"

    def about(self, rule: ListOD) -> Mapping[str, Any]:
        """Both lists."""
        return rule.sides_json()

    def explain(
        self, state: State[ListOD] | None, subject: WatchedTable, text: str, rows: Sequence[int] = ()
    ) -> contract.Explanation:
        """Why some rows violate a rule. Of one that is not watched, the first rows that do are looked for."""
        table = subject.table
        rule = self.rule_of(GivenRule("", table.schema.name, text), table.schema, frozenset())
        if rows or (state is not None and rule.text in [each.text for each in state.rules]):
            return super().explain(state, subject, rule.text, rows)
        refuse_distinct_nulls(table.schema)
        return look(rule, table)


def make(declared: RuleClass, settings: ViolationSettings, given: Mapping[str, TableRules]) -> ListEngine:
    """The engine for the rules that were given."""
    return ListEngine(declared, settings, given)
