"""Canonical order dependencies from their definition: plain Python over plain rows (papers: fastod, section 4.1).

With `nulls` equal, null equals null and sorts first. With `distinct` a null equals nothing: it is in no group of a
context, splits a constant, and swaps with nothing. Two rows at least must be there: without a pair that could test
them, there are no rules.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import combinations
from typing import Any

Row = Sequence[Any]
Context = tuple[int, ...]
Constant = tuple[Context, int]
Pair = tuple[Context, int, int, str]  # the context, the two columns, and `asc` or `desc`


def compared(a: Any, b: Any, nulls: str) -> int | None:
    """-1, 0 or 1 as a is less than, equal to or more than b; None where a null leaves that unknown."""
    if nulls == "distinct" and (a is None or b is None):
        return None
    one, other = _key(a), _key(b)
    return (one > other) - (one < other)


def _key(value: Any) -> tuple[Any, ...]:
    """Compares as values do: null first, NaN equal to itself and last."""
    if value is None:
        return (0,)
    if isinstance(value, float) and math.isnan(value):
        return (2,)
    return 1, value


def splits(one: Row, other: Row, column: int, nulls: str) -> bool:
    """Whether two rows of a group break a constant."""
    return compared(one[column], other[column], nulls) != 0


def swaps(one: Row, other: Row, a: int, b: int, direction: str, nulls: str) -> bool:
    """Whether two rows of a group break a pair: more of the one and less of the other, or, with `desc`, of both."""
    signs = [compared(one[column], other[column], nulls) for column in (a, b)]
    return sorted(map(str, signs)) == ["-1", "1"] if direction == "asc" else signs in ([1, 1], [-1, -1])


def pairs_within(rows: Sequence[Row], context: Context, nulls: str) -> Iterator[tuple[Row, Row]]:
    """The pairs of rows that agree on a context."""
    for one, other in combinations(rows, 2):
        if all(compared(one[column], other[column], nulls) == 0 for column in context):
            yield one, other


def constant_holds(rows: Sequence[Row], context: Context, column: int, nulls: str) -> bool:
    """Whether a column is constant within each group of a context."""
    return not any(splits(*pair, column, nulls) for pair in pairs_within(rows, context, nulls))


def pair_holds(rows: Sequence[Row], context: Context, a: int, b: int, direction: str, nulls: str) -> bool:
    """Whether two columns never swap within a group of a context."""
    return not any(swaps(*pair, a, b, direction, nulls) for pair in pairs_within(rows, context, nulls))


def constants(rows: Sequence[Row], columns: int, nulls: str, most: int | None = None) -> set[Constant]:
    """The minimal contexts of every constant, of at most `most` columns."""
    found = set()
    for column in range(columns if len(rows) > 1 else 0):
        others = [c for c in range(columns) if c != column]

        def holds(context: Context, column: int = column) -> bool:
            return constant_holds(rows, context, column, nulls)

        found |= {(context, column) for context in _minimal(holds, others, most)}
    return found


def pairs(
    rows: Sequence[Row],
    columns: int,
    nulls: str,
    most: int | None = None,
    directions: Sequence[str] = ("asc", "desc"),
    unordered: Collection[int] = (),
) -> set[Pair]:
    """The minimal contexts of every pair of columns with an order, but for those in which one of them is constant."""
    found = set()
    for a, b in combinations([c for c in range(columns if len(rows) > 1 else 0) if c not in unordered], 2):
        others = [c for c in range(columns) if c not in (a, b)]
        for direction in directions:

            def holds(context: Context, a: int = a, b: int = b, direction: str = direction) -> bool:
                return pair_holds(rows, context, a, b, direction, nulls)

            for context in _minimal(holds, others, most):
                if not any(constant_holds(rows, context, column, nulls) for column in (a, b)):
                    found.add((context, a, b, direction))
    return found


def _minimal(holds: Callable[[Context], bool], columns: Sequence[int], most: int | None) -> list[Context]:
    found: list[Context] = []
    for size in range(len(columns) + 1 if most is None else most + 1):
        for context in combinations(columns, size):
            if not any(set(less) <= set(context) for less in found) and holds(context):
                found.append(context)
    return found


def needed(rule: Constant | Pair) -> tuple[int, ...]:
    """The columns in which two rows must have values to break a rule, where nulls are distinct: the context, in which
    they agree, and both columns of a pair. A null splits a constant.
    """
    return rule[0] if len(rule) == 2 else (*rule[0], rule[1], rule[2])


def score(rows: Sequence[Row], rule: Constant | Pair, nulls: str) -> int:
    """Interestingness (section 4.7): the sum of the squared sizes of a context's groups; of rows that could break the
    rule, where nulls are distinct.
    """
    able = [row for row in rows if nulls == "equal" or all(row[c] is not None for c in needed(rule))]
    return sum(size**2 for size in Counter(tuple(_key(row[c]) for c in rule[0]) for row in able).values())
