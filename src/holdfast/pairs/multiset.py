"""The multiset of signatures: what two rows are to each other, and how many pairs are that.

Of the kind `EQUAL` these are the agree-sets: which columns two rows agree on (papers: dynast, section 3). Of the kind
`ORDERED` a signature is a set too, of the columns where one row is at most and where it is at least the other.

Batches add and subtract; a set whose count reaches zero is gone, and `add` returns which sets appeared and which
vanished. Entries with count 0 stay, as the paper advises for deletes (section 7.5), until they are the most.

Queries go through an inverted index: for each column a bitmap over the entries. "Agree on X but not on A" is the
conjunction of |X| + 1 bitmaps, then a sum of counts. The index is brought up to date by the next query, by transposing
64 x 64 bits at a time; entries only ever come at the end, so that costs what is new. It takes the place of the
paper's AStree: there is no tree to keep, and 327 thousand sets of 223 columns answer in 0.05 ms, 0.2 ms where most
sets qualify. A scan of all sets takes 20 times as long, and the tree, which has 42 million nodes there, longer still;
on the 15 columns of adult it takes twice as long (`make bench NAMES=pairs-query`).

Invariant: no count is negative: a batch that would make one so is refused, and changes nothing.
Cost: adding m sets is O(m) look-ups; a query O(sets * its columns / 64). Memory: an entry of w words takes
16 w + 41 to 57 bytes, the index included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import BadInput
from holdfast.kernels.agree_sets import index_keys, sum_where
from holdfast.pairs import bitsets
from holdfast.pairs.counter import KeyCounter
from holdfast.pairs.signatures import EQUAL, Counts, SignatureKind, Signed, Words

Tally = Callable[[KeyCounter], None]

MOST_COLUMNS = 512
_LEAST = 1024
_COUNT_BITS = 53  # of a word, next to the number of columns, which needs 10


@dataclass(frozen=True, eq=False)
class Delta:
    """The sets that a batch brought in and those it took out, a row of words each; how many pairs have each of the ones
    now, and how many had each of the others before.
    """

    appeared: Words
    vanished: Words
    now: Counts
    before: Counts

    @staticmethod
    def none(words: int) -> Delta:
        """Nothing came or went."""
        sets, counts = np.empty((0, words), np.uint64), np.empty(0, np.int64)
        return Delta(sets, sets, counts, counts)

    def __bool__(self) -> bool:
        return bool(len(self.appeared) or len(self.vanished))


class Signatures:
    """Signatures of pairs over a number of columns, with counts; of the kind `EQUAL`, agree-sets."""

    def __init__(self, columns: int, kind: SignatureKind = EQUAL) -> None:
        if not 0 <= columns <= MOST_COLUMNS:
            raise BadInput(f"agree-sets span at most {MOST_COLUMNS} columns, not {columns}; choose some with --columns")
        self.columns, self.kind = columns, kind
        self._clear(0)

    @staticmethod
    def of(columns: int, sets: Words, counts: Counts, kind: SignatureKind = EQUAL) -> Signatures:
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
        """How many entries are stored, those with count 0 included."""
        return self._table.used

    @property
    def sets(self) -> Words:
        """The sets, a copy, in the order of `counts`."""
        return self._table.keys[self._table.counts > 0]

    @property
    def counts(self) -> Counts:
        """How many pairs have exactly each set, a copy."""
        return self._table.counts[self._table.counts > 0]

    @property
    def pairs(self) -> int:
        """How many pairs there are in all."""
        return int(self._table.counts.sum())

    # ---- changing ---------------------------------------------------------------------------------------------------

    def add(self, sets: Words, counts: Counts) -> Delta:
        """Add signed counts; a set may come several times. Returns what appeared and what vanished."""
        return self.add_parts([(sets, counts)])

    def add_parts(self, parts: Sequence[Signed], tally: Tally = lambda _: None) -> Delta:
        """Add the sum of several parts, and what `tally` adds straight to the table of counts."""
        used = self.used
        tally(self._table)
        self._table.add(parts)
        settled = self._table.settle()
        self._zeros += self.used - used
        if settled is None:
            raise AssertionError("a batch takes away more pairs than there are with some agree-set")
        appeared, vanished, had = settled
        self._zeros += len(vanished) - len(appeared)
        keys, counts = self._table.keys, self._table.counts
        delta = Delta(keys.take(appeared, axis=0), keys.take(vanished, axis=0), counts.take(appeared), had.copy())
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
        self._bitmaps = np.zeros((self.kind.bits(self.columns), 0), np.uint64)
        self._indexed = 0

    # ---- asking -----------------------------------------------------------------------------------------------------

    def agreeing(self, bits: Iterable[int], but_not: int | None = None) -> int:
        """How many pairs have all these bits, but not one other, where it is given.

        Of agree-sets: how many agree on these columns, but not on one other. Of signatures of order, where each pair
        is there from both its rows, bits are `at_most` and `at_least` of a column.
        """
        self._bring_up_to_date()
        wanted = np.fromiter(bits, np.int64)
        without = -1 if but_not is None else but_not
        return int(sum_where(self._bitmaps, self._table.arrays.counts, self.used, wanted, without))

    def _bring_up_to_date(self) -> None:
        if self._indexed == self.used:
            return
        groups, have = -(-self.used // 64), self._bitmaps.shape[1]
        if groups > have:
            self._bitmaps = np.pad(self._bitmaps, ((0, 0), (0, max(groups, have * 5 // 4) - have)))
        index_keys(self._table.arrays.keys, self._indexed // 64, self.used, self._bitmaps)
        self._indexed = self.used

    # ---- keeping ----------------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, NDArray[Any]]:
        """Arrays from which `load` makes the same multiset."""
        return {"sets": self.sets.reshape(-1), "counts": self.counts}

    @staticmethod
    def load(columns: int, arrays: Mapping[str, NDArray[Any]], kind: SignatureKind = EQUAL) -> Signatures:
        """The multiset that `dump` described."""
        counts = np.array(arrays["counts"], np.int64)
        sets = np.array(arrays["sets"], np.uint64).reshape(len(counts), kind.words(columns))
        return Signatures.of(columns, sets, counts, kind)


def largest_first(sets: Words, counts: Counts, most: int | None = None) -> NDArray[np.int64]:
    """The places of agree-sets in the order in which people read them: those with most columns first, of these the ones
    that most pairs have; all of them, or the first ones alone, which takes time in proportion to the sets.
    """
    sizes = bitsets.sizes(sets)
    places = np.arange(len(sets))
    if most is not None and len(sets) > most:
        weights = (sizes << _COUNT_BITS) + np.minimum(counts, (1 << _COUNT_BITS) - 1)
        places = np.argpartition(weights, len(sets) - most)[len(sets) - most :]
    order = np.lexsort((*sets[places].T, -counts[places], -sizes[places]))
    return places.take(order)
