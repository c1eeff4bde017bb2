"""Rules about one row, such as `t.Age between 0 and 120`, with the rows that break them; and rules about a table, such
as `rows >= 1000`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from holdfast.engines.contract import NoSettings, RuleClass
from holdfast.rules.measure import TableRule
from holdfast.rules.row import RowRule

if TYPE_CHECKING:
    from holdfast.engines.row.engine import RowEngine
    from holdfast.engines.row.table_engine import TableEngine
    from holdfast.rules.given import TableRules


class Rows(RuleClass[NoSettings]):
    """Rules about one row."""

    name, title, rules = "row", "violations of rules about one row", (RowRule,)
    yours = "your rules about rows"
    settings, given = NoSettings, True

    def engine(self, settings: NoSettings, given: Mapping[str, TableRules]) -> RowEngine:  # noqa: ARG002
        """The rows that break each."""
        from holdfast.engines.row.engine import RowEngine

        return RowEngine(self, given)


class Tables(RuleClass[NoSettings]):
    """Rules about a table."""

    name, title, rules = "table", "violations of rules about a table", (TableRule,)
    yours = "your rules about tables"
    settings, given = NoSettings, True

    def engine(self, settings: NoSettings, given: Mapping[str, TableRules]) -> TableEngine:  # noqa: ARG002
        """What each measures."""
        from holdfast.engines.row.table_engine import TableEngine

        return TableEngine(self, given)


RULE_CLASSES = (Rows(), Tables())
