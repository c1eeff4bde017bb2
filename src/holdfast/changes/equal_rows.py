"""Equal rows of a batch: rows as codes (see `holdfast.table`), hashed and grouped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint32]  # [column, row]


@dataclass(frozen=True)
class RowGroups:
    """Groups of equal rows: the group of each row, and each group's first row, in order of appearance."""

    of_row: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many distinct rows there are."""
        return len(self.first)


def group_rows(codes: Codes, hashes: NDArray[np.uint64] | None = None) -> RowGroups:
    """Group equal rows by their hash, which may be given, and check that by comparing the codes themselves."""
    known = hash_rows(list(codes)) if hashes is None else hashes
    _, first, of_row = np.unique(known, return_index=True, return_inverse=True)
    if not np.array_equal(codes, codes[:, first[of_row]]):  # two rows share a hash: compare in full
        _, first, of_row = np.unique(codes, axis=1, return_index=True, return_inverse=True)
    appearance = np.argsort(first, kind="stable")
    rank = np.empty(len(first), np.int64)
    rank[appearance] = np.arange(len(first))
    return RowGroups(rank[of_row.reshape(-1)], first[appearance].astype(np.int64))


def hash_rows(columns: list[NDArray[np.unsignedinteger]], rows: int | None = None) -> NDArray[np.uint64]:
    """A 64-bit hash of each row, the same for codes stored narrow or wide."""
    count = len(columns[0]) if columns else (rows or 0)
    state = np.full(count, 0x9E3779B97F4A7C15, np.uint64)
    for column in columns:
        state ^= column.astype(np.uint64) * np.uint64(0xBF58476D1CE4E5B9)
        state *= np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(29)
    return state
