"""The rows of a reference that have no partner, kept true under batches on either table.

`partners` counts the tuples of the referenced side; a row without a null on the dependent side whose tuple is not among
them is an orphan. A row born is looked up; a tuple that comes to the referenced side, or goes from it altogether, takes
or makes the orphans that have it, and those are found by a pass over the dependent table, where it has such rows.

Invariant: `orphans` holds the ids of all orphans, ascending, and `support` is the number of rows without a null.
Cost: a batch costs its rows, and one pass over the codes of the dependent columns where it brings or takes a tuple that
the dependent side has. Counting tuples of several columns costs memory for the distinct ones; those of one are shared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.inclusion import nary, tuples, witness
from holdfast.engines.inclusion.state import Attribute, State
from holdfast.engines.inclusion.translate import Translations
from holdfast.engines.inclusion.tuples import TupleCodes
from holdfast.pairs.counter import KeyCounter
from holdfast.rules.inclusion import IND
from holdfast.table.change import Change
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table

Ids = NDArray[np.int64]
Codes = NDArray[np.unsignedinteger] | TupleCodes  # [column, row]


class Reference:
    """One reference on some tables, with the rows that have no partner. The state's tables are those after a batch."""

    def __init__(self, state: State, ind: IND, orphans: Ids, support: int) -> None:
        self._state, self.ind = state, ind
        self.orphans, self.support = orphans, support
        self._dependent = witness.attributes(state, ind.dependent)
        self._referenced = witness.attributes(state, ind.referenced)
        self.compared = tuple(zip(self._dependent, self._referenced, strict=True))
        self._partners: _Partners = (_OfOneColumn if ind.arity == 1 else _OfSeveral)(state, self._referenced)

    @staticmethod
    def of(state: State, ind: IND) -> Reference:
        """From the rows."""
        made = Reference(state, ind, np.empty(0, np.int64), 0)
        found = [made.orphans]
        pairs = tuple((a.number, b.number) for a, b in made.compared)
        for ids, rows in nary.dependent_tuples(state, nary.Candidate(pairs), Translations(state)):
            made.support += len(ids)
            found.append(ids[~made._partners.have(rows)])
        made.orphans = np.concatenate(found)
        return made

    def follow(self, change: Change, maps: Translations) -> tuple[Ids, Ids]:
        """Take in a batch on one of the tables, or on the one that both are; gives the rows that are orphans now, and
        those that are none any more.
        """
        none = np.empty(0, np.int64)
        born, died, left, found = none, none, none, none
        if change.table == self.ind.referenced.table:
            come, gone = self._partners.follow(change)
        if change.table == self.ind.dependent.table:
            born, died = self._born(change, maps), self._take(np.sort(change.dead))
            self.orphans = np.concatenate([self.orphans, born])
        if change.table == self.ind.referenced.table:
            found = self._take(self._rows_with(come, maps))
            left = self._put(self._rows_with(gone, maps))
        return np.union1d(born, left), np.union1d(died, found)

    def _take(self, rows: Ids) -> Ids:
        """Make some rows, ascending, orphans no longer; gives those that were."""
        at = np.searchsorted(self.orphans, rows)
        there = np.append(self.orphans, -1)[at] == rows
        self.orphans = np.delete(self.orphans, at[there])
        return np.asarray(rows[there])

    def _put(self, rows: Ids) -> Ids:
        """Make some rows, ascending, orphans; gives those that were not."""
        at = np.searchsorted(self.orphans, rows)
        new = np.append(self.orphans, -1)[at] != rows
        self.orphans = np.insert(self.orphans, at[new], rows[new])
        return np.asarray(rows[new])

    def _born(self, change: Change, maps: Translations) -> Ids:
        """The rows born that have no partner; of all that came and went it is counted how many have no null."""
        columns = [each.column for each in self._dependent]
        born = np.arange(change.born.start, change.born.stop)
        full = _are_full(change.inserted[columns])
        rows = change.inserted[columns][:, full]
        pairs = zip(self._dependent, self._referenced, rows, strict=True)
        there = self._partners.have(np.stack([maps.of(a, b, codes) for a, b, codes in pairs]))
        self.support += int(full.sum()) - int(_are_full(change.deleted[columns]).sum())
        return born[full][~there]

    def _rows_with(self, tuples_of: TupleCodes, maps: Translations) -> Ids:
        """The dependent rows that have one of some tuples of the referenced side."""
        pairs = list(zip(self._dependent, self._referenced, tuples_of, strict=True))
        codes = np.stack([maps.of(b, a, some) for a, b, some in pairs])
        carried = np.stack([self._state.counts(a).of(some) > 0 for a, some in zip(self._dependent, codes, strict=True)])
        table = self._state.tables[self.ind.dependent.table]
        return tuples.rows_with(codes[:, carried.all(axis=0)], table, [each.column for each in self._dependent])


