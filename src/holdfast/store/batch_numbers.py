"""The numbers of batches: 1, 2, 3, and so on, whatever changes of rules, columns and tables come between.

The entries of a history, batches and changes alike, are in the order of their `seq`, without gaps. The number of a
batch is how many batches there are up to it; a change has no number of its own, and stands after the last batch before
it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

Read = Callable[[str], Iterable[Any]]  # gives the rows that a query finds


class BatchNumbers:
    """Batch numbers of entries of a history; `changes` has the entries that are changes, the oldest first.

    >>> numbers = BatchNumbers([3, 4])
    >>> [numbers.of(seq) for seq in (1, 2, 3, 4, 5)]
    [1, 2, 2, 2, 3]
    >>> numbers.seq_of(3)
    5
    """

    def __init__(self, changes: Sequence[int]) -> None:
        self._changes = changes

    @classmethod
    def read(cls, read: Read) -> Self:
        """The numbers in a state, as of now."""
        return cls([seq for (seq,) in read("SELECT seq FROM reshaped ORDER BY seq")])

    def of(self, seq: int) -> int:
        """The number of a batch; of a change, that of the last batch before it (0: none)."""
        return seq - bisect_right(self._changes, seq)

    def seq_of(self, number: int) -> int:
        """The entry of the batch with a number, whether it was applied or not."""
        seq = number
        for change in self._changes:
            if change > seq:
                break
            seq += 1
        return seq
