"""Why a given rule doesn't hold; of a rule about pairs of rows: why two violate it, and which rows to fix first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdfast.engines import contract
from holdfast.engines.given.listing import PairListing
from holdfast.rules.given import Named
from holdfast.rules.names import titled
from holdfast.table.row_names import keys_of
from holdfast.visible import counted


@dataclass(frozen=True, eq=False)
class GivenExplanation(contract.CurrentExplanation):
    """A given rule with what there is to say of it, in lines and as a plain object; and the rows to fix first."""

    rule: Named[Any]
    said: Sequence[str]
    about: dict[str, Any]
    to_fix: contract.LinesTable | None = None

    def lines(self) -> list[str]:
        """The rule, what it is for, and what there is to say."""
        return [titled(self.rule.name, self.rule.text), *self.rule.note.splitlines(), *self.said]

    def table(self) -> contract.LinesTable | None:
        """The rows to fix first."""
        return self.to_fix

    def to_json(self) -> dict[str, Any]:
        """As a plain object."""
        return self.about


def explained(listing: PairListing, wanted: Sequence[int]) -> GivenExplanation:
    """Why the wanted rows violate a rule, or the first that do, and the rows that most violations share."""
    rule, involved = listing.rule, listing.most_involved()
    rows = list(wanted) or [int(row) for row in listing.listed[:1].ravel() if row >= 0]
    reason = listing.explain(*rows) if rows else "It holds: no rows violate it"
    about = {
        **listing.to_json(),
        **({"note": rule.note} if rule.note else {}),
        "holds": not listing.count,
        "rows": rows,
        **_keys(listing, rows),
        "reason": reason,
        "most_involved": [{"row": row, **_keys(listing, [row]), "violations": times} for row, times in involved],
    }
    several = f"{counted(listing.count, 'violation')}, for example " if listing.count > 1 and not wanted else ""
    return GivenExplanation(rule, [f"{several}{reason}."], about, _to_fix(listing, involved))


def _keys(listing: PairListing, rows: Sequence[int]) -> dict[str, Any]:
    """The keys of some rows, where one is declared."""
    keys = keys_of(listing.table, np.array(rows, np.int64))
    return {"keys": list(keys)} if keys else {}


def _to_fix(listing: PairListing, involved: Sequence[tuple[int, int]]) -> contract.LinesTable | None:
    if not involved:
        return None
    names = listing.names(np.array([row for row, _ in involved]))
    rows = [
        (f"{times:,}", f"{times / listing.count:.1%}", name) for (_, times), name in zip(involved, names, strict=True)
    ]
    return contract.LinesTable("What to fix first", ("violations", "of all", "row"), rows, ("violations", "of all"))
