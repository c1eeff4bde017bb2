"""Which rules come first: those whose left side most pairs of rows meet.

Coverage separates laws from accidents: a rule that holds of a few pairs alone may well hold by chance. Readings of one
class have different left sides; the class stands where its best reading stands, and that one comes first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.boxes import folded, numbered
from holdfast.engines.pointwise.marginals import counts_within
from holdfast.engines.pointwise.marks import Space
from holdfast.engines.pointwise.result import Listed
from holdfast.engines.pointwise.ways import Tally

Shares = NDArray[np.float64]


def coverage_of(rules: Listed, tally: Tally, space: Space) -> tuple[Shares, Shares | None]:
    """The share of ordered pairs of rows that meet the left side of each rule; and where the pairs are a sample, how
    far it may be off: twice its standard error and a little more, as Wilson's interval has it, so that it is right also
    of a left side that no pair of the sample meets.
    """
    pairs = max(1, tally.pairs)
    shares: Shares = counts_within(tally.values, tally.counts, space, rules.left) / pairs
    if tally.exact:
        return shares, None
    return shares, 2 * (np.sqrt(shares * (1 - shares) / pairs + 1 / pairs**2) + 1 / pairs)


def best_first(rules: Listed, tally: Tally, space: Space) -> Listed:
    """Rules with their coverage, the highest first; the readings of a class stand together."""
    if not len(rules):
        return rules
    shares, errors = coverage_of(rules, tally, space)
    of = numbered(folded(rules.boxes(space)))
    best = np.zeros(int(of.max()) + 1)
    np.maximum.at(best, of, shares)
    order = np.lexsort((np.arange(len(rules)), -shares, of, -best[of]))
    return replace(rules, coverage=shares, error=errors).some(order)
