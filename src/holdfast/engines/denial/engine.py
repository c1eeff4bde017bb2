"""Denial constraints behind the verbs that every engine offers. They are given, not discovered: what is found is how
many pairs of rows violate each, and which.
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.engines.declared import GivenRule, RuleClass, TableRules
from holdfast.engines.denial.listing import DenialListing
from holdfast.engines.denial.model import DenialConstraint
from holdfast.engines.denial.plan import query_of
from holdfast.engines.denial.texts import constraint_of
from holdfast.engines.violations import ViolationSettings
from holdfast.engines.violations.engine import ViolationEngine
from holdfast.search.found import Found
from holdfast.search.queries import PairQuery
from holdfast.table.table import Schema, Table


class DenialEngine(ViolationEngine[DenialConstraint]):
    """All violating pairs of given denial constraints."""

    def rule_of(self, given: GivenRule, schema: Schema, ordered: frozenset[str]) -> DenialConstraint:
        """The constraint, with constants in the types of the table's columns."""
        return constraint_of(given, schema, ordered)

    def queries_of(self, rule: DenialConstraint, schema: Schema) -> list[PairQuery]:
        """A constraint is one query."""
        return [query_of(rule, schema)]

    def listing_of(self, rule: DenialConstraint, found: Found, table: Table) -> DenialListing:
        """The violations of a constraint."""
        return DenialListing.of(rule, found, table)

    def counted(self, rule: DenialConstraint) -> str:
        """Rows, or pairs."""
        return "rows" if rule.is_single else "pairs, each once" if rule.is_symmetric else "ordered pairs"


def make(declared: RuleClass, settings: ViolationSettings, given: Mapping[str, TableRules]) -> DenialEngine:
    """The engine for the rules that were given."""
    return DenialEngine(declared, settings, given)
