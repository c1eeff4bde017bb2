"""The violations of a rule about pairs of rows, with why a pair violates it and which rows to fix first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np

from holdfast.changes.diff import NOBODY
from holdfast.engines.listing import Listing
from holdfast.errors import BadInput
from holdfast.rules.given import Named
from holdfast.rules.rule import Rule
from holdfast.rules.sentences import Evaluator, Why, sentence, why
from holdfast.search.found import FoundPairs
from holdfast.table.plain import plain_rows
from holdfast.table.row_names import names_nothing_new, names_of, naming_key
from holdfast.table.rows import Ids
from holdfast.table.table import Table
from holdfast.text.row_names import by_number, listed


class PairListing(Listing):
    """The violating pairs (or rows) of a rule."""

    @classmethod
    def of(cls, rule: Named[Rule], found: FoundPairs, table: Table) -> Self:
        """From what was found in a table."""
        sides: tuple[Literal["t", "s"], ...] = ("t", "s")
        looked_at: dict[str, list[str]] = {row: columns for row in sides if (columns := rule.rule.columns_of_row(row))}
        return cls(rule, table, found.count, found.pairs, looked_at)

    def sentence(self, ids: Ids) -> str:
        """Why rows t and s violate the rule."""
        names = short_names(self.table, ids)
        said = why_rows(self.rule.rule, self.table, ids, names, self.known(ids))
        return sentence(self.rule.rule, said, names, self.rule.called)

    def known(self, ids: Ids) -> Evaluator | None:  # noqa: ARG002  # comparisons follow from the values
        """What the table knows of some rows."""
        return None

    def explain(self, t: int, s: int | None = None) -> str:
        """One sentence about a violating pair (or row)."""
        wanted = (t, NOBODY if s is None else s)
        for pair in (wanted, wanted[::-1]):
            if (self.listed == pair).all(axis=1).any():
                ids = np.array([row for row in pair if row != NOBODY])
                return self.sentence(ids)
        names = short_names(self.table, np.array([t] if s is None else [t, s]))
        verb = "doesn't" if s is None else "don't"
        raise BadInput(f"{listed(names)} {verb} violate rule {self.rule.name}")

    def most_involved(self, most: int = 10) -> list[tuple[int, int]]:
        """The rows that take part in the most violations, with how many: what to fix first."""
        ids, counts = np.unique(self.listed[self.listed != NOBODY], return_counts=True)
        first = np.lexsort((ids, -counts))[:most]
        return [(int(ids[i]), int(counts[i])) for i in first]


def short_names(table: Table, ids: Ids, said: Sequence[str] = ()) -> list[str]:
    """What rows are called in a sentence that says their values anyway, those of the columns `said` among them, dead or
    alive.
    """
    if not naming_key(table.schema) or names_nothing_new(table.schema, said):
        return [by_number(row) for row in ids.tolist()]
    return names_of(table, ids)


def why_rows(rule: Rule, table: Table, ids: Ids, names: Sequence[str], known: Evaluator | None = None) -> Why:
    """Why rows of a table break a rule."""
    schema = table.schema
    rows = plain_rows(table.values(ids))
    return why(rule, rows, names, schema.nulls, numeric=schema.numeric, evaluator=known, directed=True)
