"""The rows that violate a rule, and why one does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.row.find import Ids, rows_of
from holdfast.engines.row.words import reason
from holdfast.engines.violations.listing import PairListing
from holdfast.engines.violations.single import alone
from holdfast.rules.given import Named
from holdfast.rules.row import RowRule
from holdfast.table.table import Table


class RowListing(PairListing):
    """The rows that violate a rule about one row."""

    rule: Named[RowRule]

    @staticmethod
    def of_rows(rule: Named[RowRule], table: Table, ids: Ids) -> RowListing:
        """Some rows of a table."""
        return RowListing(rule, table, len(ids), alone(ids), {"t": list(rule.rule.columns)})

    def sentence(self, ids: NDArray[np.int64], names: dict[str, str]) -> str:
        """Why a row violates the rule."""
        return f"{names['t']}: {reason(self.rule.rule.condition, rows_of(self.table, ids))}"
