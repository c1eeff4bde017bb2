"""Numbers that decide whether a figure of a batch is far outside of what past batches had. Pure functions of arrays.

Invariant: what is said of a figure depends on the past figures alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Side = Literal[-1, 0, 1]  # below what is usual, usual, above

FEWEST = 8  # past batches before anything is said
FALSE_ALARMS = 0.001  # batches with a false alarm, of all
LEAST_ROWS = 30  # of smaller batches only the rows are counted
_NORMAL = 1.4826  # times the median absolute deviation is the standard deviation of normal values
_TENTH = 1.2816  # standard deviations from the median to the tenth below and above
_SPREADS, _ROOTS = 6.0, 4.0
_SMALL = 9.0  # counts with a smaller median vary as if it were this
ALIKE = 2  # past batches as far off show that it is nothing new
_RECENT = 14  # batches say how many rows are usual now; how these spread is seen in all
_WEEKS = 3  # that each weekday needs
_CLEARLY = 0.6  # what is left of the spread where weekdays explain it


@dataclass(frozen=True)
class Usual:
    """On which side of the usual a figure is, the median of past batches, and the range in which nine of ten are."""

    side: Side
    median: float
    low: float
    high: float
    batches: int


def doubt(batches: Any) -> Any:
    """How much wider a spread is taken that few batches show, a number or numbers: 1.6 for 8 batches, 1 for many."""
    return 1.0 + (6.0 / batches) ** 2


def quantiles(values: Numbers, *shares: float) -> list[float]:
    """Some quantiles of a few numbers, as NumPy has them, and many times as fast.

    >>> quantiles(np.array([3.0, 1.0, 2.0]), 0.5, 0.75, 1.0)
    [2.0, 2.5, 3.0]
    """
    ordered, found = np.sort(values), []
    for share in shares:
        place = share * (len(ordered) - 1)
        low = int(place)
        below, above = float(ordered[low]), float(ordered[min(low + 1, len(ordered) - 1)])
        found.append(below + (above - below) * (place - low))
    return found


def median_of(values: Numbers) -> float:
    """The median of a few numbers."""
    return quantiles(values, 0.5)[0]


def mad(values: Numbers) -> float:
    """The standard deviation of normal values, by the median absolute deviation."""
    return _NORMAL * median_of(np.abs(values - median_of(values)))


def spread(values: Numbers, side: Literal[-1, 1]) -> float:
    """How far values spread to one side of their median: by all deviations, and by the tenth of the values farthest on
    that side, whichever is more. Where one batch in five is of another kind, the tenth shows it.
    """
    middle, far = quantiles(values, 0.5, 0.5 + 0.4 * side)
    return max(mad(values), (far - middle) * side / _TENTH)


def of_count(past: Numbers, now: float, weekdays: NDArray[np.int64] | None = None, today: int = -1) -> Usual:
    """Whether a number of rows is usual, given those of past batches, the oldest first, and perhaps their weekdays.

    It is far outside if it differs from the median of the last ones by more than 4 roots of that, and more than half of
    it, and more than 6 spreads: above on the scale of roots, where numbers that come by chance spread evenly, and below
    on that of logarithms, as nothing is below 0. Numbers that two past batches reached are not.
    """
    factor = _weekday_factors(past, weekdays, today)
    comparable = past if factor is None else past * factor
    low, median, high = quantiles(comparable, 0.05, 0.5, 0.95)
    level = median_of(comparable[-_RECENT:])
    wide = _SPREADS * doubt(len(past))
    floor = max(_ROOTS * math.sqrt(max(level, _SMALL)), level / 2)
    side: Side = 0
    if now > level + floor:
        is_far = math.sqrt(now) - math.sqrt(level) > wide * spread(np.sqrt(comparable), 1)
        side = 1 if is_far and (comparable >= now).sum() < ALIKE else 0
    elif now < level - floor:
        is_far = math.log1p(level) - math.log1p(now) > wide * spread(np.log1p(comparable), -1)
        side = -1 if is_far and (comparable <= now).sum() < ALIKE else 0
    if side and factor is None and weekdays is not None and _as_last_week(past, weekdays, now, today, side):
        side = 0
    return Usual(side, median, low, high, len(past))


def _as_last_week(past: Numbers, weekdays: NDArray[np.int64], now: float, today: int, side: int) -> bool:
    """Whether the last batch of the same weekday was as far off."""
    same = past[weekdays == today]
    return bool(len(same) and (same[-1] - now) * side >= 0)


def _weekday_factors(past: Numbers, weekdays: NDArray[np.int64] | None, today: int) -> Numbers | None:
    """By what each past number is multiplied to compare it with today's, where weekdays clearly explain how they
    spread, and each has come often enough; else None. Each number is judged by the others of its weekday, so that few
    weeks don't look better than they are.
    """
    if weekdays is None:
        return None
    logs = np.log1p(past)
    of_days: dict[int, list[float]] = {}
    for day, value in zip(weekdays.tolist(), logs.tolist(), strict=True):
        of_days.setdefault(day, []).append(value)
    if len(of_days) < 2 or min(map(len, of_days.values())) < _WEEKS or today not in of_days:
        return None
    left = np.array([each for own in of_days.values() for each in _from_others(own)])
    if spread_of_all(left) > _CLEARLY * spread_of_all(logs - median_of(logs)):
        return None
    medians = {day: median_of(np.array(own)) for day, own in of_days.items()}
    return np.exp([medians[today] - medians[day] for day in weekdays.tolist()])


def spread_of_all(left: Numbers) -> float:
    """How far deviations spread, by four in five of them."""
    return quantiles(np.abs(left), 0.8)[0] / _TENTH


def _from_others(values: Sequence[float]) -> list[float]:
    """How far each of at least two values is from the median of the others, in the order of the values."""
    ordered = sorted(values)
    half, odd = divmod(len(ordered) - 1, 2)
    low = half - (1 - odd)  # the others have two in the middle, which may be the same
    return [
        each - (ordered[low + (place <= low)] + ordered[half + (place <= half)]) / 2
        for place, each in enumerate(ordered)
    ]


def of_mean(past: Numbers, now: float, error: float) -> Usual:
    """Whether the mean of a column is usual; `error` is the standard error of the new one. It is far outside if it
    differs from the median by more than 6 spreads, more than 4 standard errors, and more than half of the median.
    """
    low, median, high = quantiles(past, 0.05, 0.5, 0.95)
    side: Literal[-1, 1] = 1 if now > median else -1
    is_far = (
        abs(now - median) > max(_ROOTS * error, abs(median) / 2)  # which is quickly seen
        and abs(now - median) > _SPREADS * doubt(len(past)) * spread(past, side)
        and ((past - now) * side >= 0).sum() < ALIKE
    )
    return Usual(side if is_far else 0, median, low, high, len(past))


def of_newest(past: Numbers, now: float) -> Usual:
    """Whether the newest timestamp of a batch is usual. The numbers say by how much each batch went beyond those
    before it. It is far outside if it lies before theirs, and was never as far back: by more than 6 spreads, and half a
    usual step.
    """
    median, least = median_of(past), float(past.min())
    limit = max(_SPREADS * doubt(len(past)) * mad(past), abs(median) / 2)
    return Usual(-1 if now < 0 and now < least - limit else 0, median, least, float(past.max()), len(past))


def rank_correlation(values: Numbers) -> float:
    """How far values rise with their places: from -1 to 1, 0 where all are equal.

    >>> rank_correlation(np.array([1.0, 5.0, 7.0])), rank_correlation(np.array([2.0, 2.0]))
    (1.0, 0.0)
    """
    _, of, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[of]  # the mean rank of equal values
    return round(float(np.corrcoef(np.arange(len(ranks)), ranks)[0, 1]), 12) if len(counts) > 1 else 0.0


# ---- shares ----------------------------------------------------------------------------------------------------------


def binomial_tail(least: int, rows: int, share: float) -> float:
    """P(X >= least), where each of some rows is one with a chance of its own: exact, but for terms too small to count.

    >>> binomial_tail(2, 2, 0.5), binomial_tail(0, 5, 0.1)
    (0.25, 1.0)
    """
    if least <= 0:
        return 1.0
    if least > rows or share <= 0.0:
        return 0.0
    if share >= 1.0:
        return 1.0
    if least <= rows * share:  # the other side is the smaller sum
        return 1.0 - binomial_tail(rows - least + 1, rows, 1.0 - share)
    log = math.lgamma(rows + 1) - math.lgamma(least + 1) - math.lgamma(rows - least + 1)
    log += least * math.log(share) + (rows - least) * math.log1p(-share)
    further = np.arange(least, min(rows, least + 200 + 40 * math.isqrt(rows)), dtype=np.float64)
    ratios = (rows - further) / (further + 1.0) * (share / (1.0 - share))
    return min(1.0, math.exp(log) * (1.0 + float(np.cumprod(ratios).sum())))


@dataclass(frozen=True)
class Shares:
    """What past batches say of shares, one each: the share that a row has it, and how many rows are worth one, as rows
    of the same batch are alike.
    """

    share: Numbers
    alike: Numbers


def shares_of(counts: Numbers, rows: Numbers, known: NDArray[np.bool_]) -> Shares:
    """From counts and rows `[batch, figure]`, those that are known.

    The share is that of all rows, with one more row that has it and one that has not (Laplace). If the shares of
    batches differ by chance alone, their squared deviations from it are 1 on average, as binomial counts have them;
    the excess says how many rows are worth one.
    """
    k, n = np.where(known, counts, 0.0), np.where(known, rows, 0.0)
    share = (k.sum(axis=0) + 1.0) / (n.sum(axis=0) + 2.0)
    squares = (k - n * share) ** 2 / np.maximum(n * share * (1.0 - share), 1e-12)
    batches = np.maximum(known.sum(axis=0), 1)
    excess = np.maximum(np.where(known, squares, 0.0).sum(axis=0) / batches - 1.0, 0.0)
    return Shares(share, 1.0 + excess * doubt(batches))


def materially_off(now: Numbers, share: Numbers, least: Numbers) -> NDArray[np.bool_]:
    """Whether shares differ by more than half of the share, or of the rest where that is less, and by so much of the
    rows at least.
    """
    return np.asarray(np.abs(now - share) > np.maximum(np.minimum(share, 1.0 - share) / 2, least))


def chance_of(count: float, rows: float, share: float, alike: float) -> float:
    """How likely chance gives a count of rows that is as far from the share, on its side."""
    whole = math.ceil(rows / alike)
    if count >= rows * share:
        return binomial_tail(math.floor(count / alike), whole, share)
    return binomial_tail(math.floor((rows - count) / alike), whole, 1.0 - share)
