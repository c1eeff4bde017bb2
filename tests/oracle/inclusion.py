"""Inclusion dependencies from their definition: plain Python over plain rows of several tables."""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

Row = tuple[Any, ...]
Tables = dict[str, tuple[list[str], list[Row]]]  # column names, and rows
Attribute = tuple[str, str]
Compare = Literal["typed", "text"]


def same(value: Any, compare: Compare) -> Any:
    """A form of a value that equals that of another value iff the values are the same."""
    if compare == "text":
        return _text(value)
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, int | float | Decimal):
        return ("number", Fraction(value)) if math.isfinite(value) else ("number", str(value))
    return (type(value).__name__, value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(value + 0.0)
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def columns(tables: Tables, compare: Compare) -> dict[Attribute, Counter[Any]]:
    """The values of each column with their frequencies; nulls are no values."""
    return {
        (table, name): Counter(same(row[c], compare) for row in rows if row[c] is not None)
        for table, (names, rows) in tables.items()
        for c, name in enumerate(names)
    }


def clusters(tables: Tables, compare: Compare = "typed") -> Counter[frozenset[Attribute]]:
    """How many values each set of columns has to itself."""
    held = columns(tables, compare)
    everything = {value for values in held.values() for value in values}
    return Counter(frozenset(a for a, values in held.items() if value in values) for value in everything)


def unary(
    tables: Tables, compare: Compare = "typed", error: float = 0.0
) -> dict[tuple[Attribute, Attribute], tuple[int, int]]:
    """The dependencies of one column of which at most a share of the distinct values is missing, with the values and
    the rows that are.
    """
    held = columns(tables, compare)
    found = {}
    for a, b in itertools.permutations(held, 2):
        missing = [value for value in held[a] if value not in held[b]]
        rows = sum(held[a][value] for value in missing)
        if len(missing) <= Fraction(str(error)) * len(held[a]):
            found[a, b] = (len(missing), rows)
    return found


Pairs = tuple[tuple[Attribute, Attribute], ...]


def several(tables: Tables, compare: Compare, arity: int, error: float = 0.0) -> dict[Pairs, bool]:
    """The dependencies of several columns of which at most a share of the distinct tuples is missing, and of each of
    their parts, of which none is without values. A column is included in itself, so a part may have the same column on
    both sides; a whole has not the same sides. Also returned: whether every row has a null in the columns of the left
    side.
    """
    held = columns(tables, compare)
    every = [pair for pair in itertools.product(held, held) if held[pair[0]]]
    valid = [pair for pair in every if _holds(tables, (pair,), compare, error)]
    order = list(held)
    valid.sort(key=lambda pair: (order.index(pair[0]), order.index(pair[1])))
    found = {}
    for size in range(2, arity + 1):
        for pairs in itertools.combinations(valid, size):
            if _one_each(pairs) and any(a != b for a, b in pairs) and all_parts_hold(tables, pairs, compare, error):
                found[pairs] = not _tuples(tables, [a for a, _ in pairs], compare)
    return found


def all_parts_hold(tables: Tables, pairs: Pairs, compare: Compare, error: float = 0.0) -> bool:
    """Whether a dependency holds, and all that some of its pairs of columns make. Rows with a null don't count."""
    parts = (part for size in range(1, len(pairs) + 1) for part in itertools.combinations(pairs, size))
    return all(_holds(tables, part, compare, error) for part in parts)


def _one_each(pairs: Pairs) -> bool:
    sides: list[list[Attribute]] = [[pair[side] for pair in pairs] for side in range(2)]
    return all(len({table for table, _ in side}) == 1 and len(set(side)) == len(side) for side in sides)


def _holds(tables: Tables, pairs: Pairs, compare: Compare, error: float) -> bool:
    left, right = (_tuples(tables, side, compare) for side in zip(*pairs, strict=True))
    return len(left - right) <= Fraction(str(error)) * len(left)


def _tuples(tables: Tables, side: Sequence[Attribute], compare: Compare) -> set[tuple[Any, ...]]:
    names, rows = tables[side[0][0]]
    chosen = [names.index(name) for _, name in side]
    full = [row for row in rows if all(row[c] is not None for c in chosen)]
    return {tuple(same(row[c], compare) for c in chosen) for row in full}


def missing(tables: Tables, pairs: Pairs, compare: Compare = "typed") -> tuple[Counter[tuple[Any, ...]], int, int]:
    """The tuples of the left side that the right one lacks with the rows that have each; and how many tuples and rows
    the left side has in all.
    """
    names, everything = tables[pairs[0][0][0]]
    columns = [names.index(name) for (_, name), _ in pairs]
    rows = [tuple(row[c] for c in columns) for row in everything]
    held = Counter(tuple(same(value, compare) for value in row) for row in rows if None not in row)
    there = _tuples(tables, [right for _, right in pairs], compare)
    return Counter({value: n for value, n in held.items() if value not in there}), len(held), held.total()


def orphans(rows: Mapping[int, Row], columns: Sequence[int], referenced: Sequence[Row], of: Sequence[int]) -> set[int]:
    """The rows, by id, without a null in their columns for which no row of the other table has the same values."""
    there = {tuple(same(row[c], "typed") for c in of) for row in referenced if all(row[c] is not None for c in of)}
    return {
        number
        for number, row in rows.items()
        if all(row[c] is not None for c in columns) and tuple(same(row[c], "typed") for c in columns) not in there
    }
