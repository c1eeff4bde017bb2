"""Denial constraints that were given: all violating pairs of rows."""

from __future__ import annotations

from holdfast.engines.given import PairClass
from holdfast.rules.denial import DenialConstraint


class Denials(PairClass):
    """Denial constraints."""

    name, title, rules = "dc", "violations", (DenialConstraint,)
    yours = "your denial constraints"


RULE_CLASSES = (Denials(),)
