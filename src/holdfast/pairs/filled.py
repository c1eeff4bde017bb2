"""In which columns two rows have values, where nulls are distinct: elsewhere they neither agree nor swap.

Two rows can break a rule only if both have values in some columns: in those of a key, in the left side of an FD, in the
context of an order and in both columns of its pair. A rule is **empty** iff fewer than two rows have values in all of
them: then no pair could break it, whatever the values are.

Counted are the sets of columns in which rows have values, of which there are mostly few. A batch costs what it brings;
nothing else is computed again unless it changes which sets one row has, or two. Where nulls are equal, nothing is
counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.keys import KeyTable
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.rewrite import UsedCodes
from holdfast.table.runner import Runner
from holdfast.table.table import Table

Numbers = NDArray[np.int64]
Marks = NDArray[np.bool_]

_PAIR = 2  # rows
_FIRST = 16  # sets that are looked at first: most columns find two rows there
_AT_ONCE = 1 << 20  # comparisons of sets
_ROWS = 1 << 16  # that are read at once
_DEAD = 1024  # sets that no row has any more are dropped when there are more of them, and they are the most


class Filled:
    """The sets of columns in which rows have values, and how many rows have each; those of most columns first."""

    def __init__(self, sets: Words, counts: Numbers, columns: int) -> None:
        order = np.argsort(-bitsets.sizes(sets), kind="stable")
        self._sets, self._counts = sets[order], counts[order]
        whole = (self._sets == bitsets.first(columns, sets.shape[1])).all(axis=1)
        self._two_are_whole = int(self._counts[whole].sum()) >= _PAIR  # so that no columns lack two rows
        self.nullable = ~np.bitwise_and.reduce(self._sets, axis=0)  # columns in which some row has none

    @staticmethod
    def of(table: Table) -> Filled:
        """Those of a table."""
        known, counts = _counted(table)
        return Filled(known.keys, counts, len(table.schema.columns))

    def rows(self, columns: Words) -> Numbers:
        """How many rows have values in all of some columns, for each of many sets of columns."""
        return self._rows(columns, None)

    def empty(self, columns: Words) -> Marks:
        """Of which sets of columns fewer than two rows have values in all."""
        return np.zeros(len(columns), np.bool_) if self._two_are_whole else self._rows(columns, _PAIR) < _PAIR

    def _rows(self, columns: Words, enough: int | None) -> Numbers:
        """How many rows have values in some columns; counted no further where there are enough."""
        wanted = KeyTable(columns.shape[1], 0)
        places = wanted.entries(columns & self.nullable)
        rows, left = np.zeros(wanted.used, np.int64), np.arange(wanted.used)
        begin, step = 0, max(1, min(_FIRST, _AT_ONCE // max(1, len(left))))
        while len(left) and begin < len(self._sets):
            lacking = wanted.keys[left][:, None] & ~self._sets[None, begin : begin + step]
            rows[left] += ~lacking.any(axis=2) @ self._counts[begin : begin + step]
            if enough is not None:
                left = left[rows[left] < enough]
            begin, step = begin + step, max(1, _AT_ONCE // max(1, len(left)))
        return rows[places]


def is_empty(table: Table, columns: Sequence[int]) -> bool:
    """Whether a rule that needs values in some columns is empty, in a table that has two rows at all."""
    if table.schema.nulls.are_equal or table.rows < _PAIR:
        return False
    return bool(Filled.of(table).empty(bitsets.of(columns, _words(table))[None])[0])


# Where nulls are equal, every pair of rows tests a rule: two rows have values in all columns.
ALWAYS = Filled(np.zeros((1, 1), np.uint64), np.array([_PAIR]), 0)


class FilledColumns:
    """The same, maintained under batches; engines share it.

    `now` is another object only after a batch that changed which sets no row has, one row, or more.
    """

    name: ClassVar[str] = "filled"

    def __init__(self, table: Table, known: KeyTable | None, counts: Numbers) -> None:
        """Of no sets, None, where nulls are equal."""
        self._columns, self._known, self._counts = len(table.schema.columns), known, counts
        self.now = self._as_of_now()

    @classmethod
    def of(cls, table: Table, runner: Runner, progress: Progress) -> FilledColumns:  # noqa: ARG003
        """From the rows."""
        is_equal = table.schema.nulls.are_equal
        return cls(table, None, np.empty(0, np.int64)) if is_equal else cls(table, *_counted(table))

    def follow(self, change: Change, runner: Runner) -> None:  # noqa: ARG002
        """Take in a batch."""
        if self._known is None:
            return
        words = self._known.keys.shape[1]
        come, gone = (self._known.entries(_sets(codes, words)) for codes in (change.inserted, change.deleted))
        self._counts = np.pad(self._counts, (0, self._known.used - len(self._counts)))
        touched = np.unique(np.concatenate([come, gone]))
        before = np.minimum(self._counts[touched], _PAIR)
        np.add.at(self._counts, come, 1)
        np.subtract.at(self._counts, gone, 1)
        if (before != np.minimum(self._counts[touched], _PAIR)).any():
            self.now = self._as_of_now()

    def _as_of_now(self) -> Filled:
        if self._known is None:
            return ALWAYS
        sets, counts = self._living()
        if len(self._counts) - len(counts) > max(len(counts), _DEAD):
            self._known, self._counts = _keyed(sets), counts
        return Filled(sets, np.minimum(counts, _PAIR), self._columns)

    def _living(self) -> tuple[Words, Numbers]:
        assert self._known is not None
        living = self._counts > 0
        return self._known.keys[living], self._counts[living]

    def rewritten(self, table: Table, kept: UsedCodes) -> FilledColumns:  # noqa: ARG002
        """Which cells are null stays as it is."""
        return self

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The sets and their counts."""
        if self._known is None:
            return {}, {}
        sets, counts = self._living()
        return {"sets": sets.reshape(-1), "counts": counts}, {}

    @classmethod
    def load(cls, table: Table, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> FilledColumns:  # noqa: ARG003
        """What `dump` described."""
        sets = np.array(arrays["sets"], np.uint64).reshape(-1, _words(table))
        return cls(table, _keyed(sets), np.array(arrays["counts"], np.int64))


def _words(table: Table) -> int:
    return bitsets.words_for(len(table.schema.columns) + 1)  # as the left sides of rules have


def _counted(table: Table) -> tuple[KeyTable, Numbers]:
    """The sets of a table, and how many rows have each."""
    known, counts = KeyTable(_words(table)), np.empty(0, np.int64)
    for shard, alive in table.living():
        own = [codes if alive is None else codes[alive] for codes in shard.columns]
        for begin in range(0, len(own[0]) if own else 0, _ROWS):
            places = known.entries(_sets([codes[begin : begin + _ROWS] for codes in own], _words(table)))
            counts = np.pad(counts, (0, known.used - len(counts))) + np.bincount(places, minlength=known.used)
    return known, counts


def _sets(codes: Any, words: int) -> Words:
    """The columns in which rows have values, of codes column by column."""
    return bitsets.packed(np.array([own != NULL_CODE for own in codes]).T, words)


def _keyed(sets: Words) -> KeyTable:
    known = KeyTable(sets.shape[1], len(sets))
    known.entries(sets)
    return known
