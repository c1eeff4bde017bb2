"""Rules about one row, such as `t.Age between 0 and 120`, and the rows that break them."""

from __future__ import annotations

from holdfast.engines.declared import RuleClass

RULE_CLASSES = (
    RuleClass(
        "row",
        "violations of rules about one row",
        "holdfast.engines.row.engine",
        given=True,
        texts="holdfast.engines.row.texts",
        meanings="holdfast.engines.row.meaning",
    ),
)
