"""What tests of list order dependencies share: rules by text on plain rows, and as the oracle reads them."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.engines.given.violations import LIMIT
from holdfast.rules.lists import ListOD
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
    return oracle.violations(stream.rows, *plain(stream.table, rule))


def plain(table: Table, rule: ListOD) -> tuple[oracle.SortList, oracle.SortList]:
    """Both lists as the oracle reads them."""
    names = table.schema.names
    by, then = ([(names.index(each.name), each.descending) for each in columns] for columns in (rule.by, rule.then))
    return by, then
