"""Denial constraints across columns by their definition: every conjunction, every ordered pair of different rows.

A comparison is `(column of t, operator, column of s)`; it is never true of null. A conjunction implies another if every
choice of values that meets the one meets the other: all choices of few values are tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations, permutations, product
from operator import and_
from typing import Any

from tests.oracle.pairs import OPERATORS, Comparison, holds

Conjunction = frozenset[Comparison]
Pair = tuple[Sequence[Any], Sequence[Any]]  # rows t and s
Line = tuple[int, int]
Lines = tuple[tuple[Line, bool], ...]  # columns that compare, of t and of s; whether by order
_ORDER = ("<", "<=", "=", "!=", ">=", ">")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def rules(rows: Sequence[Sequence[Any]], lines: Lines, most: int) -> dict[Conjunction, Fraction]:
    """The minimal never-sets that compare different columns and that some pair comes near, with the share of pairs that
    do; of equivalent ones and their mirror images the first.
    """
    pairs = list(permutations(rows, 2))
    never = never_sets(pairs, lines, most)
    minimal = {each for each in never if is_minimal(each, never, lines, most)}
    across = {first(each, lines, most) for each in minimal if any(t != s for t, _, s in each)} if pairs else set()
    shares = {each: coverage(each, pairs) for each in across}
    return {each: share for each, share in shares.items() if share}


def never_sets(pairs: Sequence[Pair], lines: Lines, most: int) -> set[Conjunction]:
    """The conjunctions that no pair of rows meets; a bit of a number stands for a pair."""
    bits = {
        each: sum(1 << place for place, pair in enumerate(pairs) if meets([each], *pair))
        for line in lines
        for each in _on(*line)
    }
    return {each for each in conjunctions(lines, most) if not reduce(and_, (bits[one] for one in each))}


def is_minimal(conjunction: Conjunction, never: Set[Conjunction], lines: Lines, most: int) -> bool:
    """Whether all of the never-sets that it implies imply it, too."""
    others = [other for other in parts(closure(conjunction, lines), most) if other in never]
    return all(conjunction <= closure(other, lines) for other in others)


def first(conjunction: Conjunction, lines: Lines, most: int) -> Conjunction:
    """The first of the conjunctions that are equivalent to one or to its mirror image: by the columns of t and s, then
    by operators.
    """
    others = parts(closure(conjunction, lines), most)
    same = [other for other in others if conjunction <= closure(other, lines) and len(other) == len(conjunction)]
    both = [*same, *map(mirrored, same)]
    return min(both, key=lambda each: sorted((t, s, _ORDER.index(sign)) for t, sign, s in each))


def mirrored(conjunction: Conjunction) -> Conjunction:
    """The same seen from the other row."""
    return frozenset((s, _TURNED.get(sign, sign), t) for t, sign, s in conjunction)


@cache
def conjunctions(lines: Lines, most: int) -> list[Conjunction]:
    """All with at most one comparison a line."""
    return [
        frozenset(chosen)
        for size in range(1, most + 1)
        for some in combinations(lines, size)
        for chosen in product(*(_on(*line) for line in some))
    ]


def _on(line: Line, ordered: bool) -> list[Comparison]:
    return [(line[0], sign, line[1]) for sign in (OPERATORS if ordered else ("=", "!="))]


@cache
def parts(implied: Conjunction, most: int) -> list[Conjunction]:
    """The conjunctions of up to `most` of some comparisons, at most one a line."""
    return [
        frozenset(some)
        for size in range(1, most + 1)
        for some in combinations(sorted(implied), size)
        if len({(t, s) for t, _, s in some}) == size
    ]


@cache
def closure(conjunction: Conjunction, lines: Lines) -> Conjunction:
    """All comparisons that a conjunction implies. Cells that no comparisons tie to each other may have any values."""
    cells = [{("t", t), ("s", s)} for t, _, s in conjunction]
    implied: set[Comparison] = set()
    for (t, s), ordered in lines:
        near = _connected({("t", t)}, cells)
        if ("s", s) in near:
            own = [each for each in conjunction if ("t", each[0]) in near]
            values = product(range(len(near)), repeat=len(near))
            choices = [dict(zip(sorted(near), each, strict=True)) for each in values]
            met = [each for each in choices if all(_true(each, comparison) for comparison in own)]
            implied |= {each for each in _on((t, s), ordered) if all(_true(choice, each) for choice in met)}
    return frozenset(implied)


def _connected(cells: set[tuple[str, int]], others: Sequence[set[tuple[str, int]]]) -> set[tuple[str, int]]:
    while more := [own for own in others if own & cells and not own <= cells]:
        cells = cells.union(*more)
    return cells


def _true(values: dict[tuple[str, int], int], comparison: Comparison) -> bool:
    t, sign, s = comparison
    return bool(OPERATORS[sign](values["t", t], values["s", s]))


def meets(conjunction: Iterable[Comparison], t: Sequence[Any], s: Sequence[Any]) -> bool:
    """Whether rows t and s make all comparisons true."""
    return all(holds(t[a], sign, s[b], "sql") for a, sign, b in conjunction)


def coverage(conjunction: Conjunction, pairs: Sequence[Pair]) -> Fraction:
    """The share of pairs that meet all comparisons but one, and have values for that one."""
    near = sum(any(_is_near(conjunction, one, *pair) for one in conjunction) for pair in pairs)
    return Fraction(near, len(pairs))


def _is_near(conjunction: Conjunction, left_out: Comparison, t: Sequence[Any], s: Sequence[Any]) -> bool:
    a, _, b = left_out
    known = t[a] is not None and s[b] is not None
    return known and not meets([left_out], t, s) and meets(conjunction - {left_out}, t, s)
