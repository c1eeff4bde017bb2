"""Denial constraints: rules such as `not(t.Zip = s.Zip and t.City != s.City)`, and the row pairs that break them."""

from __future__ import annotations

from holdfast.engines.declared import RuleClass
from holdfast.engines.violations import ViolationSettings

RULE_CLASSES = (
    RuleClass(
        "dc",
        "violations",
        "holdfast.engines.denial.engine",
        settings=ViolationSettings,
        given=True,
        texts="holdfast.engines.denial.texts",
        meanings="holdfast.engines.denial.meaning",
    ),
)