def _are_full(codes: Codes) -> NDArray[np.bool_]:
    """Which rows have no null."""
    return np.asarray((codes != NULL_CODE).all(axis=0))


class _Partners(ABC):
    """The tuples of the referenced side, each with the number of its rows."""

    def __init__(self, state: State, columns: list[Attribute]) -> None:
        self._state, self._columns = state, columns

    @abstractmethod
    def have(self, rows: TupleCodes) -> NDArray[np.bool_]:
        """Which of some tuples are here; a code below 0 is that of a value that never was."""

    @abstractmethod
    def follow(self, change: Change) -> tuple[TupleCodes, TupleCodes]:
        """Take in a batch; gives the tuples without a null that came, and those that went altogether."""


class _OfOneColumn(_Partners):
    """Values of a column, whose frequencies are kept with the table."""

    def have(self, rows: TupleCodes) -> NDArray[np.bool_]:
        return np.asarray(self._state.counts(self._columns[0]).of(rows[0]) > 0)

    def follow(self, change: Change) -> tuple[TupleCodes, TupleCodes]:
        column = self._columns[0]
        codes, steps = self._state.frequencies[change.table].moved[column.column]
        now = self._state.counts(column).of(codes)
        given = codes != NULL_CODE
        return codes[given & (now == steps)][None, :], codes[given & (now == 0)][None, :]


class _OfSeveral(_Partners):
    """Tuples of several columns, counted when they are first asked for."""

    def __init__(self, state: State, columns: list[Attribute]) -> None:
        super().__init__(state, columns)
        self._places = [each.column for each in columns]
        self._made: KeyCounter | None = None

    def have(self, rows: TupleCodes) -> NDArray[np.bool_]:
        counter = self._counter(self._state.tables[self._columns[0].table])
        at = counter.find_lanes(np.ascontiguousarray(rows).view(np.uint64))
        return np.asarray((at >= 0) & (np.append(counter.counts, 0)[at] > 0))

    def follow(self, change: Change) -> tuple[TupleCodes, TupleCodes]:
        counter = self._counter(change.before)
        counter.add([_signed(change.inserted[self._places], 1), _signed(change.deleted[self._places], -1)])
        settled = counter.settle()
        assert settled is not None, "more rows with a tuple died than there were"
        come, gone = (np.ascontiguousarray(counter.keys[entries].T).view(np.int64) for entries in settled)
        return come, gone

    def _counter(self, table: Table) -> KeyCounter:
        if self._made is None:
            self._made = KeyCounter(len(self._places))
            for _, _, rows in tuples.pieces(table, self._places):
                self._made.add([_signed(rows, 1)])
            self._made.settle()
        return self._made


def _signed(codes: Codes, step: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Tuples without a null as keys, each with a step."""
    full = codes[:, _are_full(codes)].astype(np.uint64)
    return np.ascontiguousarray(full.T), np.full(full.shape[1], step, np.int64)
