"""Why a rule about pairs of rows doesn't hold: why two rows violate it, and which rows to fix first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.engines import contract
from holdfast.engines.given.listing import PairListing
from holdfast.table.naming import keys_of


@dataclass(frozen=True, eq=False)
class Explanation(contract.Explanation):
    """The violations of a rule; some rows and why they violate it; and the rows that most violations share."""

    listing: PairListing
    rows: tuple[int, ...]
    reason: str
    most_involved: tuple[tuple[int, int], ...]

    @staticmethod
    def of(listing: PairListing, rows: Sequence[int]) -> Explanation:
        """About the rows asked for, or the first that violate the rule."""
        chosen = list(rows) or [int(row) for row in listing.listed[:1].ravel() if row >= 0]
        reason = listing.explain(*chosen) if chosen else "It holds: no rows violate it"
        return Explanation(listing, tuple(chosen), reason, tuple(listing.most_involved()))

    def lines(self) -> list[str]:
        """The rule, what it is for, and the reason."""
        rule = self.listing.rule
        return [f"{rule.name}: {rule.text}", *rule.note.splitlines(), f"{self.reason}."]

    def table(self) -> contract.LinesTable | None:
        """The rows to fix first."""
        if not self.most_involved:
            return None
        names = self.listing.names(np.array([row for row, _ in self.most_involved]))
        counts = [(f"{times:,}", f"{times / self.listing.count:.1%}") for _, times in self.most_involved]
        rows = [(*count, name) for count, name in zip(counts, names, strict=True)]
        return contract.LinesTable("What to fix first", ("violations", "of all", "row"), rows, ("violations", "of all"))

    def to_json(self) -> dict[str, Any]:
        """As a plain object."""
        rule = self.listing.rule
        return {
            **self.listing.to_json(),
            **({"note": rule.note} if rule.note else {}),
            "holds": not self.listing.count,
            "rows": list(self.rows),
            **self._keys(self.rows),
            "reason": self.reason,
            "most_involved": [
                {"row": row, **self._keys([row]), "violations": times} for row, times in self.most_involved
            ],
        }

    def _keys(self, rows: Sequence[int]) -> dict[str, Any]:
        """The keys of some rows, where one is declared."""
        keys = keys_of(self.listing.table, np.array(rows, np.int64))
        return {"keys": list(keys)} if keys else {}
