"""Pointwise rules as arrays: there may be a million."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.boxes import EQUAL, FREE, LESS, Boxes, Mask, Space, packed
from holdfast.pairs.bitsets import Words

# The arrays of rules in a dump.
DUMPED: dict[str, Any] = {"left": np.uint8, "column": np.int64, "mark": np.uint8, "vacuous": np.bool_}


@dataclass(frozen=True, eq=False)
class RuleArrays:
    """Rules, one a row: left side (its own column is free), column and mark of the right side (LESS, LESS | EQUAL or
    EQUAL), whether it is vacuous; and coverage with its error, where it was computed.
    """

    left: Boxes
    column: NDArray[np.int64]
    mark: NDArray[np.uint8]
    vacuous: Mask
    coverage: NDArray[np.float64] | None = None
    error: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.column)

    @staticmethod
    def of(left: Boxes, column: int, mark: int) -> RuleArrays:
        """With the same right side."""
        size = len(left)
        return RuleArrays(
            left, np.full(size, column, np.int64), np.full(size, mark, np.uint8), np.zeros(size, np.bool_)
        )

    @staticmethod
    def joined(columns: int, parts: Sequence[RuleArrays]) -> RuleArrays:
        """All of them, without coverage; there may be none."""
        every = [RuleArrays.of(np.empty((0, columns), np.uint8), 0, 0), *parts]
        return RuleArrays(*(np.concatenate([getattr(each, name) for each in every]) for name in DUMPED))

    def some(self, chosen: Mask | NDArray[np.int64]) -> RuleArrays:
        """Some of them, or all in another order."""
        more = (None if each is None else each[chosen] for each in (self.coverage, self.error))
        return RuleArrays(self.left[chosen], self.column[chosen], self.mark[chosen], self.vacuous[chosen], *more)

    def all_vacuous(self) -> RuleArrays:
        """The same, which are vacuous."""
        return replace(self, vacuous=np.ones(len(self), np.bool_))

    def in_order(self) -> RuleArrays:
        """By their right sides, short left sides first."""
        sizes = (self.left != FREE).sum(axis=1)
        return self.some(np.lexsort((*self.left.T[::-1], sizes, self.mark, self.column)))

    def boxes(self, space: Space) -> Boxes:
        """For each rule the box that no pair of rows meets, as long as it holds: left side and negated right side."""
        boxes, negated = self.left.copy(), np.zeros((space.columns, FREE + 1), np.uint8)
        for column in range(space.columns):
            for mark in (LESS, LESS | EQUAL, EQUAL):
                negated[column, mark] = space.negated(column, mark)
        boxes[np.arange(len(self)), self.column] = negated[self.column, self.mark]
        return boxes

    @cached_property
    def keys(self) -> Words:
        """Rules as rows of words: two are equal iff the rules are."""
        right = (self.column.astype(np.uint64) << np.uint64(4)) | self.mark.astype(np.uint64)
        return np.concatenate([packed(self.left), right[:, None]], axis=1)
