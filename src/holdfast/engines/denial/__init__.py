"""Denial constraints that were given: all violating pairs of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from holdfast.engines.contract import RuleClass
from holdfast.engines.violations import ViolationSettings
from holdfast.rules.denial import DenialConstraint

if TYPE_CHECKING:
    from holdfast.engines.violations.engine import ViolationEngine
    from holdfast.rules.given import TableRules


class Denials(RuleClass[ViolationSettings]):
    """Denial constraints."""

    name, title, rules = "dc", "violations", (DenialConstraint,)
    yours = "your denial constraints"
    settings, given = ViolationSettings, True

    def engine(self, settings: ViolationSettings, given: Mapping[str, TableRules]) -> ViolationEngine:
        """All violating pairs, by pair search."""
        from holdfast.engines.violations.engine import ViolationEngine

        return ViolationEngine(self, settings, given)


RULE_CLASSES = (Denials(),)
