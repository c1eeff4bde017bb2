"""Exact sums of a column's values and of their squares, kept true under batches.

A number is an integer times a power of two (a float) or of ten (a decimal). Sums are integers of any length, so they
are exact: neither the order of rows nor that of batches matters, and deleting what was inserted leaves nothing behind.
NaN and the infinities are counted apart.

Cost: a batch costs the distinct values whose frequency it changed. Products are summed in 64 bits, piece by piece.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.table import arrow

Integers = NDArray[np.int64]
_LIMB = 18  # bits of a piece: products of two pieces, times the frequencies of 2**27 rows, fit 64 bits
_PIECES = 4
_MANTISSA = 53
_LOWEST = 1074  # no float needs a smaller power of two than 2**-1074
_WEIGHTS = 1 << (63 - 2 * _LIMB)


@dataclass(frozen=True)
class Sums:
    """How many values there are, their sum and that of their squares, in the unit of the type (see `unit`); and how
    many are NaN, infinite and minus infinite.
    """

    count: int = 0
    total: int = 0
    squares: int = 0
    odd: tuple[int, int, int] = (0, 0, 0)

    def moved(self, values: pa.Array, steps: Integers, squares: bool) -> Self:
        """After some values, not null, occur more or less often."""
        odd = self.odd
        if pa.types.is_floating(values.type):
            floats = np.asarray(arrow.to_numpy(values), np.float64)
            finite = np.isfinite(floats)
            if not finite.all():
                marks = (np.isnan(floats), floats == np.inf, floats == -np.inf)
                odd = tuple(old + int(steps[mark].sum()) for old, mark in zip(odd, marks, strict=True))  # type: ignore[assignment]  # three
                floats, steps = floats[finite], steps[finite]
            pieces = _of_floats(floats, steps)
        else:
            pieces = _of_integers(values, steps)
        total, square, count = self.total, self.squares, self.count
        for numbers, weights, shift in pieces:
            count += int(weights.sum())
            total += _sum(numbers, weights) << shift
            if squares:
                square += _sum_of_squares(numbers, weights) << 2 * shift
        return type(self)(count, total, square, odd)

    # ---- what follows -----------------------------------------------------------------------------------------------

    def sum(self, unit: Fraction) -> Fraction | float | None:
        """The sum of all values; None if there are none. `unit` is that of their type."""
        if any(self.odd):
            nan, above, below = self.odd
            return math.nan if nan or (above and below) else math.inf if above else -math.inf
        return self.total * unit if self.count else None

    def mean(self, unit: Fraction) -> Fraction | float | None:
        """The mean of all values; None if there are none."""
        found = self.sum(unit)
        return found / self.count if isinstance(found, Fraction) else found

    def variance(self, unit: Fraction) -> Fraction | float | None:
        """The variance of a sample, as SQL's VAR_SAMP; None if there are fewer than two values."""
        if self.count + sum(self.odd) < 2:
            return None
        if any(self.odd):
            return math.nan
        numerator = self.count * self.squares - self.total * self.total
        return Fraction(numerator, self.count * (self.count - 1)) * unit * unit

    # ---- in files ---------------------------------------------------------------------------------------------------

    def to_json(self) -> list[Any]:
        """Plain values; integers as text, as they may be long."""
        return [self.count, str(self.total), str(self.squares), list(self.odd)]

    @classmethod
    def from_json(cls, stored: Sequence[Any]) -> Self:
        """The sums that were stored."""
        count, total, squares, odd = stored
        return cls(count, int(total), int(squares), tuple(odd))


def unit(kept: pa.DataType) -> Fraction:
    """The power of two or ten of which all values of a type are multiples."""
    if pa.types.is_floating(kept):
        return Fraction(1, 1 << _LOWEST)
    return Fraction(10) ** -kept.scale if pa.types.is_decimal(kept) else Fraction(1)


def root(number: Fraction) -> float:
    """The float nearest to the square root of a number that is not negative; infinite if it is too large."""
    digits = max(0, 128 - number.numerator.bit_length() + number.denominator.bit_length())
    shift = digits + digits % 2
    scaled = math.isqrt((number.numerator << shift) // number.denominator)
    return as_float(Fraction(scaled, 1 << shift // 2))


def as_float(number: Fraction) -> float:
    """The nearest float; infinite if the number is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


# ---- numbers as integers --------------------------------------------------------------------------------------------

Piece = tuple[Any, Integers, int]  # integers, how often each occurs, and the power of two that they are multiples of


def _of_integers(values: pa.Array, steps: Integers) -> Iterator[Piece]:
    """Integers as they are; decimals without their point, long ones as Python's integers."""
    if not pa.types.is_decimal(values.type):
        yield np.asarray(arrow.to_numpy(values.cast(pa.int64()))), steps, 0
        return
    words = np.frombuffer(values.buffers()[1], np.int64).reshape(-1, 2)[values.offset :][: len(values)]
    low, high = words[:, 0], words[:, 1]
    if (high == low >> 63).all():
        yield np.ascontiguousarray(low), steps, 0
    else:
        yield [(above << 64) | (below & (1 << 64) - 1) for below, above in words.tolist()], steps, 0


def _of_floats(floats: NDArray[np.float64], steps: Integers) -> Iterator[Piece]:
    """Finite floats, those of one exponent at a time."""
    fractions, exponents = np.frexp(floats)
    numbers = np.ldexp(fractions, _MANTISSA).astype(np.int64)
    shifts = exponents.astype(np.int64) - _MANTISSA + _LOWEST
    below = np.maximum(-shifts, 0)  # of the smallest floats the last bits are zero
    numbers, shifts = numbers >> below, shifts + below
    order = np.argsort(shifts, kind="stable")
    ends = np.flatnonzero(np.diff(shifts[order])) + 1
    for own in np.split(order, ends):
        if len(own):
            yield numbers[own], steps[own], int(shifts[own[0]])


def _sum(numbers: Any, weights: Integers) -> int:
    if isinstance(numbers, list):
        return sum(number * weight for number, weight in zip(numbers, weights.tolist(), strict=True))
    low, high = numbers & ((1 << 32) - 1), numbers >> 32
    if int(np.abs(weights).sum()) >= 1 << 31:
        return _sum(numbers.tolist(), weights)
    return int((low * weights).sum()) + (int((high * weights).sum()) << 32)


def _sum_of_squares(numbers: Any, weights: Integers) -> int:
    if isinstance(numbers, list):
        return sum(number * number * weight for number, weight in zip(numbers, weights.tolist(), strict=True))
    if int(np.abs(weights).sum()) >= _WEIGHTS or (len(numbers) and int(numbers.min()) == -(1 << 63)):
        return _sum_of_squares(numbers.tolist(), weights)
    sizes = np.abs(numbers)
    used = _PIECES if not len(sizes) else -(-int(sizes.max()).bit_length() // _LIMB)
    limbs = [(sizes >> (_LIMB * place)) & ((1 << _LIMB) - 1) for place in range(used)]
    return sum(
        int((one * other * weights).sum()) << _LIMB * (i + j)
        for i, one in enumerate(limbs)
        for j, other in enumerate(limbs)
    )
