"""What tests of list order dependencies share: rules by text on plain rows, and as the oracle reads them."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.engines.violations import state as states
from holdfast.engines.violations.kept import LIMIT
from holdfast.engines.violations.state import Asked, State, queries_of
from holdfast.rules.given import Named
from holdfast.rules.lists import ListOD, SortList
from holdfast.search.shared import NullsFirstSearch
from holdfast.table.runner import Runner
from holdfast.table.table import Schema, Table
from tests.engines.denial.streams import Stream
from tests.oracle import list_order as oracle


def asked(schema: Schema, rules: Sequence[ListOD]) -> list[Asked]:
    """Rules, each with the queries that say it."""
    return [Asked(Named(rule), queries_of(rule, schema)) for rule in rules]


def discover(table: Table, rules: Sequence[ListOD], limit: int = LIMIT, runner: Runner | None = None) -> State:
    """The state of some rules."""
    return states.discover(NullsFirstSearch(table), asked(table.schema, rules), runner, limit)


def wanted(stream: Stream, rule: ListOD) -> dict[tuple[int, int], str]:
    """The violations by definition."""
    names = stream.table.schema.names

    def plain(columns: SortList) -> oracle.SortList:
        return [(names.index(column.name), column.descending) for column in columns]

    return oracle.violations(stream.rows, plain(rule.by), plain(rule.then))
