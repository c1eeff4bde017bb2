"""Order dependencies: which lists of columns order which others."""

from __future__ import annotations

from holdfast.engines.declared import RuleClass
from holdfast.engines.violations import ViolationSettings

LISTS = RuleClass(
    "lod",
    "violations of list order dependencies",
    "holdfast.engines.order.list_engine",
    settings=ViolationSettings,
    given=True,
    texts="holdfast.engines.order.list_texts",
)
RULE_CLASSES = (LISTS,)
