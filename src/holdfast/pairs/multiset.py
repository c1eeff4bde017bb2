"""The multiset of signatures: what two rows are to each other, and how many pairs are that.

Of the kind `EQUAL` these are the agree-sets: which columns two rows agree on (papers: dynast, section 3). Of the kind
`ORDERED` a signature is a set too, of the columns where one row is at most and where it is at least the other.

Batches add and subtract; a set whose count reaches zero is gone, and `add` tells which sets appeared and which
vanished. Entries with count 0 stay, as the paper advises for deletes (section 7.5), until they are the most.

Invariant: no count is negative: a batch that would make one so is refused, and changes nothing.
Cost: adding m sets is O(m) look-ups. Memory: an entry of w words takes 8 w + 41 to 57 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import BadInput
from holdfast.pairs.counter import KeyCounter
from holdfast.pairs.signatures import EQUAL, Counts, Kind, Signed, Words

Tally = Callable[[KeyCounter], None]

MOST_COLUMNS = 512
_LEAST = 1024


@dataclass(frozen=True, eq=False)
class Delta:
    """The sets that a batch brought in and those it took out, a row of words each."""

    appeared: Words
    vanished: Words

    def __bool__(self) -> bool:
        return bool(len(self.appeared) or len(self.vanished))


class Signatures:
    """Signatures of pairs over a number of columns, with counts; of the kind `EQUAL`, agree-sets."""

    def __init__(self, columns: int, kind: Kind = EQUAL) -> None:
        if not 0 <= columns <= MOST_COLUMNS:
            raise BadInput(f"agree-sets span at most {MOST_COLUMNS} columns, not {columns}; choose some with --columns")
        self.columns, self.kind = columns, kind
        self._clear(0)

    @staticmethod
    def of(columns: int, sets: Words, counts: Counts, kind: Kind = EQUAL) -> Signatures:
        """The multiset of some sets."""
        made = Signatures(columns, kind)
        made._clear(len(counts))
        made.add(sets, counts)
        return made

    def __len__(self) -> int:
        return self.used - self._zeros

    @property
    def words(self) -> int:
        """How many words a set has."""
        return self.kind.words(self.columns)

    @property
    def used(self) -> int:
        """How many entries are kept, those with count 0 included."""
        return self._table.used

    @property
    def sets(self) -> Words:
        """The sets, a copy, in the order of `counts`."""
        return self._table.keys[self._table.counts > 0]

    @property
    def counts(self) -> Counts:
        """How many pairs have exactly each set, a copy."""
        return self._table.counts[self._table.counts > 0]

    # ---- changing ---------------------------------------------------------------------------------------------------

    def add(self, sets: Words, counts: Counts) -> Delta:
        """Add signed counts; a set may come several times. Tells what appeared and what vanished."""
        return self.add_parts([(sets, counts)])

    def add_parts(self, parts: Sequence[Signed], tally: Tally = lambda _: None) -> Delta:
        """Add the sum of several parts, and what `tally` adds straight to the table of counts."""
        had = self.used
        tally(self._table)
        self._table.add(parts)
        settled = self._table.settle()
        self._zeros += self.used - had
        if settled is None:
            raise AssertionError("a batch takes away more pairs than there are with some agree-set")
        appeared, vanished = settled
        self._zeros += len(vanished) - len(appeared)
        keys = self._table.keys
        delta = Delta(keys.take(appeared, axis=0), keys.take(vanished, axis=0))
        if self.used > _LEAST and 2 * self._zeros > self.used:
            self._drop_zeros()
        return delta

    def _drop_zeros(self) -> None:
        sets, counts = self.sets, self.counts
        self._clear(len(counts))
        self._table.add([(sets, counts)])
        self._table.settle()

    def _clear(self, room: int) -> None:
        self._table = KeyCounter(self.words, room)
        self._zeros = 0

    # ---- keeping ----------------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `load` makes the same multiset."""
        return {"sets": self.sets.reshape(-1), "counts": self.counts}

    @staticmethod
    def load(columns: int, arrays: Mapping[str, NDArray[Any]], kind: Kind = EQUAL) -> Signatures:
        """The multiset that `dump` described."""
        counts = np.array(arrays["counts"], np.int64)
        sets = np.array(arrays["sets"], np.uint64).reshape(len(counts), kind.words(columns))
        return Signatures.of(columns, sets, counts, kind)
