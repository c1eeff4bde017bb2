"""Which indexes answer some lookups, sharing as many as can be (papers: weever, section 5.3).

Lookups with the same checks on the rows found and the same equality columns use one index, unless they want its rows
in another order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from holdfast.search.queries import Checks, Condition, Lookup, Operator

# Beyond this many distinct values, sorting by a column with more of them gains nothing.
_FINE = 4096


@dataclass
class Layout:
    """One index: the rows that pass some checks, by equality columns, then the leading column, then further ones."""

    found: Checks
    keys: tuple[int, ...]
    lead: int | None
    others: list[int] = field(default_factory=list)

    def suits(self, lookup: Lookup, lead: int | None) -> bool:
        """Whether a lookup can share this index; one without a leading column of its own takes any."""
        same = self.found == lookup.found and self.keys == lookup.keys
        return same and (lead is None or self.lead is None or lead == self.lead)


def lead_of(lookup: Lookup, distinct: Sequence[int]) -> int | None:
    """The column by which rows are best sorted within their equality group (section 5.2, classes 3 to 6).

    Inequalities before `!=`, for sorting turns them into ranges; of them the one with the most distinct values, for
    the finer the order, the less there is left to compare; among those fine enough the one with the fewest. Of `!=`
    the one with the fewest, for the more rows are equal, the more are skipped at once.
    """
    ranged = list(dict.fromkeys(c.mine for c in lookup.rest if c.operator != "!="))
    if ranged:
        return max(ranged, key=lambda c: (min(distinct[c], _FINE), -distinct[c]))
    return min(lookup.others, key=lambda c: distinct[c], default=None)


_CLASS: dict[Operator, int] = {"=": 0, "!=": 2, "<": 4, "<=": 4, ">": 4, ">=": 4}


def by_selectivity(conditions: Iterable[Condition], distinct: Sequence[int]) -> list[Condition]:
    """Conditions in the order in which they are tried (section 5.2): by class, equalities, then `!=`, then
    inequalities, each with columns compared with themselves first; within a class by the number of distinct values,
    equalities with many first, the others with few.
    """
    return sorted(
        conditions,
        key=lambda c: (
            _CLASS[c.operator] + (c.mine != c.theirs),
            -distinct[c.mine] if c.operator == "=" else distinct[c.mine],
        ),
    )


def layouts_for(lookups: Iterable[Lookup], distinct: Sequence[int]) -> tuple[list[Layout], list[int]]:
    """The indexes for some lookups, and the number of each lookup's index. `distinct` counts each column's values."""
    made: list[Layout] = []
    places: list[int] = []
    for lookup in lookups:
        lead = lead_of(lookup, distinct)
        number = next((i for i, each in enumerate(made) if each.suits(lookup, lead)), len(made))
        if number == len(made):
            made.append(Layout(lookup.found, lookup.keys, lead))
        shared = made[number]
        shared.lead = lead if shared.lead is None else shared.lead
        shared.others += [column for column in lookup.others if column not in (*shared.others, shared.lead)]
        places.append(number)
    return made, places
