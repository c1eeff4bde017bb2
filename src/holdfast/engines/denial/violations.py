"""The violations of one constraint: as pairs while these are few enough to keep, else as a count alone.

A pair is (t, s); of a symmetric constraint the smaller row id comes first, and each pair is there once. A constraint
about single rows has rows: then s is NOBODY (-1).

Invariant: `count` is exact at all times; `pairs` is None exactly where only the count is kept.
Cost: see `holdfast.search.graph`; what rows of a batch violate is added and dropped at the cost of these violations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from holdfast.engines.denial.model import DenialConstraint
from holdfast.search.found import Found, Ids, Pairs, paired, sides
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

    def __init__(self, constraint: DenialConstraint, found: Found) -> None:
        self.constraint = constraint
        self._count = found.count
        self.graph = None if found.pairs is None else PairGraph(*sides(found.pairs))

    @property
    def count(self) -> int:
        """How many violations there are."""
        return self._count if self.graph is None else len(self.graph)

    @property
    def nbytes(self) -> int:
        """The bytes that the pairs take."""
        return 0 if self.graph is None else self.graph.nbytes

    def found(self) -> Found:
        """The violations now: a copy, which later changes don't touch."""
        graph = self.graph
        if graph is None:
            return Found(self._count, None)
        pairs = graph.pairs()
        return Found(len(pairs), pairs)

    def list_again(self, pairs: Pairs) -> None:
        """Keep pairs from now on."""
        self.graph = PairGraph(*sides(pairs))

    def count_only(self, count: int) -> None:
        """Keep a count from now on."""
        self._count, self.graph = count, None
