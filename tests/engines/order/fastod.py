"""The paper's own search (papers: fastod, Algorithms 1 to 4) as a second opinion: level by level through the lattice of
column sets, with its candidate sets. Only what it asks of the rows is ours: the oracle's definitions.

The paper has ascending pairs alone. Descending ones are candidates of their own beside them, under the same rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from tests.oracle import order as oracle

Set = frozenset[int]
Pair = tuple[int, int, str]  # two columns, the lower first, and the direction


class Fastod:
    """Finds the minimal rules of some rows; `found` has them as the oracle writes them."""

    def __init__(self, rows: Sequence[Sequence[Any]], columns: int, nulls: str) -> None:
        self._rows, self._nulls, self._all = rows, nulls, frozenset(range(columns))
        self.found: set[Any] = set()
        self._constants: dict[Set, set[int]] = {frozenset(): set(self._all)}  # C_c+
        self._pairs: dict[Set, set[Pair]] = {frozenset(): set()}  # C_s+
        level, size = {frozenset([column]) for column in self._all}, 1
        while level and len(rows) > 1:  # Algorithm 1
            self._compute(level, size)
            level = self._next(self._pruned(level, size))
            size += 1

    def _compute(self, level: set[Set], size: int) -> None:
        """Algorithm 3."""
        for own in level:
            self._constants[own] = set.intersection(*(self._constants[own - {c}] for c in own))
            self._pairs[own] = self._candidates(own, size)
        for own in level:
            for column in sorted(own & self._constants[own]):
                if oracle.constant_holds(self._rows, tuple(own - {column}), column, self._nulls):
                    self.found.add((tuple(sorted(own - {column})), column))
                    self._constants[own] -= {column, *(self._all - own)}
            for pair in sorted(self._pairs[own]):
                self._look_at(own, pair)

    def _candidates(self, own: Set, size: int) -> set[Pair]:
        """Lines 3 to 7: pairs that hold in no smaller context."""
        if size < 2:
            return set()
        if size == 2:
            one, other = sorted(own)
            return {(one, other, "asc"), (one, other, "desc")}
        known = set().union(*(self._pairs[own - {c}] for c in own))
        return {pair for pair in known if all(pair in self._pairs[own - {c}] for c in own - set(pair[:2]))}

    def _look_at(self, own: Set, pair: Pair) -> None:
        """Lines 17 to 24."""
        one, other, direction = pair
        context = own - {one, other}
        if one not in self._constants[own - {other}] or other not in self._constants[own - {one}]:
            self._pairs[own].remove(pair)
        elif oracle.pair_holds(self._rows, tuple(context), one, other, direction, self._nulls):
            self.found.add((tuple(sorted(context)), one, other, direction))
            self._pairs[own].remove(pair)

    def _pruned(self, level: set[Set], size: int) -> set[Set]:
        """Algorithm 4."""
        return {own for own in level if size < 2 or self._constants[own] or self._pairs[own]}

    def _next(self, level: set[Set]) -> set[Set]:
        """Algorithm 2: sets of one column more, all of whose parts of this size are here."""
        joined = {one | other for one, other in combinations(level, 2) if len(one - other) == 1}
        return {own for own in joined if all(own - {column} in level for column in own)}
