"""Order dependencies: which lists of columns order which others."""

from __future__ import annotations

from holdfast.engines.order.list_class import LISTS

RULE_CLASSES = (LISTS,)
