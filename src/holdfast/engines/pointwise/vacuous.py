"""Vacuous rules, where nulls are equal: those whose left side no pair meets. They follow from the never-sets alone.

The left side of a minimal one is a minimal never-set N. `N -> B op` is minimal iff no weaker left side will do: iff
each one-step weakening of N is met by a pair that breaks `B op`. `N -> B<=` follows from `N -> B<`: it never is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.boxes import Sides, leans, marks_of, weakenings
from holdfast.engines.pointwise.marginals import values_within
from holdfast.engines.pointwise.marks import EQUAL, FREE, LESS, MORE, OTHER, Boxes, Space, Values, mirrored

# As bits, which right sides a pair breaks: `<`, its mirror `>`, or `=`; and so for each set of values of pairs.
_NOT_LESS, _NOT_MORE, _NOT_EQUAL = 1, 2, 4
_BROKEN_BY = {
    LESS: _NOT_MORE | _NOT_EQUAL,
    EQUAL: _NOT_LESS | _NOT_MORE,
    MORE: _NOT_LESS | _NOT_EQUAL,
    OTHER: _NOT_EQUAL,
}
_BREAKS = np.array(
    [np.bitwise_or.reduce([own for bit, own in _BROKEN_BY.items() if bit & values] or [0]) for values in range(16)],
    np.uint8,
)
_AT_ONCE = 1 << 18  # never-sets, for the memory that their weakenings take


@dataclass(frozen=True, eq=False)
class Vacuous:
    """For each never-set and column, the right sides that make a minimal rule of it."""

    never: Boxes
    minimal: NDArray[np.uint8]  # [never-set, column]

    @staticmethod
    def of(never: Boxes, seen: Values, space: Space, max_lhs: int | None, targets: Sequence[int]) -> Vacuous:
        """From the minimal never-sets, of two mirrors the one that is told."""
        fits = ~(never == OTHER).any(axis=1)
        if max_lhs is not None:
            fits &= marks_of(never) <= max_lhs
        never = never[fits]
        minimal = np.where(never == FREE, _BREAKS[FREE], 0).astype(np.uint8)
        minimal[~leans(never)] &= ~np.uint8(_NOT_MORE)  # which is the same as `<` there
        for column in range(space.columns):
            if column not in targets:
                minimal[:, column] = 0
            elif not space.ordered[column]:
                minimal[:, column] &= _NOT_EQUAL
        for begin in range(0, len(never), _AT_ONCE):
            _keep_minimal(never[begin : begin + _AT_ONCE], minimal[begin : begin + _AT_ONCE], seen, space)
        return Vacuous(never, minimal)

    def count(self) -> int:
        """How many rules there are."""
        return int(np.bitwise_count(self.minimal).sum(dtype=np.int64))

    def rules(self) -> Sides:
        """All of them."""
        parts = []
        for column in range(self.never.shape[1]):
            for bit, operator in ((_NOT_LESS, LESS), (_NOT_MORE, LESS), (_NOT_EQUAL, EQUAL)):
                left = self.never[(self.minimal[:, column] & bit) != 0]
                parts.append(Sides.of(mirrored(left) if bit == _NOT_MORE else left, column, operator))
        return Sides.joined(self.never.shape[1], parts)


def _keep_minimal(never: Boxes, minimal: NDArray[np.uint8], seen: Values, space: Space) -> None:
    """Leave the right sides that some pair breaks in each weakening. OUT minimal."""
    parts = weakenings(never, space)
    broken = _BREAKS[values_within(seen, space, np.concatenate([never[:0], *(weaker for weaker, _ in parts)]))]
    end = 0
    for weaker, of in parts:
        begin, end = end, end + len(weaker)
        minimal[of] &= broken[begin:end]
