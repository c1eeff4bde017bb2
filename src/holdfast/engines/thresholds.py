"""From how many rows on rules are tested, and how much may break one that is approximate."""

from __future__ import annotations

from fractions import Fraction

FEWEST_ROWS = 2  # that make a pair


def limit_of(error: float, whole: int) -> int:
    """How many of all pairs, or rows, a share is at most. 0.29 is the decimal: as floats, 0.29 * 100 is below 29."""
    return int(Fraction(str(error)) * whole)
