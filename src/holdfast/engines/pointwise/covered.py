"""The rules that a share of the pairs of rows tests, when others are not wanted.

Where all pairs are counted, the search goes no further than enough pairs meet a left side (see `readings`): of a
million rules a few may be left. Else all rules are found, and most are dropped.

With the rules come never-sets. Where rules were found without these, they are those that the rules ask for: which of
the two that `X -> B=` speaks of are minimal; and keys, which have no reading.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from holdfast.engines.pointwise.boxes import Sides, folded, weakenings
from holdfast.engines.pointwise.cells import Coverage, counts_pay
from holdfast.engines.pointwise.marginals import counts_within
from holdfast.engines.pointwise.marks import EQUAL, LESS, MORE, Boxes
from holdfast.engines.pointwise.never import keys
from holdfast.engines.pointwise.readings import covered, derive
from holdfast.engines.pointwise.ways import Asked, Tally, Way
from holdfast.table.threads import SoFar


def rules_covered(
    way: Way, asked: Asked, share: float, rhs: Sequence[int] | None = None, progress: SoFar = lambda _: None
) -> tuple[Sides, Boxes]:
    """The minimal rules whose left side a share of the pairs meets, more than 0; and never-sets, one of two mirrors."""
    tally, space, max_lhs = way.tallied(), asked.space, asked.max_lhs
    least = least_pairs(share, tally.pairs)
    if tally.exact and counts_pay(space, tally.values, tally.counts, least, max_lhs):
        rules = covered(tally.values, Coverage(tally.counts, least), space, max_lhs, rhs, progress)
        return rules, _never_sets(rules, tally, asked)
    found = derive(way.seen, space, max_lhs, rhs, progress, way.never)
    rules = Sides(found.left, found.column, found.operator)
    return rules.where(counts_within(tally.values, tally.counts, space, rules.left) >= least), found.never


def least_pairs(share: float, pairs: int) -> int:
    """The least number of so many pairs that is this share of them, and more than 0."""
    least = max(1, int(share * pairs))
    while least > 1 and (least - 1) / pairs >= share:
        least -= 1
    while pairs and least / pairs < share:
        least += 1
    return least


def _never_sets(rules: Sides, tally: Tally, asked: Asked) -> Boxes:
    """The minimal never-sets of `=` rules, and keys; none where nulls are distinct."""
    space = asked.space
    if space.unknown:
        return rules.left[:0]
    equal = rules.where((rules.operator == EQUAL) & np.array(space.ordered)[rules.column])
    rows, sides = np.arange(len(equal.left)), []
    for value in (LESS, MORE):
        boxes = equal.left.copy()
        boxes[rows, equal.column] = value
        sides.append(folded(boxes))
    never = np.unique(np.concatenate(sides), axis=0)
    weaker, of = (np.concatenate(parts) for parts in zip(*weakenings(never, space), strict=True))
    minimal = np.ones(len(never), np.bool_)
    minimal[of[counts_within(tally.values, tally.counts, space, weaker) == 0]] = False
    most = None if asked.max_lhs is None else asked.max_lhs + 1
    return np.concatenate([never[minimal], keys(tally.values, space, most)])
