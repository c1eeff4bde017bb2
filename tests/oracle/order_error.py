"""Approximate order dependencies from their definition: rows are taken away, the fewest first, until a rule holds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from itertools import combinations

from tests.oracle.order import Constant, Context, Pair, Row, compared, splits, swaps

Breaks = Callable[[Row, Row], bool]


def fewest_to_remove(
    rows: Sequence[Row], context: Context, breaks: Breaks, nulls: str, most: int | None = None
) -> int | None:
    """How many rows must go until no two that agree on the context break the rule: every choice of at
    most `most` rows is tried. None where these are not enough.
    """
    broken = [
        (i, j)
        for (i, one), (j, other) in combinations(enumerate(rows), 2)
        if all(compared(one[c], other[c], nulls) == 0 for c in context) and breaks(one, other)
    ]
    for count in range(len(rows) + 1 if most is None else most + 1):
        for gone in combinations(range(len(rows)), count):
            if all(i in gone or j in gone for i, j in broken):
                return count
    return None


def constants(
    rows: Sequence[Row], columns: int, nulls: str, error: str, most: int | None = None
) -> dict[Constant, int]:
    """The minimal contexts of every constant with at most that share of rows to remove, and how many these are."""
    found = {}
    for column in range(columns if len(rows) > 1 else 0):

        def breaks(one: Row, other: Row, column: int = column) -> bool:
            return splits(one, other, column, nulls)

        others = [c for c in range(columns) if c != column]
        for context, removed in _minimal(rows, others, breaks, nulls, error, most).items():
            found[context, column] = removed
    return found


def pairs(
    rows: Sequence[Row],
    columns: int,
    nulls: str,
    error: str,
    most: int | None = None,
    unordered: Collection[int] = (),
) -> dict[Pair, int]:
    """The same for every pair of columns with an order, but for contexts in which one of the two is constant with at
    most that error.
    """
    found = {}
    constant = list(constants(rows, columns, nulls, error))
    for a, b in combinations([c for c in range(columns if len(rows) > 1 else 0) if c not in unordered], 2):
        others = [c for c in range(columns) if c not in (a, b)]
        for direction in ("asc", "desc"):

            def breaks(one: Row, other: Row, a: int = a, b: int = b, direction: str = direction) -> bool:
                return swaps(one, other, a, b, direction, nulls)

            for context, removed in _minimal(rows, others, breaks, nulls, error, most).items():
                if not any(column in (a, b) and set(less) <= set(context) for less, column in constant):
                    found[context, a, b, direction] = removed
    return found


def _minimal(
    rows: Sequence[Row], columns: Sequence[int], breaks: Breaks, nulls: str, error: str, most: int | None
) -> dict[Context, int]:
    found: dict[Context, int] = {}
    for size in range(len(columns) + 1 if most is None else most + 1):
        for context in combinations(columns, size):
            if not any(set(less) <= set(context) for less in found):
                removed = fewest_to_remove(rows, context, breaks, nulls, int(Fraction(error) * len(rows)))
                if removed is not None:
                    found[context] = removed
    return found
