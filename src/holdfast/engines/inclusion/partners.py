"""The rows of a reference that have no partner, kept true under batches on either table, or on both at once.

Partners are the tuples of the referenced side, each with the number of its rows; a row without a null on the dependent
side whose tuple is not among them is an orphan. A batch is seen as a whole: first it is counted which tuples came to
the referenced side, and which went from it altogether; then the rows born are looked up. Older rows whose tuple came or
went are found by one pass over the dependent table, where it has such rows.

Invariant: `orphans` holds the ids of all orphans, ascending; `support` is the number of rows without a null, of `rows`.
Cost: a batch costs its rows, and one pass over the codes of the dependent columns where it brings or takes a tuple that
the dependent side has. Counting tuples of several columns costs memory for the distinct ones; those of one are shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.given.finder import Finder
from holdfast.engines.given.keeper import RowsOf
from holdfast.engines.inclusion import nary, tuples
from holdfast.engines.inclusion.state import Attribute, INDState, Nary
from holdfast.engines.inclusion.translate import Translations
from holdfast.engines.inclusion.tuples import TupleCodes
from holdfast.pairs.counter import KeyCounter
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.rows import Ids, Rows
from holdfast.table.table import Table

Codes = NDArray[Any]  # [column, row]
Compared = tuple[tuple[Attribute, Attribute], ...]  # the columns of both sides, pair by pair


class Reference:
    """One reference between tables, with the rows that have no partner. Of the state's tables it needs what their codes
    mean and how often these occur.
    """

    def __init__(self, state: INDState, compared: Compared, orphans: Ids, support: int, rows: int) -> None:
        self._state, self.orphans, self.support, self.rows = state, orphans, support, rows
        self._dependent, self._referenced = (list(each) for each in zip(*compared, strict=True))
        self.dependent, self.referenced = self._dependent[0].table, self._referenced[0].table
        self._partners: _Partners = (_Partners if len(compared) == 1 else _OfSeveral)(state, self._referenced)

    @staticmethod
    def of(state: INDState, compared: Compared) -> Reference:
        """From the rows of the state's tables."""
        made = Reference(state, compared, np.empty(0, np.int64), 0, 0)
        made.count(state.tables[made.referenced])
        made.rows = state.tables[made.dependent].rows
        found = [made.orphans]
        pairs = tuple((a.number, b.number) for a, b in compared)
        for ids, rows in nary.dependent_tuples(state, Nary(pairs), Translations(state)):
            made.support += len(ids)
            found.append(ids[~made._partners.have(rows)])
        made.orphans = np.concatenate(found)
        return made

    def count(self, referenced: Table) -> None:
        """Count the partners in a table, unless that is done."""
        self._partners.count(referenced)

    def look(self, born: RowsOf, dead: RowsOf, maps: Translations, finder: Finder) -> tuple[Ids, Ids]:
        """Take in a batch, which the frequencies have followed; gives the rows that are orphans now, and those that are
        none any more. `finder` finds dependent rows as they are after the batch.
        """
        none = np.empty(0, np.int64)
        fresh, died, left, found = none, none, none, none
        come, gone = self._moved(born, dead)
        if self.dependent in born:
            fresh, died = self._born(born[self.dependent], maps), self._take(dead[self.dependent].ids)
            self.orphans = np.concatenate([self.orphans, fresh])
            self._count_rows(born[self.dependent], 1)
            self._count_rows(dead[self.dependent], -1)
        if come.shape[1] or gone.shape[1]:
            found, left = self._older(come, gone, maps, finder)
        return np.union1d(fresh, left), np.union1d(died, found)

    def _moved(self, born: RowsOf, dead: RowsOf) -> tuple[TupleCodes, TupleCodes]:
        """The tuples that came to the referenced side, and those that went from it altogether."""
        if self.referenced in born:
            return self._partners.follow(born[self.referenced], dead[self.referenced])
        none = np.empty((len(self._referenced), 0), np.int64)
        return none, none

    def _born(self, rows: Rows, maps: Translations) -> Ids:
        """The rows born that have no partner."""
        codes = _codes(rows, self._dependent)
        full = _are_full(codes)
        there = self._partners.have(maps.tuples(self._dependent, self._referenced, codes[:, full]))
        return np.asarray(rows.ids[full][~there])

    def _count_rows(self, rows: Rows, sign: int) -> None:
        self.rows += sign * len(rows)
        self.support += sign * int(_are_full(_codes(rows, self._dependent)).sum())

    def _older(self, come: TupleCodes, gone: TupleCodes, maps: Translations, finder: Finder) -> tuple[Ids, Ids]:
        """The rows whose partner came, and are orphans no longer; and those whose partner went, and are orphans now."""
        codes = maps.tuples(self._referenced, self._dependent, np.concatenate([come, gone], axis=1))
        carried = np.stack([self._state.counts(a).of(some) > 0 for a, some in zip(self._dependent, codes, strict=True)])
        requested = np.flatnonzero(carried.all(axis=0))
        found = [(requested[:0], requested[:0])]
        if len(requested):
            found += finder.rows_with([a.column for a in self._dependent], codes[:, requested])
        ids, numbers = (np.concatenate(each) for each in zip(*found, strict=True))
        has_come = requested[numbers] < come.shape[1]
        return self._take(ids[has_come]), self._put(ids[~has_come])

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


