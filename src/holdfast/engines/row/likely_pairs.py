"""Likely comparisons of two columns, such as `t.shipped_at >= t.created_at`.

Of two columns one of which is always the greater, most are just of different size: an age is below a weight. So a
comparison is a candidate only if the columns overlap: were their values put together by chance, at least one row in
fifty would break it, and ten rows at least. Some rows refute nearly all pairs; all rows decide the others.

How likely chance breaks one depends on its margin, how close rows came to break it (`tails.expected_below`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.engines import chance
from holdfast.engines.row.seen import SeenColumn, evenly
from holdfast.engines.row.tails import ON_LIMIT, Floats, Numbers, expected_below
from holdfast.rules.conditions import Comparison, of_t
from holdfast.table.types import is_measured

FIRST, MORE = 256, 4096  # rows that refute
BY_CHANCE, BROKEN_BY_CHANCE = 0.02, 10.0  # the share of rows, and the rows, that would break it by chance
_NEARLY = 0.01  # exceptions
_MOST_COLUMNS = 150
_FEWEST = 30  # rows that have both values


class Margin(NamedTuple):
    """What to expect in a row of a comparison that all rows keep; and whether it is firm, so that breaking it may be an
    error. Measures of which one is greater, but never equal to the other, may just differ in size.
    """

    chance: float
    is_firm: bool


@dataclass(frozen=True)
class LikelyComparison:
    """A comparison that rows passed, as far as some of them show."""

    low: SeenColumn
    high: SeenColumn
    by_chance: float  # the share of rows that would break it

    @property
    def condition(self) -> Comparison:
        """`t.low <= t.high`."""
        return Comparison(of_t(self.low.name), "<=", of_t(self.high.name))

    def margin(self, rows: int) -> Margin:
        """How close rows came to break it, where all keep it."""
        places = evenly(rows, MORE * 16)
        apart = self.high.floats_at(places) - self.low.floats_at(places)
        values, counts = np.unique(apart[~np.isnan(apart)], return_counts=True)
        numbers = Numbers(values, counts)
        both = max(rows * numbers.count // len(places), 1)
        beyond = expected_below(numbers, 0.0) * both / numbers.count
        measured = is_measured(self.low.type) or is_measured(self.high.type)
        on_limit = float(values[0]) == 0.0 and counts[0] >= ON_LIMIT * numbers.count
        odds = chance.OF_TIMES if self.low.is_time else chance.OF_COMPARISONS
        share, tests = both / rows, self.by_chance * both
        estimate = max(chance.of_limit(beyond, both, odds) * share, chance.of_law(tests, tests / rows, odds))
        return Margin(estimate, on_limit or not measured)


def comparisons(columns: Sequence[SeenColumn], rows: int) -> list[LikelyComparison]:
    """The comparisons that some rows do not refute."""
    found: list[LikelyComparison] = []
    for family in {each.family for each in columns if each.is_number or each.is_time}:
        own = [each for each in columns if each.family == family and each.distinct > 1 and each.is_finite]
        found += _of_family(own[:_MOST_COLUMNS], rows)
    return found


def _of_family(columns: Sequence[SeenColumn], rows: int) -> Iterator[LikelyComparison]:
    first, more = evenly(rows, FIRST), evenly(rows, MORE)
    some = [each.floats_at(first) for each in columns]
    known: dict[int, Floats] = {}
    for one, other in combinations(range(len(columns)), 2):
        for low, high in _not_refuted(some, one, other):
            for place in (low, high):
                if place not in known:
                    known[place] = columns[place].floats_at(more)
            if (share := _by_chance(known[low], known[high], rows)) is not None:
                yield LikelyComparison(columns[low], columns[high], share)


def _not_refuted(some: Sequence[Floats], one: int, other: int) -> Iterator[tuple[int, int]]:
    apart = some[other] - some[one]
    above, below = np.count_nonzero(apart > 0), np.count_nonzero(apart < 0)
    allowed = 2 * _NEARLY * len(apart)
    if below <= allowed < above:
        yield one, other
    elif above <= allowed < below:
        yield other, one


def _by_chance(low: Floats, high: Floats, rows: int) -> float | None:
    """The share of rows that would break a comparison by chance; None: it is refuted, or that share is small."""
    both = ~(np.isnan(low) | np.isnan(high))
    low, high = low[both], high[both]
    if len(low) < _FEWEST or np.count_nonzero(low > high) > _NEARLY * len(low):
        return None
    above = np.searchsorted(np.sort(high), low, "left")
    share = float(above.mean()) / len(high)
    return share if share >= BY_CHANCE and share * rows * len(low) / len(both) >= BROKEN_BY_CHANCE else None


def without_followers(found: Sequence[LikelyComparison], exact: NDArray[np.bool_]) -> list[int]:
    """The places of comparisons that do not follow from two exact ones: a <= c follows from a <= b and b <= c."""
    pairs = {(each.low.place, each.high.place) for each, holds in zip(found, exact, strict=True) if holds}
    above: dict[int, set[int]] = {}
    for low, high in pairs:
        above.setdefault(low, set()).add(high)

    def follows(each: LikelyComparison) -> bool:
        low, high = each.low.place, each.high.place
        return any((between, high) in pairs for between in above.get(low, ()) if between != high)

    return [place for place, each in enumerate(found) if not follows(each)]
