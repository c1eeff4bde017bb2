"""Rules with at least a given coverage, and the coverage of a rule.

Where all pairs are counted, the search goes no further than enough pairs meet a left side (see `minimal_rules`): of a
million rules a few may be left. Else all rules are found, and most are dropped: by a sample of the pairs where that is
clear, and where it is not, by a count of all of them. So rules depend on the table alone.

With the rules come never-sets. Where rules were found without these, they are, for each rule `X -> B=`: X with `B<`,
and X with `B>`, where minimal; and keys, which have no reading.

The rules whose left side most pairs of rows meet come first. Coverage separates laws from accidents: a rule that holds
of a few pairs alone may well hold by chance. Readings of one class have different left sides; the class stands where
its best reading stands, and that one comes first.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.boxes import EQUAL, LESS, MORE, Boxes, Mask, Space, canonical, numbered, weakenings
from holdfast.engines.pointwise.cells import PairValues, WantedCoverage, counts_pay
from holdfast.engines.pointwise.marginals import counts_within
from holdfast.engines.pointwise.minimal_rules import WantedRules, covered, derive
from holdfast.engines.pointwise.never_sets import keys
from holdfast.engines.pointwise.rule_arrays import RuleArrays
from holdfast.engines.pointwise.strategies import PairCounts, PointwiseStrategy

_SURE = 40.0  # a sample that misleads has a probability of exp(-40)


def rules_covered(strategy: PointwiseStrategy, wanted: WantedRules, share: float) -> tuple[RuleArrays, Boxes]:
    """The minimal rules whose left side a share of the pairs meets, more than 0; and never-sets, one of two mirrors."""
    counts, space = strategy.pair_counts(), wanted.space
    least = least_pairs(share, counts.pairs)
    if counts.exact and counts_pay(space, counts.values, counts.counts, least, wanted.max_lhs):
        rules = covered(replace(wanted, seen=PairValues(counts.values, space, WantedCoverage(counts.counts, least))))
        return rules, _never_sets(rules, counts, wanted)
    found = derive(wanted, strategy.never)
    return found.rules.some(_are_covered(found.rules.left, strategy, counts, share, wanted)), found.never


def _are_covered(
    left: Boxes, strategy: PointwiseStrategy, counts: PairCounts, share: float, wanted: WantedRules
) -> Mask:
    """Which left sides, each of which some pair meets, a share of the pairs meets."""
    least = least_pairs(share, counts.of)
    if least == 1:
        return np.ones(len(left), np.bool_)
    met = counts_within(counts.values, counts.counts, wanted.space, left)
    enough: Mask = met >= least_pairs(share, counts.pairs)
    if counts.exact:
        return enough
    near = np.flatnonzero(_are_near(met, counts.pairs, share))
    boxes, of = np.unique(left[near], axis=0, return_inverse=True)
    counted = strategy.count_pairs(boxes, lambda _, __: wanted.progress(len(left)))
    enough[near] = (counted >= least)[of.ravel()]
    return enough


def _are_near(met: NDArray[np.int64], pairs: int, share: float) -> Mask:
    """Whether random pairs could meet left sides this often if exactly this share of all pairs did. By Chernoff's bound
    a count that is this far off has at most the probability exp(-pairs * divergence): also where none is met.
    """
    own = met / pairs
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = np.where(met > 0, own * np.log(own / share), 0.0)
        missed = np.where(met < pairs, (1 - own) * np.log((1 - own) / (1 - share)), 0.0)
    return np.asarray(pairs * (hit + missed) < _SURE)


def least_pairs(share: float, pairs: int) -> int:
    """The least number of pairs that is this share of all, and more than 0."""
    least = max(1, int(share * pairs))
    while least > 1 and (least - 1) / pairs >= share:
        least -= 1
    while pairs and least / pairs < share:
        least += 1
    return least


def _never_sets(rules: RuleArrays, counts: PairCounts, wanted: WantedRules) -> Boxes:
    """The minimal never-sets of `=` rules, and keys; none where nulls are distinct."""
    space = wanted.space
    if space.unknown:
        return rules.left[:0]
    equal = rules.some((rules.mark == EQUAL) & np.array(space.ordered)[rules.column])
    rows, sides = np.arange(len(equal.left)), []
    for value in (LESS, MORE):
        boxes = equal.left.copy()
        boxes[rows, equal.column] = value
        sides.append(canonical(boxes))
    never = np.unique(np.concatenate(sides), axis=0)
    weaker, of = (np.concatenate(parts) for parts in zip(*weakenings(never, space), strict=True))
    minimal = np.ones(len(never), np.bool_)
    minimal[of[counts_within(counts.values, counts.counts, space, weaker) == 0]] = False
    most = None if wanted.max_lhs is None else wanted.max_lhs + 1
    return np.concatenate([never[minimal], keys(counts.values, space, most)])


Shares = NDArray[np.float64]


def coverage_of(rules: RuleArrays, counts: PairCounts, space: Space) -> tuple[Shares, Shares | None]:
    """The share of ordered pairs of rows that meet the left side of each rule; and where the pairs are a sample, how
    far it may be off: twice its standard error and a little more, as Wilson's interval has it, so that it is right also
    of a left side that no pair of the sample meets.
    """
    pairs = max(1, counts.pairs)
    shares: Shares = counts_within(counts.values, counts.counts, space, rules.left) / pairs
    if counts.exact:
        return shares, None
    return shares, 2 * (np.sqrt(shares * (1 - shares) / pairs + 1 / pairs**2) + 1 / pairs)


def best_first(rules: RuleArrays, counts: PairCounts, space: Space) -> RuleArrays:
    """Rules with their coverage, the highest first; the readings of a class stand together."""
    if not len(rules):
        return rules
    shares, errors = coverage_of(rules, counts, space)
    of = numbered(canonical(rules.boxes(space)))
    best = np.zeros(int(of.max()) + 1)
    np.maximum.at(best, of, shares)
    order = np.lexsort((np.arange(len(rules)), -shares, of, -best[of]))
    return replace(rules, coverage=shares, error=errors).some(order)
