"""Rules about one row, such as `t.Age between 0 and 120`, with the rows that break them; and rules about a table, such
as `rows >= 1000`.
"""

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
    RuleClass(
        "table",
        "violations of rules about a table",
        "holdfast.engines.row.table_engine",
        given=True,
        texts="holdfast.engines.row.table_texts",
        meanings="holdfast.engines.row.table_meaning",
    ),
)
