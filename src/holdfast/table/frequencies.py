"""How often each value of each column occurs among the living rows of a table, kept true under batches.

Invariant: `columns[c].of(code)` is the number of living rows with that code in column c, null's code included; there is
a count for every code of the dictionary, also for values that came and went within one batch.
Cost: one byte a distinct value of a column where no value is frequent, two or four where some are. A batch costs what
it touches, but for one copy of the counts of a column that are still mapped from a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.inclusion import count_codes
from holdfast.kernels.jit import frozen
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.load import run_probe
from holdfast.table.portions import portions
from holdfast.table.rewrite import UsedCodes
from holdfast.table.runner import Runner
from holdfast.table.shard import Shard, narrowed
from holdfast.table.table import Alive, Table

_COUNTS_AT_ONCE = 4_000_000  # so that the answers of all shards stay small
_ALL_ALIVE = np.empty(0, np.bool_)


class Moved(NamedTuple):
    """The codes of a column whose frequency a batch changed, ascending, and by how much."""

    codes: NDArray[np.int64]
    steps: NDArray[np.int64]


class ValueCounts:
    """The frequencies of one column by code, as narrow as they fit. A file's array is copied when first written to."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def of(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The frequencies of some codes; codes below 0, or not met yet, have none."""
        inside = (codes >= 0) & (codes < len(self.array))
        if inside.all():
            return self.array[codes].astype(np.int64)
        found = np.zeros(len(codes), np.int64)
        found[inside] = self.array[codes[inside]]
        return found

    def occurring(self) -> NDArray[np.int64]:
        """The codes of values, not of null, that occur."""
        return 1 + np.flatnonzero(self.array[1:])

    def reach(self, size: int, wider: np.dtype[Any] | None = None) -> None:
        """Have room for `size` codes, and for counts of the type `wider`."""
        dtype = self.array.dtype if wider is None else np.promote_types(self.array.dtype, wider)
        if size > len(self.array) or dtype != self.array.dtype:
            grown = np.zeros(size + size // 8 if size > len(self.array) else len(self.array), dtype)
            grown[: len(self.array)] = self.array
            self.array = grown

    def move(self, moved: Moved, size: int) -> None:
        """Change the frequencies of some codes, out of `size` codes."""
        after = self.of(moved.codes) + moved.steps
        if len(after) and after.min() < 0:
            raise AssertionError("a count of values fell below zero")
        self.reach(size, np.min_scalar_type(int(after.max(initial=0))))
        if len(after):
            self.array = self.array if self.array.flags.writeable else self.array.copy()
            self.array[moved.codes] = after


class Frequencies:
    """The counts of all columns of a table, and what the last batch changed in each (nothing before the first)."""

    name: ClassVar[str] = "frequencies"

    def __init__(self, columns: list[ValueCounts]) -> None:
        self.columns = columns
        nothing = np.empty(0, np.int64)
        self.moved = [Moved(nothing, nothing) for _ in columns]

    @classmethod
    def of(cls, table: Table, runner: Runner, progress: Progress) -> Frequencies:  # noqa: ARG003  # it is one quick pass
        """Count the codes of all rows: in threads column by column, elsewhere shard by shard."""
        places = range(len(table.dictionaries))
        if runner.is_local:
            return cls(runner.map(lambda column: ValueCounts(narrowed(_counted(table, column))), places))
        totals = [np.zeros(len(dictionary), np.uint32) for dictionary in table.dictionaries]
        for columns in portions(enumerate(map(len, table.dictionaries)), _COUNTS_AT_ONCE):
            for answer in run_probe(runner, count_shard, table, columns):
                for column, (codes, counts) in zip(columns, answer, strict=True):
                    totals[column][codes] += counts
        return cls([ValueCounts(narrowed(total)) for total in totals])

    @classmethod
    def load(cls, table: Table, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> Frequencies:  # noqa: ARG003
        """From what `dump` gave."""
        columns = [ValueCounts(arrays[str(column)]) for column in range(len(table.dictionaries))]
        for counts, dictionary in zip(columns, table.dictionaries, strict=True):
            counts.reach(len(dictionary))
        return cls(columns)

    def follow(self, change: Change, runner: Runner) -> None:  # noqa: ARG002  # a batch fits one machine
        """Count the rows of a batch."""
        self.moved = [moved_codes(*codes) for codes in zip(change.inserted, change.deleted, strict=True)]
        for counts, moved, dictionary in zip(self.columns, self.moved, change.after.dictionaries, strict=True):
            counts.move(moved, len(dictionary))

    def rewritten(self, table: Table, kept: UsedCodes) -> Frequencies:  # noqa: ARG002
        """The counts of the codes that stayed."""
        pairs = zip(self.columns, kept, strict=True)
        return Frequencies([ValueCounts(narrowed(counts.of(stays).astype(np.uint64))) for counts, stays in pairs])

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The counts, as narrow as they fit."""
        return {str(column): narrowed(counts.array) for column, counts in enumerate(self.columns)}, {}


def moved_codes(born: NDArray[Any], died: NDArray[Any]) -> Moved:
    """The codes that more, or fewer, rows have, given those of rows that were born and that died."""
    codes, places = np.unique(np.concatenate([born, died]).astype(np.int64), return_inverse=True)
    gained = np.bincount(places[: len(born)], minlength=len(codes))
    steps = gained - np.bincount(places[len(born) :], minlength=len(codes))
    return Moved(codes[steps != 0], steps[steps != 0])


def _counted(table: Table, column: int) -> NDArray[np.uint32]:
    total = np.zeros(len(table.dictionaries[column]), np.uint32)
    for shard, alive in table.living():
        count_codes(frozen(shard.columns[column]), frozen(_ALL_ALIVE if alive is None else alive), total)
    return total


def count_shard(shard: Shard, alive: Alive, columns: list[int]) -> list[tuple[NDArray[np.uint32], NDArray[np.uint32]]]:
    """The probe: for each column the codes that occur among the living rows of a shard, and how often."""
    counts = []
    for column in columns:
        codes = shard.columns[column]
        dense = np.bincount(codes if alive is None else codes[alive])
        occurring = np.flatnonzero(dense)
        counts.append((occurring.astype(np.uint32), dense[occurring].astype(np.uint32)))
    return counts
