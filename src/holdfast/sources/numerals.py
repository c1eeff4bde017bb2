"""Numerals: how many digits they have before and after the point, and which of them a float stands for.

A float stands for one number: the shortest numeral that reads back as this float, which is how floats are printed. If
every numeral of a column is the number that its float stands for, different numbers have different floats.

A double holds any 15 significant digits, except at the ends of its range. So numerals of up to 15 digits need no check;
only longer ones are printed and compared.

All texts given here are numerals (see `grammar`). Cost: some cheap passes; regular expressions only for numerals with
an exponent, and for long ones that are spelled otherwise than their float is.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdfast.table import arrow

_PARTS = r"^[+-]?(?P<whole>[0-9]*)\.?(?P<fraction>[0-9]*)(?:[eE](?P<turn>[+-]?)0*(?P<exponent>[0-9]*))?$"
_FAR = "999999999"  # larger exponents are treated as this one
_SAFE = {32: 6, 64: 15}  # the digits that floats of 32 and 64 bits always hold
_FIRST = 1024  # where most numerals fail, one of the first does


@dataclass(frozen=True)
class Extent:
    """The most digits that numerals of a column have before and after the point, and whether doubles distinguish them.

    Joining is associative, commutative and idempotent.
    """

    whole: int = 0
    fraction: int = 0
    doubles: bool = True

    def join(self, other: "Extent") -> "Extent":
        """The extent of both sets of numerals together."""
        whole, fraction = max(self.whole, other.whole), max(self.fraction, other.fraction)
        return Extent(whole, fraction, self.doubles and other.doubles)


NO_NUMBERS = Extent()


def extent(numerals: pa.Array) -> Extent:
    """The extent of some numerals."""
    if not len(numerals):
        return NO_NUMBERS
    whole, fraction = digits(numerals)
    long = numerals.filter(arrow.from_numpy(whole + fraction > _SAFE[64]))
    doubles = all(_as_printed(some, pa.float64()).all() for some in (long[:_FIRST], long[_FIRST:]))
    return Extent(int(whole.max()), int(fraction.max()), doubles)


def stood_for(numerals: pa.Array, target: pa.DataType) -> NDArray[np.bool_]:
    """Which numerals are the numbers that their nearest floats stand for."""
    whole, fraction = digits(numerals)
    long = whole + fraction > _SAFE[target.bit_width]
    fine = ~long
    fine[long] = _as_printed(numerals.filter(arrow.from_numpy(long)), target)
    return fine


def digits(numerals: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many digits each number has before and after the point, without leading and trailing zeros."""
    plain = pc.utf8_ltrim(numerals, "+-0")
    pointed = arrow.to_numpy(pc.match_substring(numerals, "."))
    if pointed.any():
        plain = pc.if_else(arrow.from_numpy(pointed), pc.utf8_rtrim(plain, "0"), plain)
    length = _numbers(pc.binary_length(plain))
    whole = np.where(pointed, _numbers(pc.find_substring(plain, ".")), length)
    fraction = np.where(pointed, length - whole - 1, 0)
    powers = np.flatnonzero(arrow.to_numpy(pc.match_substring(numerals, "e", ignore_case=True)))
    if len(powers):
        parts = split(numerals.take(arrow.from_numpy(powers)))
        whole[powers] = np.maximum(parts.top, 0)
        fraction[powers] = np.maximum(_numbers(pc.binary_length(parts.digits)) - parts.top, 0)
    return whole, fraction


class Parts(NamedTuple):
    """Numbers without their signs, as 0.`digits` times 10 to the power of `top`; `digits` neither begins nor ends with
    0.
    """

    digits: pa.Array
    top: NDArray[np.int64]


def split(numerals: pa.Array) -> Parts:
    """The parts of numerals. Equal numbers have equal parts."""
    found = pc.extract_regex(numerals.cast(pa.string()), _PARTS)
    whole, fraction, turn, exponent = (pc.struct_field(found, i) for i in range(4))
    far = arrow.from_numpy(_numbers(pc.binary_length(exponent)) > len(_FAR))
    exponent = pc.if_else(far, arrow.text(_FAR), exponent)
    power = _numbers(pc.if_else(_are(exponent, ""), arrow.text("0"), exponent).cast(pa.int64()))
    written = pc.binary_join_element_wise(whole, fraction, arrow.text(""))
    leading = pc.utf8_ltrim(written, "0")
    shifted = _numbers(pc.binary_length(whole)) - _numbers(pc.binary_length(written))
    top = shifted + _numbers(pc.binary_length(leading)) + np.where(arrow.to_numpy(_are(turn, "-")), -power, power)
    zero = arrow.to_numpy(_are(leading, ""))
    return Parts(pc.utf8_rtrim(leading, "0"), np.where(zero, 0, top))


def _as_printed(numerals: pa.Array, target: pa.DataType) -> NDArray[np.bool_]:
    """Which numerals equal the printed form of their floats: most of them literally, some in another spelling."""
    floats = numerals.cast(target)
    printed = floats.cast(pa.string())
    same = arrow.to_numpy(pc.equal(printed, numerals.cast(pa.string())))
    other = np.flatnonzero(~same & arrow.to_numpy(pc.is_finite(floats)))
    if len(other):  # the signs are equal anyway
        ours, theirs = split(numerals.take(arrow.from_numpy(other))), split(printed.take(arrow.from_numpy(other)))
        same[other] = arrow.to_numpy(pc.equal(ours.digits, theirs.digits)) & (ours.top == theirs.top)
    return same


def _numbers(counts: pa.Array) -> NDArray[np.int64]:
    return arrow.to_numpy(counts).astype(np.int64)


def _are(texts: pa.Array, word: str) -> pa.Array:
    """Which texts are a word."""
    return pc.equal(texts, arrow.text(word))
