"""The ways in which evidence is found and kept, behind a few verbs.

Evidence is a set of values of pairs of rows (see `marks`), as seen from both rows of each pair, that decides every box
of at most `max_lhs + 1` marks: one in which no value of the evidence lies is never met by the table's rows, and in one
in which some value lies, a living pair of rows does. All ways decide the same, and so the rules are the same.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.rows import RankedColumns
from holdfast.engines.found.strategies import Strategy
from holdfast.engines.pointwise.marks import Boxes, Space, Values
from holdfast.engines.pointwise.proving import pairs_within
from holdfast.engines.watched import WatchedTable
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.runner import Runner
from holdfast.table.threads import OnProgress


@dataclass(frozen=True)
class Asked:
    """What is asked of a way: how columns are compared, and how many of them a left side may have (None: all)."""

    space: Space
    max_lhs: int | None = None


@dataclass(frozen=True, eq=False)
class Tally:
    """Values of ordered pairs of rows with how many pairs have them: of all pairs, or of a sample of the `of` pairs
    that there are.
    """

    values: Values
    counts: NDArray[np.int64]
    of: int

    @property
    def pairs(self) -> int:
        """How many ordered pairs were looked at."""
        return int(self.counts.sum())

    @property
    def exact(self) -> bool:
        """Whether these are all."""
        return self.pairs == self.of


class Way(Strategy[Asked]):
    """One way to find evidence."""

    @classmethod
    @abstractmethod
    def begin(cls, subject: WatchedTable, asked: Asked, runner: Runner, progress: Progress) -> Self:
        """Find the evidence from scratch."""

    @abstractmethod
    def follow(self, change: Change, runner: Runner, progress: Progress) -> bool:
        """Take in a batch that the subject has followed; tells whether rules may have changed."""

    @property
    @abstractmethod
    def seen(self) -> Values:
        """The evidence."""

    @property
    def never(self) -> Boxes | None:
        """The minimal boxes in which no evidence lies, both of each two mirror images, where the way knows them."""
        return None

    def breaking(self, boxes: Boxes, space: Space, change: Change) -> NDArray[np.int64]:
        """For each box that no two rows met before the last batch, and that some do now, the ids of two that do."""
        rows = RankedColumns(change.after)
        return pairs_within(rows, space, boxes, int(rows.places(np.array(change.born.start))))

    @abstractmethod
    def tallied(self) -> Tally:
        """Pairs to reckon shares with."""

    def pairs_within(self, boxes: Boxes, progress: OnProgress | None = None) -> NDArray[np.int64]:
        """How many ordered pairs of rows lie in each box, which is a left side. Asked where the tally is a sample."""
        raise NotImplementedError
