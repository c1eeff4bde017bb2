"""What the program must know of list order dependencies as a class of rules."""

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
    meanings="holdfast.engines.order.list_meaning",
)
