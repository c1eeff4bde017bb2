"""From how many rows on rules are tested, and how much may break one that is approximate."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from holdfast.changes.names import quoted

FEWEST_ROWS = 2  # that make a pair

_DENOMINATORS = (10, 1_000, 100_000, 10_000_000)  # of shares that people mean


def limit_of(error: float, whole: int) -> int:
    """How many of all pairs, rows or values a share is at most."""
    return int(as_meant(error) * whole)


def as_meant(share: float) -> Fraction:
    """The fraction that a float stands for: the simplest one that is this float, 0.29 the decimal and 1 / 3 a third. As
    floats, 0.29 * 100 is below 29, and 1 / 3 below a third.

    >>> as_meant(0.29), as_meant(1 / 3)
    (Fraction(29, 100), Fraction(1, 3))
    """
    simple = (Fraction(share).limit_denominator(most) for most in _DENOMINATORS)
    return next((each for each in simple if float(each) == share), Fraction(str(share)))


def untested_sentence(columns: Sequence[str], rows: int) -> str:
    """Why nothing tests a rule that needs values in some columns."""
    named = " and ".join(map(quoted, columns))
    return f"fewer than two of {rows:,} rows have values in {named}, so no two of them could break it"
