"""The score of `X -> A`: how well rows that agree on X agree on A, beyond chance, and how many rows test it.

Start from agreement corrected for chance, leaving each row out: take a row and another row of its group (the rows that
agree on X); do they agree on A more often than any two rows do? A left side that is nearly a key has no groups and
earns nothing, and neither does a right side that nearly always has the same value. Four things are added:

- **usual values.** A value is usual where it is that of most rows of some group, and of two at least. Typos hardly ever
  are. Rows with other values count as exceptions, but don't enter the agreement: else a few typos in a column of two
  values, one of them rare, would drown the rare one.
- **rows that test.** A row that shares X with nobody tests nothing. The score rises with the share of rows that have a
  partner, steeply at first: a tenth of the rows makes half of it.
- **groups that could have failed.** Few groups, or a right side that chance mostly gets right, show little: by chance
  `groups x (1 - chance)` of them would fail, and what they leave open falls with the square root of that number.
- **short left sides.** Each further column costs `LONGER`: with enough columns everything holds.

A null on the left names nothing, so that row has no group; on the right it is a value, or, where nulls are distinct,
one of its own. All counts are whole numbers, so that their order does not matter: what is kept under batches equals
what a fresh run finds.

`EvidenceSums` keeps the evidence for one FD true under batches. A batch costs what the cells of its
clusters cost, and, where a value becomes usual or ceases to be, what the clusters with that value cost. Memory: 16
bytes a cell and some 30 a value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.functional.clusters import NONE, with_room
from holdfast.engines.thresholds import LONGER, tested_weight
from holdfast.kernels.usual_clusters import ClusterCells, ValueCells, count, enter, leave, link

OPEN = 0.1  # what one group that would fail by chance leaves open, compared with what it shows
UNIT = 1 << 30  # agreement is summed in whole numbers of this part


@dataclass(frozen=True)
class FDEvidence:
    """What a table's rows say of `X -> A`. Groups have at least two rows: one row alone tests nothing."""

    rows: int  # of the table
    tested: int  # rows that share X with another row
    usual: int  # of these, those whose A is a usual value
    groups: int  # groups that have two rows with usual values at least
    paired: int  # the rows with usual values of these groups
    agreement: int  # in UNITs: for each of them the share of the others of its group that have its value
    known: int  # rows with usual values, whether they share X or not
    same: int  # ordered pairs of these rows that agree on A
    outside: int  # rows to remove so that the rule holds

    @property
    def chance(self) -> float:
        """How often two rows with usual values agree on A, whatever their X."""
        return self.same / (self.known * (self.known - 1)) if self.known > 1 else 1.0

    @property
    def agreeing(self) -> float:
        """How often two rows with usual values agree on A that agree on X."""
        return self.agreement / UNIT / self.paired if self.paired else 0.0

    def score(self, columns: int = 1) -> float:
        """From 0, nothing speaks for the rule, to 1; given how many columns X has."""
        chance = self.chance
        if chance >= 1.0 or not self.tested:
            return 0.0
        beyond = (self.agreeing - chance) / (1.0 - chance)
        if beyond <= 0.0:
            return 0.0
        shown = math.sqrt(self.groups * (1.0 - chance))
        return beyond * self.usual / self.tested * shown / (shown + OPEN) * most(self.tested, self.rows, columns)


def most(tested: int, rows: int, columns: int) -> float:
    """The highest score that a rule can have, whatever its right side; `tested` rows share X with another row."""
    return tested_weight(tested / rows) * LONGER ** (columns - 1) if rows else 0.0


Ids = NDArray[np.int64]


class EvidenceSums:
    """The sums of an `FDEvidence`; `cells` are always those of the same groups as they are at the time."""

    def __init__(self, cells: ClusterCells, values: int) -> None:
        self._sums = np.zeros(7, np.int64)
        self._majority = np.full(len(cells.sizes), -1)  # of the clusters that left
        self._linked = 0
        self._values = ValueCells(np.empty(0, np.bool_), *(np.empty(0, np.int64) for _ in range(4)))
        every, none = np.arange(len(cells.counts)), np.zeros(len(cells.counts), np.int64)
        self.enter(np.arange(len(cells.sizes)), every, none, cells, values)

    def dump(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `load` makes the same, of the same groups."""
        kept = self._values._replace(following=self._values.following[: self._linked])
        return {"sums": self._sums, **kept._asdict()}

    @staticmethod
    def load(arrays: Mapping[str, NDArray[Any]]) -> EvidenceSums:
        """What `dump` described."""
        made = EvidenceSums.__new__(EvidenceSums)
        made._sums = arrays["sums"].copy()
        made._values = ValueCells(*(arrays[name].copy() for name in ValueCells._fields))
        made._linked = len(made._values.following)
        return made

    def leave(self, clusters: Ids, cells: ClusterCells, values: int) -> None:
        """Some clusters are about to change."""
        self._make_room(cells, values)
        self._majority = np.empty(len(clusters), np.int64)
        leave(clusters, cells, self._values, self._sums, UNIT, self._majority)

    def enter(self, clusters: Ids, changed: Ids, counts: Ids, cells: ClusterCells, values: int) -> None:
        """They have changed, and these are the cells that did, with their counts before."""
        self._make_room(cells, values)
        count(changed, counts, cells, self._values, self._sums)
        enter(clusters, cells, self._values, self._sums, UNIT, self._majority)

    def evidence(self, rows: int, outside: int) -> FDEvidence:
        """The evidence in a table of `rows` rows, of which `outside` must go so that the rule holds."""
        tested, usual, groups, paired, agreement, known, same = self._sums.tolist()
        return FDEvidence(rows, tested, usual, groups, paired, agreement, known, same, outside)

    def _make_room(self, cells: ClusterCells, values: int) -> None:
        """Grow to hold all `values`, and link new cells."""
        kept = self._values
        usual, majorities, rows = (with_room(each, values, 0) for each in (kept.usual, kept.majorities, kept.rows))
        chains = with_room(kept.head, values, NONE), with_room(kept.following, len(cells.counts), NONE)
        self._values = kept = ValueCells(usual, majorities, rows, *chains)
        link(cells.keys, 1, self._linked, kept.head, kept.following)
        self._linked = len(cells.keys)
