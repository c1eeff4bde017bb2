"""The minimal conjunctions of comparisons that no two rows meet, from counts: the never-sets.

A never-set is minimal if everything that it implies, and that does not imply it, is met by some pair of rows. On one
line `<=` is weaker than `<` and `=`, `!=` than `<` and `>`; no comparison at all is weaker than any. So it is enough to
look a step further on each line, at each conjunction without one of the comparisons, and at its alternatives, where it
has any (see `conjunctions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.comparison_counts import KNOWN, Counts, line_sets
from holdfast.engines.pointwise.comparisons import PER_LINE, WEAKER, Comparisons, Mask, Numbers
from holdfast.engines.pointwise.conjunctions import (
    NONE,
    alternatives,
    keys_of,
    listed,
    representatives,
    sizes_of,
    weaker,
)
from holdfast.pairs.bitsets import Words

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, eq=False)
class NeverSets:
    """Conjunctions as rows of `listed`; and how many ordered pairs of rows come near each: they meet all comparisons
    but one, and have values for that one.
    """

    rows: Numbers
    near: Numbers

    def __len__(self) -> int:
        return len(self.rows)

    def some(self, chosen: Mask | Numbers) -> NeverSets:
        """Some of them, or all in another order."""
        return NeverSets(self.rows[chosen], self.near[chosen])

    @cached_property
    def keys(self) -> Words:
        """Rows of one word: equal ones have equal words."""
        return keys_of(self.rows)[:, None]

    def best_first(self) -> NeverSets:
        """Those first that most pairs come near."""
        return self.some(np.lexsort((self.keys[:, 0], -self.near)))


class MetConjunctions:
    """Which conjunctions some pair of rows meets, and which are minimal among the others."""

    def __init__(self, comparisons: Comparisons, counts: Counts) -> None:
        self._comparisons, self._counts = comparisons, counts.by_comparison
        self._numbers: list[Numbers] = []
        self._met: list[Mask] = []
        for size, level in enumerate(self._counts, 1):
            sets = line_sets(len(comparisons), size)
            self._numbers.append(np.zeros([len(comparisons)] * size, np.int64))
            self._numbers[-1][tuple(sets.T)] = np.arange(len(sets))
            met = level[(slice(None), *[slice(PER_LINE)] * size)] > 0
            for axis in range(size):  # what is not allowed counts as met: it is no never-set, and nothing hinges on it
                met |= _along(~comparisons.allowed[sets[:, axis]], axis, size)
            self._met.append(met)

    def never(self, rows: Numbers) -> Mask:
        """Which rows of `listed` no pair of rows meets."""
        return self._looked_up(rows, [~met for met in self._met])

    def near(self, rows: Numbers) -> Numbers:
        """How many pairs come near each of some never-sets."""
        levels = []
        for size, level in enumerate(self._counts, 1):
            near = np.zeros_like(self._met[size - 1], np.int64)
            for axis in range(size):
                at = [slice(PER_LINE)] * size
                at[axis] = slice(KNOWN, KNOWN + 1)
                near += level[(slice(None), *at)]
            levels.append(near)
        return self._looked_up(rows, levels)

    def _looked_up(self, rows: Numbers, levels: Sequence[NDArray[T]]) -> NDArray[T]:
        sizes, found = sizes_of(rows), np.zeros(len(rows), levels[0].dtype)
        for size, level in enumerate(levels, 1):
            lines, operators = np.divmod(rows[sizes == size, :size], PER_LINE)
            found[sizes == size] = level[(self._numbers[size - 1][tuple(lines.T)], *operators.T)]
        return found

    @cached_property
    def minimal(self) -> Numbers:
        """All minimal never-sets: mirror images, equivalent ones, and those within single columns among them."""
        least = [self._least(size) for size in range(1, len(self._met) + 1)]
        parts = [listed(self._listed(level)) for level in least]
        rows = np.concatenate([np.empty((0, 3), np.int64), *parts])
        follows = np.zeros(len(rows), np.bool_)
        for each in alternatives(rows, self._comparisons):
            is_other = ~each.is_equivalent | ~self._looked_up(each.rows, least)
            follows[each.of[self.never(each.rows) & is_other]] = True
        return rows[~follows]

    def _least(self, size: int) -> Mask:
        """The never-sets of which nothing weaker on the same lines, or on some of them, is one."""
        met = self._met[size - 1]
        least = ~met
        for axis in range(size):
            for operator, others in WEAKER.items():
                for other in others:
                    least[_at(axis, operator)] &= met[_at(axis, other)]
        sets = line_sets(len(self._comparisons), size)
        for axis in range(size if size > 1 else 0):
            rest = np.delete(sets, axis, axis=1)
            least &= np.expand_dims(self._met[size - 2][self._numbers[size - 2][tuple(rest.T)]], axis + 1)
        return least

    def _listed(self, level: Mask) -> Numbers:
        """The conjunctions of a mask."""
        number, *operators = level.nonzero()
        lines = line_sets(len(self._comparisons), len(operators))[number]
        return lines * PER_LINE + np.array(operators, np.int64).reshape(len(operators), -1).T

    @cached_property
    def denials(self) -> NeverSets:
        """The minimal never-sets that compare different columns, by their representatives; short ones first."""
        lines = np.append(self._comparisons.is_across, False)[
            np.where(self.minimal == NONE, -1, self.minimal // PER_LINE)
        ]
        rows = representatives(self.minimal[lines.any(axis=1)], self._comparisons)
        _, first = np.unique(keys_of(rows), return_index=True)
        return NeverSets(rows[first], self.near(rows[first]))

    def stronger(self, row: Numbers) -> Numbers | None:
        """A minimal never-set from which another one follows, by its representative; None: it is minimal itself."""
        others = weaker(row, self._comparisons)
        own = keys_of(representatives(row[None], self._comparisons))
        for each in others[np.isin(keys_of(others), self._minimal_keys)]:
            found = representatives(each[None], self._comparisons)
            return None if keys_of(found) == own else found[0]
        return None

    @cached_property
    def _minimal_keys(self) -> Words:
        return keys_of(self.minimal)


def _along(mask: Mask, axis: int, size: int) -> Mask:
    """A mask `[set, operator]` where the operators are those of one axis of several."""
    return mask.reshape(len(mask), *(PER_LINE if place == axis else 1 for place in range(size)))


def _at(axis: int, operator: int) -> tuple[slice | int, ...]:
    return (*[slice(None)] * (axis + 1), operator)
