"""Agree-sets by their definition: plain Python over plain rows (papers: dynast, definitions 2.1, 3.1 and 6.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import combinations, permutations
from typing import Any

Row = Sequence[Any]
AgreeSet = frozenset[int]


def agree(a: Any, b: Any, nulls: str) -> bool:
    """Whether two values are equal; a null equals a null, or nothing at all."""
    return a == b and not (nulls == "distinct" and a is None)


def agree_set(a: Row, b: Row, nulls: str = "equal") -> AgreeSet:
    """The columns on which two rows agree."""
    return frozenset(c for c, (x, y) in enumerate(zip(a, b, strict=True)) if agree(x, y, nulls))


def agree_sets(rows: Sequence[Row], nulls: str = "equal") -> Counter[AgreeSet]:
    """How many unordered pairs of rows have each agree-set."""
    return Counter(agree_set(a, b, nulls) for a, b in combinations(rows, 2))


def agreeing(rows: Sequence[Row], on: Collection[int], but_not: int | None = None, nulls: str = "equal") -> int:
    """How many unordered pairs agree on all these columns, but not on one other."""
    return sum(
        all(agree(a[c], b[c], nulls) for c in on) and (but_not is None or not agree(a[but_not], b[but_not], nulls))
        for a, b in combinations(rows, 2)
    )


def compared(a: Any, b: Any, nulls: str) -> str:
    """`<`, `=` or `>` as b is below, equal to or above a; `?` where a null makes that unknown. Nulls sort first."""
    if a is None or b is None:
        if nulls == "distinct":
            return "?"
        return "=" if a is b else "<" if b is None else ">"
    return "=" if a == b else "<" if b < a else ">"


def order_signatures(rows: Sequence[Row], nulls: str = "equal", equal_only: Collection[int] = ()) -> Counter[str]:
    """How many ordered pairs of rows have each signature of order, a character a column. On columns that are compared
    for equality alone that is `=`, or `?` where they differ.
    """

    def sign(c: int, a: Any, b: Any) -> str:
        if c in equal_only:
            return "=" if agree(a, b, nulls) else "?"
        return compared(a, b, nulls)

    return Counter("".join(map(sign, range(len(a)), a, b)) for a, b in permutations(rows, 2))
