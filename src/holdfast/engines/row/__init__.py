"""Rules about one row, such as `t.Age between 0 and 120`, with the rows that break them; and rules about a table, such
as `rows >= 1000`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from holdfast.engines.contract import NoSettings, Suggestible
from holdfast.engines.given import GivenClass
from holdfast.rules.given import rules_of
from holdfast.rules.measure import TableRule
from holdfast.rules.row import RowRule

if TYPE_CHECKING:
    from holdfast.engines.row.keeper import RowsKeeper
    from holdfast.engines.row.table_keeper import MeasuresKeeper
    from holdfast.engines.scored import Scored, Wanted
    from holdfast.engines.watched import WatchedTable
    from holdfast.progress import Progress
    from holdfast.rules.given import TableRules
    from holdfast.table.runner import Runner


class RowRules(GivenClass[NoSettings], Suggestible[NoSettings, "WatchedTable"]):
    """Rules about one row."""

    name, title, rules = "row", "violations of rules about one row", (RowRule,)
    yours = "your rules about rows"
    suggested = "each row"
    of_rows = True
    settings = NoSettings
    is_sliced = False  # a row is a matter of its own

    def keeper(self, settings: NoSettings, given: Mapping[str, TableRules], subject: WatchedTable) -> RowsKeeper:  # noqa: ARG002
        """The rows that break each."""
        from holdfast.engines.row.keeper import RowsKeeper

        schema = subject.table.schema
        return RowsKeeper(schema.name, tuple(rules_of(given, schema)))

    def likely(self, subject: WatchedTable, wanted: Wanted, runner: Runner, progress: Progress) -> Sequence[Scored]:
        """By how much they say, and how many rows keep them."""
        from holdfast.engines.row.likely import likely

        return likely(subject, wanted, runner, progress)


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
