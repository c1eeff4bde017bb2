"""The violations of one constraint: as pairs while these are few enough to keep, else as a count alone.

A pair is (t, s); of a symmetric constraint the smaller row id comes first, and each pair is there once. A constraint
about single rows has rows: then s is NOBODY (-1).

Pairs that come from a file are read when they are needed, and become a graph when the first batch changes them.

Invariant: `count` is exact at all times; `found().pairs` is None exactly where only the count is kept.
Cost: see `holdfast.search.graph`; what rows of a batch violate is added and dropped at the cost of these violations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from holdfast.engines.denial.model import DenialConstraint
from holdfast.search.found import Found, Ids, Pairs, no_pairs, paired, sides
from holdfast.search.graph import PairGraph

LIMIT = 5_000_000  # pairs of one constraint that are kept; a pair takes about 60 bytes


@dataclass(frozen=True)
class Delta:
    """What a batch did to the violations of one constraint. Where only counts are kept, there are no pairs."""

    constraint: DenialConstraint
    before: int
    after: int
    added: Pairs | None
    resolved: Pairs | None

    def __bool__(self) -> bool:
        unknown = self.added is None or self.resolved is None
        return self.before != self.after if unknown else bool(len(self.added) or len(self.resolved))  # type: ignore[arg-type]

    def retold(self, old: Ids, new: Ids) -> int:
        """How many violations were added and resolved only because their rows have new ids: `old[i]`, ascending, was
        updated and is `new[i]` now.
        """
        if self.added is None or self.resolved is None or not len(self.added) or not len(self.resolved) or not len(old):
            return 0
        at = np.minimum(np.searchsorted(old, self.resolved), len(old) - 1)
        now = np.where(old[at] == self.resolved, new[at], self.resolved)
        if self.constraint.is_symmetric:
            now.sort(axis=1)
        together = paired(*(np.concatenate(each) for each in zip(sides(now), sides(self.added), strict=True)))
        return int((together[1:] == together[:-1]).all(axis=1).sum())


class Violations:
    """The violations of one constraint, kept."""

    def __init__(self, constraint: DenialConstraint, count: int, pairs: Callable[[], Pairs] | None) -> None:
        """So many violations; `pairs` gives them, in order, unless they are too many to keep."""
        self.constraint = constraint
        self._count, self._pairs = count, pairs
        self._graph: PairGraph | None = None  # takes the place of the pairs once these change

    @property
    def count(self) -> int:
        """How many violations there are."""
        return self._count if self._graph is None else len(self._graph)

    @property
    def listed(self) -> bool:
        """Whether the pairs are kept, not their number alone."""
        return self._pairs is not None or self._graph is not None

    @property
    def nbytes(self) -> int:
        """The bytes that the pairs take in memory."""
        return 0 if self._graph is None else self._graph.nbytes

    def found(self) -> Found:
        """The violations now: later changes don't touch them."""
        graph, pairs = self._graph, self._pairs
        if graph is not None:
            listed = graph.pairs()
            return Found(len(listed), listed)
        return Found(self._count, None if pairs is None else pairs())

    def remove_rows(self, rows: Ids) -> Pairs:
        """Remove the violations in which some rows are, and give them."""
        if not self.count or not len(rows):
            return no_pairs()
        if self._graph is None and self._pairs is not None and not np.isin(self._pairs(), rows).any():
            return no_pairs()
        return self._as_graph().remove_rows(rows)

    def add(self, pairs: Pairs) -> None:
        """Add violations that aren't there yet."""
        if len(pairs):
            self._as_graph().add(*sides(pairs))

    def _as_graph(self) -> PairGraph:
        if self._graph is None:
            assert self._pairs is not None
            self._graph = PairGraph(*sides(self._pairs()))
            self._pairs = None
        return self._graph

    def list_again(self, pairs: Pairs) -> None:
        """Keep pairs from now on."""
        self._count, self._pairs, self._graph = len(pairs), lambda: pairs, None

    def count_only(self, count: int) -> None:
        """Keep a count from now on."""
        self._count, self._pairs, self._graph = count, None, None
