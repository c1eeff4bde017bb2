"""Rules about one row, such as `t.Age between 0 and 120`, with the rows that break them; and rules about a table, such
as `rows >= 1000`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from holdfast.engines.contract import NoSettings
from holdfast.engines.given import GivenClass
from holdfast.rules.given import rules_of
from holdfast.rules.measure import TableRule
from holdfast.rules.row import RowRule

if TYPE_CHECKING:
    from holdfast.engines.row.keeper import RowsKeeper
    from holdfast.engines.row.table_keeper import MeasuresKeeper
    from holdfast.engines.watched import WatchedTable
    from holdfast.rules.given import TableRules


class RowRules(GivenClass[NoSettings]):
    """Rules about one row."""

    name, title, rules = "row", "violations of rules about one row", (RowRule,)
    yours = "your rules about rows"
    settings = NoSettings
    is_sliced = False  # a row is a matter of its own

    def keeper(self, settings: NoSettings, given: Mapping[str, TableRules], subject: WatchedTable) -> RowsKeeper:  # noqa: ARG002
        """The rows that break each."""
        from holdfast.engines.row.keeper import RowsKeeper

        schema = subject.table.schema
        return RowsKeeper(schema.name, tuple(rules_of(given, schema)))


class MeasureRules(GivenClass[NoSettings]):
    """Rules about a table."""

    name, title, rules = "table", "violations of rules about a table", (TableRule,)
    yours = "your rules about tables"
    settings = NoSettings
    explains_rows = False

    def keeper(self, settings: NoSettings, given: Mapping[str, TableRules], subject: WatchedTable) -> MeasuresKeeper:  # noqa: ARG002
        """What each measures."""
        from holdfast.engines.row.table_keeper import MeasuresKeeper

        schema = subject.table.schema
        return MeasuresKeeper(schema.name, tuple(rules_of(given, schema)))


RULE_CLASSES = (RowRules(), MeasureRules())
