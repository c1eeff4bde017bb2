"""The violations of a denial constraint, with why a pair violates it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.denial.model import DenialConstraint
from holdfast.engines.denial.words import columns_of, sentence
from holdfast.engines.violations.listing import PairListing
from holdfast.search.found import Found
from holdfast.table.plain import plain_rows
from holdfast.table.table import Table


class DenialListing(PairListing):
    """The violating pairs (or rows) of a denial constraint."""

    rule: DenialConstraint

    @staticmethod
    def of(rule: DenialConstraint, found: Found, table: Table) -> DenialListing:
        """From what was found in a table."""
        looked_at = {row: columns_of(rule, row) for row in (["t"] if rule.is_single else ["t", "s"])}
        return DenialListing(rule, table, found.count, found.pairs, looked_at)

    def sentence(self, ids: NDArray[np.int64], names: dict[str, str]) -> str:
        """Why rows t and s violate the constraint."""
        return sentence(self.rule, names, dict(zip(("t", "s"), plain_rows(self.table.values(ids)), strict=False)))
