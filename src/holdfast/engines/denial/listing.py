"""The violations of a denial constraint, with why a pair violates it and which rows to fix first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import NOBODY
from holdfast.changes.naming import by_number, listed
from holdfast.engines.denial.model import DenialConstraint
from holdfast.engines.denial.words import columns_of, most_involved, sentence
from holdfast.engines.listing import Listing
from holdfast.errors import BadInput
from holdfast.search.found import Found
from holdfast.table.naming import names_of
from holdfast.table.plain import plain_rows
from holdfast.table.table import Table


class DenialListing(Listing):
    """The violating pairs (or rows) of a denial constraint."""

    rule: DenialConstraint

    @staticmethod
    def of(rule: DenialConstraint, found: Found, table: Table) -> DenialListing:
        """From what was found in a table."""
        looked_at = {row: columns_of(rule, row) for row in (["t"] if rule.is_single else ["t", "s"])}
        return DenialListing(rule, table, found.count, found.pairs, looked_at)

    def explain(self, t: int, s: int | None = None) -> str:
        """One sentence about a violating pair (or row)."""
        asked = (t, NOBODY if s is None else s)
        for pair in (asked, asked[::-1]):
            if (self.listed == pair).all(axis=1).any():
                ids = np.array([row for row in pair if row != NOBODY])
                values = plain_rows(self.table.values(ids))
                return sentence(self.rule, self._short_names(ids), dict(zip(("t", "s"), values, strict=False)))
        names = list(self._short_names(np.array([t] if s is None else [t, s])).values())
        verb = "doesn't" if s is None else "don't"
        raise BadInput(f"{listed(names)} {verb} violate rule {self.rule.name}")

    def _short_names(self, ids: NDArray[np.int64]) -> dict[str, str]:
        """What t and s are called in a sentence that tells their values anyway."""
        names = names_of(self.table, ids) if self.table.schema.key else [by_number(row) for row in ids.tolist()]
        return dict(zip(("t", "s"), names, strict=False))

    def most_involved(self, most: int = 10) -> list[tuple[int, int]]:
        """The rows that take part in the most violations, with how many: what to fix first."""
        return most_involved(self.listed, most)
