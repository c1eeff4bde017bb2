"""The violations of one rule: as pairs while these are few, else as a count.

A pair is (t, s); of a symmetric rule the smaller row id comes first, and no pair is there twice. A rule about
single rows has rows: then s is NOBODY (-1).

Pairs that were found at first, or come from a file, are looked at when they are needed; those that batches add are in
a graph, and so are all of them once a batch resolves one that was there from the start, or a second batch has to look
for that: to look through all of them each time would cost more than the graph.

Invariant: `count` is exact at all times; `found().pairs` is None exactly where violations are only counted.
Cost: see `holdfast.search.graph`; what rows of a batch violate is added and dropped at the cost of these violations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from weakref import ref

import numpy as np

from holdfast.search.found import FoundPairs, Ids, Pairs, Sides, listed, no_pairs, put_in_order, sides, with_more
from holdfast.search.graph import PairGraph

LIMIT = 5_000_000  # pairs of one rule that are listed; a pair takes about 60 bytes


@dataclass(frozen=True)
class _Contents:
    """The violations at one moment: another thread may look while a batch puts others in its place."""

    count: int  # of those that were there at first
    first: Callable[[], Sides] | None = None
    graph: PairGraph | None = None  # of the others; None where they are only counted


class Violations:
    """The violations of one rule, kept true."""

    def __init__(self, count: int, pairs: Callable[[], Sides] | None) -> None:
        """`count` violations; `pairs` gives their t's and s's, unless they are too many."""
        self._contents = _Contents(count) if pairs is None else _Contents(count, pairs, PairGraph())
        self._looked = False  # whether a batch has looked for its rows among the first ones
        self._changes = 0  # how often the violations may have changed,
        self._given: tuple[int, ref[Pairs] | None] = (0, None)  # a number of changes, and what `found` gave after them

    @staticmethod
    def of(found: FoundPairs) -> Violations:
        """Those that were found."""
        return Violations(found.count, None if found.pairs is None else partial(_columns_of, found.pairs))

    @property
    def count(self) -> int:
        """How many violations there are."""
        contents = self._contents
        return contents.count if contents.graph is None else contents.count + len(contents.graph)

    @property
    def listed(self) -> bool:
        """Whether the pairs are known, and not only how many they are."""
        return self._contents.graph is not None

    @property
    def nbytes(self) -> int:
        """The bytes of the graph."""
        return 0 if self._contents.graph is None else self._contents.graph.nbytes

    def found(self) -> FoundPairs:
        """The violations now, in order: later changes don't touch them, and nobody else may. As long as somebody holds
        them, and no batch has come, these are given again.
        """
        changes, (seen, given) = self._changes, self._given
        pairs = given() if given is not None and seen == changes else None
        if pairs is None:
            pairs = self.in_any_order()
            if pairs is None:
                return FoundPairs(self.count, None)
            pairs = put_in_order(pairs)
            self._given = changes, ref(pairs)
        return listed(pairs)

    def in_any_order(self) -> Pairs | None:
        """The violations now, for the caller to keep, or None where they are only counted."""
        contents = self._contents
        if contents.graph is None:
            return None
        added = contents.graph.pairs()
        return added if contents.first is None else with_more(contents.first(), added)

    def remove_rows(self, rows: Ids) -> Pairs:
        """Remove the violations in which some rows are, and give them."""
        contents = self._contents
        if not self.count or not len(rows):
            return no_pairs()
        self._changes += 1
        if contents.first is not None:
            if self._looked or any(np.isin(side, rows).any() for side in contents.first()):
                contents = self._contents = _Contents(0, None, PairGraph(*sides(self._listed())))
            self._looked = True
        assert contents.graph is not None
        return contents.graph.remove_rows(rows)

    def _listed(self) -> Pairs:
        pairs = self.in_any_order()
        assert pairs is not None
        return pairs

    def add(self, pairs: Pairs) -> None:
        """Add violations that aren't there yet."""
        assert self._contents.graph is not None
        if len(pairs):
            self._contents.graph.add(*sides(pairs))
            self._changes += 1

    def list_again(self, pairs: Pairs) -> None:
        """List pairs from now on."""
        self._contents = _Contents(len(pairs), partial(_columns_of, pairs), PairGraph())
        self._changes += 1

    def count_only(self, count: int) -> None:
        """Count from now on."""
        self._contents = _Contents(count)
        self._changes += 1


def _columns_of(pairs: Pairs) -> Sides:
    return pairs[:, 0], pairs[:, 1]
