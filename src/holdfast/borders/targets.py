"""Targets: what the rules of a table are about. A rule is a target with a context, a set of columns, in which it holds.

A pair of rows breaks some targets, and so every rule of these whose context the two rows agree on. For m columns:

- `0 … m - 1`, the constants: two rows break the target of a column on which they differ;
- `m`, the key: any two rows break it;
- then the pairs of columns a < b, ascending: two rows break it that swap on a and b (one is less on a and more on b);
- then the same pairs, descending: two rows break it that are both less, or both more, on a and b.

With nulls distinct a null equals nothing, and is neither less nor more than anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.evidence import fill_broken
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words


@dataclass(frozen=True)
class Targets:
    """The targets of a table with `columns` columns, which of them are wanted, and of which columns contexts may be
    made (None: all). No pair that is wanted has a column that is `unordered`.
    """

    columns: int
    constants: bool = True
    keys: bool = True
    ascending_pairs: bool = False
    descending_pairs: bool = False
    within: tuple[int, ...] | None = None
    unordered: tuple[int, ...] = ()

    @property
    def pairs(self) -> int:
        """How many pairs of columns there are."""
        return self.columns * (self.columns - 1) // 2

    @property
    def key(self) -> int:
        """The target of keys."""
        return self.columns

    @property
    def count(self) -> int:
        """One more than the highest number of a target, of those that are wanted or come before one that is."""
        if self.descending_pairs:
            return self.columns + 1 + 2 * self.pairs
        return self.columns + 1 + (self.pairs if self.ascending_pairs else 0)

    @property
    def words(self) -> int:
        """The words of a set of targets."""
        return bitsets.words_for(self.count)

    @property
    def context_words(self) -> int:
        """The words of a context."""
        return bitsets.words_for(self.columns + 1)

    def ascending(self, a: int, b: int) -> int:
        """The target of a pair of columns that never swap."""
        return self.columns + 1 + self._place(a, b)

    def descending(self, a: int, b: int) -> int:
        """The target of a pair of columns of which one never rises with the other."""
        return self.columns + 1 + self.pairs + self._place(a, b)

    def _place(self, a: int, b: int) -> int:
        a, b = min(a, b), max(a, b)
        return a * (2 * self.columns - a - 1) // 2 + b - a - 1

    def is_descending(self, target: int) -> bool:
        """Whether a target is a pair of columns, descending."""
        return target > self.columns + self.pairs

    @cached_property
    def columns_of(self) -> list[tuple[int, ...]]:
        """The columns of each target, by its number: none, one or two; no context of its rules holds them."""
        every = range(self.columns)
        pairs = list(combinations(every, 2)) if self.ascending_pairs or self.descending_pairs else []
        return [*((column,) for column in every), (), *pairs, *pairs]

    def columns_of_pairs(self, targets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The two columns of each of some targets that are pairs."""
        one, other = _pairs_of(self.columns)
        places = (targets - self.columns - 1) % max(self.pairs, 1)
        return one[places], other[places]

    @cached_property
    def sets_of_pairs(self) -> Words:
        """The columns of each target of two columns, as a set; none of others."""
        sets = np.zeros((len(self.columns_of), self.context_words), np.uint64)
        pairs = np.arange(self.key + 1, len(sets))
        for columns in self.columns_of_pairs(pairs):
            sets[pairs, columns >> 6] |= np.uint64(1) << (columns & 63).astype(np.uint64)
        return sets

    @cached_property
    def free_columns(self) -> Words:
        """The columns of which contexts may be made."""
        return bitsets.of(range(self.columns) if self.within is None else self.within, self.context_words)

    def free(self, target: int) -> Words:
        """The columns of which contexts of a target may be made."""
        return self.free_columns & ~bitsets.of(self.columns_of[target], self.context_words)

    @cached_property
    def ordered_pairs(self) -> list[tuple[int, int]]:
        """The pairs of columns that have an order."""
        return list(combinations([c for c in range(self.columns) if c not in self.unordered], 2))

    def wanted(self) -> list[int]:
        """The targets that are wanted."""
        m = self.columns
        found: list[int] = list(range(m)) if self.constants else []
        found += [m] if self.keys else []
        found += [self.ascending(*pair) for pair in self.ordered_pairs] if self.ascending_pairs else []
        return found + ([self.descending(*pair) for pair in self.ordered_pairs] if self.descending_pairs else [])

    @cached_property
    def _wanted_set(self) -> Words:
        return bitsets.of(self.wanted(), self.words)

    def broken_by(self, agree: Words, less: Words, more: Words) -> Words:
        """The wanted targets that pairs of rows break, a row of words each; given, for each pair, the columns on
        which the two agree, and those on which the first row is less, and more, than the second.
        """
        broken = np.zeros((len(agree), self.words), np.uint64)
        fill_broken(agree, less, more, self.columns, self.ascending_pairs, self.descending_pairs, broken)
        return broken & self._wanted_set


@cache
def _pairs_of(columns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of `columns` columns, in order."""
    return np.triu_indices(columns, 1)