def _codes(rows: Rows, columns: Sequence[Attribute]) -> Codes:
    return np.stack([rows.codes(each.column) for each in columns])


def _are_full(codes: Codes) -> NDArray[np.bool_]:
    """Which rows have no null."""
    return np.asarray((codes != NULL_CODE).all(axis=0))


class _Partners:
    """The tuples of the referenced side, each with the number of its rows: here the values of one column, whose
    frequencies are kept with the table.
    """

    def __init__(self, state: INDState, columns: list[Attribute]) -> None:
        self._state, self._columns = state, columns

    def count(self, table: Table) -> None:
        """Count those of a table, unless that is done."""

    def have(self, rows: TupleCodes) -> NDArray[np.bool_]:
        """Which of some tuples are here; a code below 0 is that of a value that never was."""
        return np.asarray(self._state.counts(self._columns[0]).of(rows[0]) > 0)

    def follow(self, born: Rows, dead: Rows) -> tuple[TupleCodes, TupleCodes]:  # noqa: ARG002  # they are counted
        """Take in a batch; gives the tuples without a null that came, and those that went altogether."""
        column = self._columns[0]
        codes, steps = self._state.frequencies[column.table].moved[column.column]
        now = self._state.counts(column).of(codes)
        given = codes != NULL_CODE
        return codes[given & (now == steps)][None, :], codes[given & (now == 0)][None, :]


class _OfSeveral(_Partners):
    """Tuples of several columns."""

    def __init__(self, state: INDState, columns: list[Attribute]) -> None:
        super().__init__(state, columns)
        self._places = [each.column for each in columns]
        self._counter = KeyCounter(len(columns))
        self._counted = False

    def count(self, table: Table) -> None:
        if self._counted:
            return
        for _, _, rows in tuples.pieces(table, self._places):
            self._counter.add([_signed(rows, 1)])
        self._counter.settle()
        self._counted = True

    def have(self, rows: TupleCodes) -> NDArray[np.bool_]:
        at = self._counter.find_lanes(np.ascontiguousarray(rows).view(np.uint64))
        return np.asarray((at >= 0) & (np.append(self._counter.counts, 0)[at] > 0))

    def follow(self, born: Rows, dead: Rows) -> tuple[TupleCodes, TupleCodes]:
        self._counter.add([_signed(_codes(rows, self._columns), step) for rows, step in ((born, 1), (dead, -1))])
        settled = self._counter.settle()
        assert settled is not None, "more rows with a tuple died than there were"
        come, gone = (
            np.ascontiguousarray(self._counter.keys[entries].T).view(np.int64)
            for entries in (settled.appeared, settled.vanished)
        )
        return come, gone


def _signed(codes: Codes, step: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Tuples without a null as keys, each with a step."""
    full = codes[:, _are_full(codes)].astype(np.uint64)
    return np.ascontiguousarray(full.T), np.full(full.shape[1], step, np.int64)
