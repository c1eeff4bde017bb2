"""What tests of list order dependencies share: rules by text on plain rows, and as the oracle reads them."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.engines.given.violations import LIMIT
from holdfast.rules.lists import ListOD, SortList
from holdfast.table.nulls import Nulls
from holdfast.table.runner import Runner
from holdfast.table.table import Table
from tests.engines.denial.streams import Stream, Watching, keeper_of
from tests.oracle import list_order as oracle


def discover(table: Table, rules: Sequence[ListOD], limit: int = LIMIT, runner: Runner | None = None) -> Watching:
    """Some rules, watched."""
    return Watching.start(keeper_of(rules, table, limit, Nulls.EQUAL), table, runner)


def wanted(stream: Stream, rule: ListOD) -> dict[tuple[int, int], str]:
    """The violations by definition."""
    names = stream.table.schema.names

    def plain(columns: SortList) -> oracle.SortList:
        return [(names.index(column.name), column.descending) for column in columns]

    return oracle.violations(stream.rows, plain(rule.by), plain(rule.then))
