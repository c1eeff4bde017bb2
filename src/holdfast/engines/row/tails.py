"""Limits far beyond the numbers of a column, and how many numbers a tail would have beyond a limit.

A suggested limit must lie far out: at the median + 3 x (q99.9 - median) at least, on the plain scale or on that of
logarithms, whichever has the lighter tail. And beyond what the tail itself reaches: the numbers above the 95th
percentile are fitted with a generalised Pareto distribution, whose shape is estimated from their moments (Dekkers,
Einmahl and de Haan), and made heavier by two standard errors, as few numbers say little of a shape. On the scale of
logarithms the tail falls at least as an exponential one, that is as a power of the numbers: what is heavier is the
noise of few. Where that tail still has more than a negligible chance at the limit, the limit moves out.

Numbers come as distinct values, ascending, with how often each occurs. A lower limit is an upper one of the negated
numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.chance import ASSUMED, BATCHES

FEWEST, FEWEST_POSITIVE = 300, 150  # numbers: fewer have no tail to speak of; both tails may be heavy unless all > 0
_TAIL = 0.05  # the share of the numbers that is fitted
_TOP = 0.001  # what is beyond q99.9
_FAR = 3.0
NEGLIGIBLE = 0.0003  # breaks in 100 assumed batches that a limit may have: a third of what an error may
_HEAVIEST = 2.0  # shape of a tail
_POWER_LAW = 0.0  # the same on the scale of logarithms, where this is a power law: numbers have no heavier tails
ON_LIMIT = 0.01  # this share of the numbers is equal to a limit where they pile up there
_AS_MANY = 0.8  # this share of the next numbers is about as many
_USEFUL = 100.0  # a limit that is more times as far from the median as the farthest number says nothing

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Numbers:
    """Distinct numbers, ascending, and how often each occurs."""

    values: Floats
    counts: Counts

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.counts.sum())

    @property
    def negated(self) -> Numbers:
        """The same with the other sign."""
        return Numbers(-self.values[::-1], self.counts[::-1])

    def quantile(self, share: float) -> float:
        """The least number that at least this share of the numbers is not above."""
        ends = np.cumsum(self.counts)
        return float(self.values[min(np.searchsorted(ends, share * ends[-1]), len(ends) - 1)])


@dataclass(frozen=True)
class Limit:
    """A limit, and the share of the rows to expect beyond it."""

    at: float
    chance: float


@dataclass(frozen=True)
class _Tail:
    """The excesses of numbers over a threshold, as a generalised Pareto distribution."""

    threshold: float
    share: float  # of the numbers that exceed it
    shape: float
    scale: float

    def beyond(self, limit: float) -> float:
        """The share of the numbers to expect above a limit."""
        excess = (limit - self.threshold) / self.scale
        if abs(self.shape) < 1e-6:
            return self.share * math.exp(-excess)
        base = 1.0 + self.shape * excess
        return float(self.share * base ** (-1.0 / self.shape)) if base > 0 else 0.0

    def limit(self, chance: float) -> float:
        """The limit above which this share of the numbers is to be expected."""
        times = self.share / chance
        if abs(self.shape) < 1e-6:
            return self.threshold + self.scale * math.log(times)
        return float(self.threshold + self.scale / self.shape * (times**self.shape - 1.0))


def upper_limit(numbers: Numbers) -> Limit | None:
    """A limit far above all numbers; None: there is none that says anything."""
    if numbers.count < _fewest(numbers):
        return None
    logarithmic = numbers.values[0] > 0
    found = _upper_on_lighter_scale(numbers, Numbers(np.log(numbers.values), numbers.counts) if logarithmic else None)
    middle, most = numbers.quantile(0.5), float(numbers.values[-1])
    return found if found and found.at - middle <= _USEFUL * (most - middle) else None


def _fewest(numbers: Numbers) -> int:
    return FEWEST_POSITIVE if numbers.count and numbers.values[0] > 0 else FEWEST


def _upper_on_lighter_scale(plain: Numbers, logarithms: Numbers | None) -> Limit | None:
    if logarithms is None or _weight(plain) <= _weight(logarithms):
        return _far_limit(plain)
    found = _far_limit(logarithms, _POWER_LAW)
    return None if found is None or found.at > 700 else Limit(math.exp(found.at), found.chance)


def lower_limit(numbers: Numbers) -> Limit | None:
    """A limit far below all numbers, on the scale on which that tail is lighter."""
    if numbers.count < _fewest(numbers):
        return None
    found = _far_limit(numbers.negated)
    if numbers.values[0] > 0:
        logarithms = Numbers(np.log(numbers.values), numbers.counts).negated
        if _weight(logarithms) < _weight(numbers.negated):
            found = _far_limit(logarithms, _POWER_LAW)
            return None if found is None else Limit(math.exp(-found.at), found.chance)
    middle, least = numbers.quantile(0.5), float(numbers.values[0])
    if found is None or middle + found.at > _USEFUL * (middle - least):
        return None
    return Limit(-found.at, found.chance)


def _weight(numbers: Numbers) -> float:
    """How heavy the upper tail is: how far q99.9 is from the median, beside how far q95 is."""
    middle, inner, top = (numbers.quantile(share) for share in (0.5, 1 - _TAIL, 1 - _TOP))
    return (top - middle) / (inner - middle) if inner > middle else math.inf


def _far_limit(numbers: Numbers, heaviest: float = _HEAVIEST) -> Limit | None:
    tail = _tail(numbers, heaviest)
    if tail is None:
        return None
    middle, top = numbers.quantile(0.5), numbers.quantile(1 - _TOP)
    negligible = NEGLIGIBLE / (BATCHES * numbers.count / ASSUMED)
    limit = max(middle + _FAR * (top - middle), tail.limit(negligible))
    return Limit(limit, tail.beyond(limit)) if math.isfinite(limit) else None


def _tail(numbers: Numbers, heaviest: float) -> _Tail | None:
    """The upper tail; None where the numbers above the threshold are none, or hardly differ from the median."""
    middle, threshold = numbers.quantile(0.5), numbers.quantile(1 - _TAIL)
    above = numbers.values > threshold
    count = int(numbers.counts[above].sum())
    if count == 0 and threshold > middle:  # the greatest numbers are equal: the tail begins below them
        above = numbers.values >= threshold
        count = int(numbers.counts[above].sum())
        threshold = float(numbers.values[~above][-1])
    if count == 0 or threshold <= middle:
        return None
    weights = numbers.counts[above] / count
    logarithms = np.log((numbers.values[above] - middle) / (threshold - middle))
    first, second = float(weights @ logarithms), float(weights @ logarithms**2)
    spread = second - first**2  # 0 where they are all equal: then the tail has an end
    bounded = 1.0 - 0.5 * second / spread if spread > 1e-12 * second else -0.5
    error = 2.0 / math.sqrt(count)
    shape = min(max(first + bounded, -0.5) + error, heaviest)
    scale = (threshold - middle) * first * (1.0 - min(bounded, 0.0)) * (1.0 + error)
    return _Tail(threshold, count / numbers.count, shape, scale)


def expected_below(numbers: Numbers, limit: float) -> float:
    """How many of some numbers, of which none is below a limit, should have been there if nothing kept them above it.

    As many as there are just above it, if numbers do not get fewer towards it; half as many as are equal to it, if
    these are many; and else by the mean excess of the least twentieth, whose tail falls as an exponential one.
    """
    first = float(numbers.counts[0]) / 2
    on_limit = first if float(numbers.values[0]) == limit and 2 * first >= ON_LIMIT * numbers.count else 0.0
    return max(on_limit, _just_above(numbers, limit), _in_tail_below(numbers, limit))


def _just_above(numbers: Numbers, limit: float) -> float:
    """The numbers in the first eighth of the way from a limit to the median, if about as many are in the next."""
    step = (numbers.quantile(0.5) - limit) / 8
    ends = np.searchsorted(numbers.values, [limit + step, limit + 2 * step])
    first, both = (int(numbers.counts[:end].sum()) for end in ends)
    return float(first) if first >= _AS_MANY * (both - first) else 0.0


def _in_tail_below(numbers: Numbers, limit: float) -> float:
    least, threshold = float(numbers.values[0]), numbers.quantile(_TAIL)
    below = numbers.values <= threshold
    some = float(numbers.counts[below].sum())
    excess = float(numbers.counts[below] @ (threshold - numbers.values[below])) / some
    if excess <= 0.0:  # all of these are equal
        threshold, excess = least, max((float(numbers.values[-1]) - least) / len(numbers.values), 1e-300)
    return some * math.exp(-(threshold - limit) / excess)


def are_scaled(numbers: Numbers) -> bool:
    """Whether positive numbers are more evenly spread on the scale of logarithms: they differ by factors, and have no
    reason to reach zero.
    """
    logarithms = Numbers(np.log(numbers.values), numbers.counts)
    return abs(_skewness(logarithms)) < abs(_skewness(numbers))


def _skewness(numbers: Numbers) -> float:
    apart = numbers.values - float(np.average(numbers.values, weights=numbers.counts))
    squares, cubes = (float(np.average(apart**power, weights=numbers.counts)) for power in (2, 3))
    return cubes / squares**1.5 if squares > 0 else 0.0
