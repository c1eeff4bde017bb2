"""Keys and functional dependencies from their definitions: plain Python over plain rows.

Two rows at least must be there: without a pair that could test them, there are no rules.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Row = Sequence[Any]
Lhs = tuple[int, ...]


def equal(a: Any, b: Any, nulls: str) -> bool:
    """NaN equals NaN, -0.0 equals 0.0, and null equals null or nothing."""
    if a is None or b is None:
        return a is b and nulls == "equal"
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)


def agree_sets(rows: Sequence[Row], nulls: str) -> Counter[frozenset[int]]:
    """The columns on which each pair of rows agrees, and how many pairs do."""
    return Counter(
        frozenset(c for c, (a, b) in enumerate(zip(one, other, strict=True)) if equal(a, b, nulls))
        for one, other in combinations(rows, 2)
    )


def fds(
    rows: Sequence[Row], columns: int, nulls: str, error: str = "0", most: int | None = None
) -> dict[tuple[Lhs, int], float]:
    """The minimal FDs that at most a share of all pairs breaks, each with that share."""
    agreeing = agree_sets(rows, nulls)
    found = {}
    for rhs in range(columns):
        others = [c for c in range(columns) if c != rhs]

        def breaks(lhs: Lhs, rhs: int = rhs) -> int:
            return sum(n for agree, n in agreeing.items() if rhs not in agree and agree.issuperset(lhs))

        found.update({(lhs, rhs): share for lhs, share in _minimal(breaks, others, rows, error, most)})
    return found


def keys(rows: Sequence[Row], columns: int, nulls: str, error: str = "0", most: int | None = None) -> dict[Lhs, float]:
    """The minimal keys that at most a share of all pairs breaks, each with that share."""
    agreeing = agree_sets(rows, nulls)

    def breaks(lhs: Lhs) -> int:
        return sum(n for agree, n in agreeing.items() if agree.issuperset(lhs))

    return dict(_minimal(breaks, range(columns), rows, error, most))


def _minimal(
    breaks: Callable[[Lhs], int], columns: Iterable[int], rows: Sequence[Row], error: str, most: int | None
) -> Iterable[tuple[Lhs, float]]:
    if len(rows) < 2:
        return
    pairs = len(rows) * (len(rows) - 1) // 2
    known = list(columns)
    found: list[Lhs] = []
    for size in range(len(known) + 1 if most is None else most + 1):
        for lhs in combinations(known, size):
            if any(set(less) <= set(lhs) for less in found):
                continue
            broken = breaks(lhs)
            if broken <= Fraction(error) * pairs:
                found.append(lhs)
                yield lhs, (broken / pairs if broken else 0.0)


def is_empty(rows: Sequence[Row], columns: Iterable[int], nulls: str) -> bool:
    """Whether no two rows both have values in some columns, where nulls equal nothing: none could break a rule that
    only rows break which have them.
    """
    needed = list(columns)
    return nulls == "distinct" and not any(
        all(row[c] is not None for row in pair for c in needed) for pair in combinations(rows, 2)
    )


def fewest_to_remove(rows: Sequence[Row], lhs: Sequence[int], rhs: int | None, nulls: str) -> int:
    """How many rows must go until no pair breaks the rule (rhs None: a key): tried out, the fewest first."""

    def breaks(one: Row, other: Row) -> bool:
        agree = all(equal(one[c], other[c], nulls) for c in lhs)
        return agree and (rhs is None or not equal(one[rhs], other[rhs], nulls))

    for gone in range(len(rows) + 1):
        for kept in combinations(rows, len(rows) - gone):
            if not any(breaks(one, other) for one, other in combinations(kept, 2)):
                return gone
    raise AssertionError("no rows break nothing")


def to_remove_by_group(
    rows: Sequence[Row], lhs: Sequence[int], rhs: int | None, nulls: str
) -> Counter[tuple[Any, ...]]:
    """How many rows must go of each group, the rows that agree on the left side: all but those of the most frequent
    right side, and of a key all but one. A null that equals nothing is a group, or a right side, of its own.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if not any(row[c] is None for c in lhs) or nulls == "equal":
            groups.setdefault(tuple(row[c] for c in lhs), []).append(row)
    return Counter({group: len(some) - _alike(some, rhs, nulls) for group, some in groups.items()})


def _alike(rows: Sequence[Row], rhs: int | None, nulls: str) -> int:
    """How many rows of a group may stay."""
    if rhs is None:
        return 1
    counts = Counter(row[rhs] for row in rows)
    if nulls == "distinct":
        counts[None] = min(counts[None], 1)
    return max(counts.values())
