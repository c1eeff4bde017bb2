"""Likely ranges: limits far beyond all numbers of a column, and signs.

A range at the least and the greatest value breaks with the next larger one, which comes with chance 1 / (n + 1) a row.
So limits are where `tails` puts them. A column that grows with time has no upper limit, whatever its tail: dates and
moments, numbers that are given one after the other, and all whose later rows are above the earlier ones, in the order
of the rows or of a column that tells the time. The same holds for lower limits and falling numbers.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.engines import chance
from holdfast.engines.row.seen import SeenColumn, evenly
from holdfast.engines.row.tails import (
    FEWEST,
    NEGLIGIBLE,
    ON_LIMIT,
    Limit,
    Numbers,
    are_scaled,
    expected_below,
    lower_limit,
    upper_limit,
)
from holdfast.rules.conditions import Between, Comparison, Condition, Every, of_t
from holdfast.rules.constants import Constant, Value
from holdfast.table.types import is_measured

_SOME = 4000  # rows that show whether a column grows
_CLOCKS = 4  # columns that may tell the time, at most
_FEWEST = 100  # measures that show a sign; whole numbers may be those of some things that are met again and again
_RUN = 10  # as many rows of the later half beyond all of the earlier one have chance 2 to the minus 10
_MOVING = (0.5, 0.95)  # quantiles that move where a column grows
_DRIFT = 0.05  # by this share: what grows more slowly stays far from its limits
_NAMES = 100  # integers of as many values, close to each other, are names that were given one after the other
_CLOSE = 0.3  # they take this share of the numbers from the least to the greatest
_EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True)
class LikelyRange:
    """A range, what to expect beyond it in a row, and what speaks for it."""

    condition: Condition
    chance: float
    sentence: str


class Growth:
    """Which columns grow, or fall, as rows come."""

    def __init__(self, columns: Sequence[SeenColumn], rows: int) -> None:
        self._rows = evenly(rows, _SOME)
        self._columns = columns

    @cached_property
    def _orders(self) -> list[NDArray[np.int64]]:
        """Orders in which some rows may have come, by columns that may tell the time."""
        clocks = [each for each in self._columns if each.is_time or (each.is_number and _are_names(each))]
        best = sorted(clocks, key=lambda each: -each.distinct)[:_CLOCKS]
        return [np.argsort(each.floats_at(self._rows), kind="stable") for each in best]

    def grows(self, column: SeenColumn) -> bool:
        """Whether its greatest values are those of later rows, or may be."""
        return column.is_time or _are_names(column) or self._moves(column, 1.0)

    def falls(self, column: SeenColumn) -> bool:
        """Whether its least values are those of later rows."""
        return not column.is_time and self._moves(column, -1.0)

    def _moves(self, column: SeenColumn, sign: float) -> bool:
        values = sign * column.floats_at(self._rows)
        ordered = [sign * column.all_floats, *(values[order] for order in self._orders)]
        slowly = is_measured(column.type)
        return any(_grow(each, slowly) or _grow(each[::-1], slowly) for each in ordered)


def _grow(values: NDArray[np.float64], slowly: bool) -> bool:
    """Whether values of the later half are beyond all of the earlier half; and where they may do so `slowly`, whether
    the others moved with them.
    """
    known = values[~np.isnan(values)]
    early, late = known[: len(known) // 2], known[len(known) // 2 :]
    if not len(early) or int(np.count_nonzero(late > early.max())) < _RUN:
        return False
    if not slowly:
        return True
    before, after = np.quantile(early, _MOVING), np.quantile(late, _MOVING)
    reach = float(known.max() - np.median(known))
    return bool(np.any(np.abs(after - before) > _DRIFT * np.minimum(reach, np.maximum(np.abs(before), 1e-300))))


def _are_names(column: SeenColumn) -> bool:
    """Whether integers look like numbers that were given one after the other: many, with few gaps."""
    if column.decimals != 0 or column.distinct < _NAMES:
        return False
    least, greatest = float(column.numbers.values[0]), float(column.numbers.values[-1])
    return column.distinct >= _CLOSE * (greatest - least + 1)


def ranges(column: SeenColumn, growth: Growth) -> Iterator[LikelyRange]:
    """The likely ranges of a column of numbers, dates or moments."""
    numbers = column.numbers
    fewest = _FEWEST if is_measured(column.type) else FEWEST
    if not column.is_finite or numbers.count < fewest or column.runs < fewest:
        return
    high = None if growth.grows(column) else upper_limit(numbers)
    low = None if growth.falls(column) else lower_limit(numbers)
    above, below = _constant(column, high, up=True), _constant(column, low, up=False)
    estimate = sum(limit.chance for limit in (low, high) if limit is not None)
    sentence = _sentence(column, numbers)
    if (sign := _sign(column, low)) is not None:
        below, estimate = None, estimate - (low.chance if low is not None else 0.0)
        if above is None or not _is_plain(sign, column):
            yield sign
        else:
            below, estimate = _least_above_zero(column, sign), estimate + sign.chance
    if below is not None or above is not None:
        yield LikelyRange(_between(column, below, above), estimate, sentence)


def _between(column: SeenColumn, below: Comparison | None, above: Comparison | None) -> Condition:
    """The condition that two limits make, of which one may be missing."""
    if below is None or above is None:
        only = below or above
        assert only is not None, "there is a limit"
        return only
    if below.operator == ">=":
        return Between(of_t(column.name), below.right, above.right)
    return Every((below, above))


def _sign(column: SeenColumn, low: Limit | None) -> LikelyRange | None:
    """That numbers are above zero, or not below it, where no lower limit says more."""
    if column.is_time or _are_names(column):
        return None
    numbers = column.numbers
    least = float(numbers.values[0])
    unit = 10.0 ** -(column.decimals or 0)
    if least < 0 or (low is not None and low.at >= unit):
        return None
    measured = is_measured(column.type)
    above = least > 0 and (measured or float(numbers.counts[0]) >= ON_LIMIT * numbers.count)
    by_nature = measured and above and are_scaled(numbers)
    beyond = 0.0 if by_nature else expected_below(numbers, 1.0 if above and not measured else 0.0)
    share = numbers.count / int(column.counts.sum())
    law = chance.of_law(numbers.count, share, chance.OF_ROWS)
    estimate = max(law, chance.of_limit(beyond, numbers.count, chance.OF_ROWS) * share)
    sentence = f"none of {numbers.count:,} values is below 0; the least is {_shown(column, least)}"
    return LikelyRange(Comparison(of_t(column.name), ">" if above else ">=", _zero(column)), estimate, sentence)


def _zero(column: SeenColumn) -> Constant:
    return Constant(_number(column, 0.0))


def _is_plain(sign: LikelyRange, column: SeenColumn) -> bool:
    """Whether a sign is as sure as a limit of the tail, so that both are one rule."""
    return chance.expected_breaks(sign.chance, int(column.counts.sum()) / chance.ASSUMED) <= NEGLIGIBLE


def _least_above_zero(column: SeenColumn, sign: LikelyRange) -> Comparison:
    """A sign as a lower limit: whole numbers above zero are at least 1."""
    assert isinstance(sign.condition, Comparison), "a sign compares with zero"
    if sign.condition.operator == ">" and column.decimals == 0:
        return Comparison(sign.condition.left, ">=", Constant(_number(column, 1.0)))
    return sign.condition


def _sentence(column: SeenColumn, numbers: Numbers) -> str:
    least, greatest = (_shown(column, float(numbers.values[place])) for place in (0, -1))
    return f"{numbers.count:,} values from {least} to {greatest}, and their tails end long before these limits"


def _shown(column: SeenColumn, value: float) -> str:
    return str(_moment(column, value)) if column.is_time else f"{value:,.10g}"


def _constant(column: SeenColumn, limit: Limit | None, *, up: bool) -> Comparison | None:
    """A limit as a comparison with a round constant of the type of a column, farther out; None: there is none, or its
    type has no such value.
    """
    if limit is None:
        return None
    try:
        if column.is_time:
            value = _moment(column, limit.at)
        else:
            round_one = _round_out(limit.at, up)
            value = _number(column, _whole(round_one, up) if column.decimals == 0 else round_one)
    except (OverflowError, ValueError):
        return None
    return Comparison(of_t(column.name), "<=" if up else ">=", Constant(value))


def _moment(column: SeenColumn, days: float) -> Value:
    """A day as a value of a column of dates or moments."""
    day = _EPOCH + dt.timedelta(days=math.floor(days))
    if pa.types.is_date(column.type):
        return day
    zone = dt.UTC if column.type.tz is not None else None
    return dt.datetime.combine(day, dt.time(), zone)


def _number(column: SeenColumn, value: float) -> Value:
    if pa.types.is_floating(column.type):
        return value
    if pa.types.is_decimal(column.type):
        return Decimal(repr(value)).quantize(Decimal(1).scaleb(-max(column.type.scale, 0)))
    if abs(value) >= 2**63:
        raise OverflowError
    return round(value)


def _round_out(value: float, up: bool) -> float:
    """A number with two digits, the next one up or down."""
    if value == 0.0:
        return 0.0
    size = math.floor(math.log10(abs(value))) - 1
    scaled = value * 10.0**-size
    rounded = math.ceil(scaled - 1e-9) if up else math.floor(scaled + 1e-9)
    return float(f"{rounded}e{size}")


def _whole(value: float, up: bool) -> float:
    """The next whole number up or down."""
    return float(math.ceil(value) if up else math.floor(value))
