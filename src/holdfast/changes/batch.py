"""Batches: signed rows that form a commutative group.

A row with weight +1 is an insert, with weight -1 a delete; an update is both. Batches add, have a zero and an
inverse, and `consolidate` gives each its normal form: every row once, no weight zero. A batch may be negative;
a table never is (a delete of a row that isn't there is an error, raised where a batch meets its table).

Rows are codes (see `holdfast.table`), so equality of rows is equality of integers here.
Cost: `plus` and `negate` are linear; `consolidate` sorts n row hashes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows (`codes[column, row]`) with a weight each."""

    codes: Codes
    weights: NDArray[np.int64]

    @staticmethod
    def zero(width: int) -> Batch:
        """The batch that changes nothing, for a table of `width` columns."""
        return Batch(np.empty((width, 0), np.uint32), np.empty(0, np.int64))

    def __add__(self, other: Batch) -> Batch:
        return Batch(np.concatenate([self.codes, other.codes], axis=1), np.concatenate([self.weights, other.weights]))

    def __neg__(self) -> Batch:
        return Batch(self.codes, -self.weights)

    def __len__(self) -> int:
        return len(self.weights)

    def consolidate(self) -> Batch:
        """The normal form: distinct rows in order of their first appearance, without weight zero."""
        groups = group_rows(self.codes)
        weights = np.zeros(groups.count, np.int64)
        np.add.at(weights, groups.of_row, self.weights)
        keep = weights != 0
        return Batch(self.codes[:, groups.first[keep]], weights[keep])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Batch) and len((self + -other).consolidate()) == 0

    __hash__ = None  # type: ignore[assignment]  # equal batches may look different


@dataclass(frozen=True)
class Groups:
    """Equal rows put together: the group of each row, and each group's first row, in order of appearance."""

    of_row: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many distinct rows there are."""
        return len(self.first)


def group_rows(codes: Codes, hashes: NDArray[np.uint64] | None = None) -> Groups:
    """Group equal rows by their hash, where it is known already, and prove it by comparing the codes themselves."""
    known = hash_rows(list(codes)) if hashes is None else hashes
    _, first, of_row = np.unique(known, return_index=True, return_inverse=True)
    if not np.array_equal(codes, codes[:, first[of_row]]):  # two rows share a hash: compare in full
        _, first, of_row = np.unique(codes, axis=1, return_index=True, return_inverse=True)
    appearance = np.argsort(first, kind="stable")
    rank = np.empty(len(first), np.int64)
    rank[appearance] = np.arange(len(first))
    return Groups(rank[of_row.reshape(-1)], first[appearance].astype(np.int64))


def hash_rows(columns: list[NDArray[np.unsignedinteger]], rows: int | None = None) -> NDArray[np.uint64]:
    """A 64-bit hash of each row, the same for codes stored narrow or wide."""
    count = len(columns[0]) if columns else (rows or 0)
    state = np.full(count, 0x9E3779B97F4A7C15, np.uint64)
    for column in columns:
        state ^= column.astype(np.uint64) * np.uint64(0xBF58476D1CE4E5B9)
        state *= np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(29)
    return state
