"""Which rows a batch put outside their groups, and which are outside no more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Swapped:
    """Of the rows that neither came nor went: how many are outside now, and how many are no more. Which ones takes a
    look at the table's rows.
    """

    left: int
    returned: int
    find: Callable[[], tuple[Ids, Ids]]


@dataclass(frozen=True, eq=False)
class RowChange:
    """The rows that a batch put outside, and those that are outside no more: of those that came or went, and of the
    others. So many of them just took the place of others of their cluster (`retold`): a cluster has more rows outside
    than before, or fewer, but not both.
    """

    born: Ids
    dead: Ids
    swapped: Swapped
    retold: int
    tested: int  # rows that came and might have broken the rule: those of an FD share the left side with an older row
    broke: int  # of these, those that came to be outside, or put others there
    example: tuple[int, int] | None = None  # two rows of a cluster that has more rows outside than before

    @property
    def added(self) -> int:
        """How many rows were put outside."""
        return self.swapped.left + len(self.born)

    @property
    def resolved(self) -> int:
        """How many are outside no more."""
        return self.swapped.returned + len(self.dead)

    def rows(self) -> tuple[Ids, Ids]:
        """The rows that were put outside, and those that are outside no more, by id."""
        left, returned = self.swapped.find()
        return np.concatenate([left, self.born]), np.concatenate([self.dead, returned])

    def __bool__(self) -> bool:
        return bool(self.added or self.resolved)
