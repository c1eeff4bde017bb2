"""The rows that violate a rule, and why one does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdfast.engines.row.evaluate import truth
from holdfast.engines.row.find import Ids, rows_of
from holdfast.engines.row.reckon import operand_values
from holdfast.engines.row.rows import Rows
from holdfast.engines.violations.listing import PairListing
from holdfast.engines.violations.single import alone
from holdfast.rules.conditions import Arithmetic, Condition
from holdfast.rules.given import Named
from holdfast.rules.row import RowRule
from holdfast.table.plain import plain_values
from holdfast.table.table import Table


class RowListing(PairListing):
    """The rows that violate a rule about one row."""

    @staticmethod
    def of_rows(rule: Named[RowRule], table: Table, ids: Ids) -> RowListing:
        """Some rows of a table."""
        return RowListing(rule, table, len(ids), alone(ids), {"t": list(rule.rule.columns)})

    def known(self, ids: Ids) -> KnownRow:
        """The row, whose values the engine compares and reckons with."""
        return KnownRow(rows_of(self.table, ids))


@dataclass(frozen=True)
class KnownRow:
    """A row t of a table."""

    rows: Rows

    def truth(self, condition: Condition) -> bool:
        """Whether a condition is true of it."""
        return bool(truth(condition, self.rows)[0] > 0)

    def value(self, operand: Arithmetic) -> Any:
        """What two numbers come to."""
        return plain_values(operand_values(operand, self.rows))[0]
