"""Denial constraints across columns by their definition: every conjunction, every ordered pair of different rows.

A comparison is `(column of t, operator, column of s)`; it is never true of null. A conjunction implies another if every
choice of values that meets the one meets the other: all choices of few values are tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from typing import Any

from tests.oracle.pairs import OPERATORS, Comparison, holds

Conjunction = frozenset[Comparison]
Line = tuple[int, int]
Lines = tuple[tuple[Line, bool], ...]  # columns that compare, of t and of s; whether by order
_SIGNS = list(OPERATORS)  # the order in which equivalent rules are preferred is that of the product, not of this module
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def rules(rows: Sequence[Sequence[Any]], lines: Lines, most: int) -> dict[frozenset[Conjunction], set[Fraction]]:
    """The minimal never-sets that compare different columns and that some pair comes near: as sets of all that are
    equivalent, mirror images among them; with the shares of pairs that come near each of these.
    """
    pairs = list(permutations(rows, 2))
    never = {each for each in conjunctions(lines, most) if not any(_meets(each, *pair) for pair in pairs)}
    found: dict[frozenset[Conjunction], set[Fraction]] = {}
    for each in never if pairs else ():
        if all(t == s for t, _, s in each) or any(
            other < implied and not each <= closure(other, lines)
            for implied in [closure(each, lines)]
            for other in _parts(implied, most)
            if other in never
        ):
            continue
        same = {other for other in _parts(closure(each, lines), most) if each <= closure(other, lines)}
        group = frozenset(same | {mirrored(other) for other in same})
        found.setdefault(group, set()).add(coverage(each, pairs))
    return found


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
def _parts(implied: Conjunction, most: int) -> list[Conjunction]:
    """The conjunctions of at most so many of some comparisons, of which each line has at most one."""
    return [
        frozenset(some)
        for size in range(1, most + 1)
        for some in combinations(sorted(implied), size)
        if len({(t, s) for t, _, s in some}) == size
    ]


@cache
def closure(conjunction: Conjunction, lines: Lines) -> Conjunction:
    """All comparisons that a conjunction implies."""
    cells = [{("t", t), ("s", s)} for t, _, s in conjunction]
    implied: set[Comparison] = set()
    for (t, s), ordered in lines:
        ends = {("t", t), ("s", s)}
        if not all(any(end in own for own in cells) for end in ends):
            continue
        near = _connected(ends, cells)
        own = [each for each in conjunction if ("t", each[0]) in near]
        choices = [dict(zip(sorted(near), values, strict=True)) for values in product(range(len(near)), repeat=len(near))]
        met = [each for each in choices if all(_true(each, comparison) for comparison in own)]
        implied |= {each for each in _on((t, s), ordered) if all(_true(values, each) for values in met)}
    return frozenset(implied)


def _connected(ends: Iterable[tuple[str, int]], cells: Sequence[set[tuple[str, int]]]) -> set[tuple[str, int]]:
    found = set(ends)
    while more := [own for own in cells if own & found and not own <= found]:
        found = found.union(*more)
    return found


def _true(values: dict[tuple[str, int], int], comparison: Comparison) -> bool:
    t, sign, s = comparison
    return bool(OPERATORS[sign](values["t", t], values["s", s]))


def _meets(conjunction: Iterable[Comparison], t: Sequence[Any], s: Sequence[Any]) -> bool:
    return all(holds(t[a], sign, s[b], "sql") for a, sign, b in conjunction)


def coverage(conjunction: Conjunction, pairs: Sequence[tuple[Sequence[Any], Sequence[Any]]]) -> Fraction:
    """The share of pairs that meet all comparisons but one, and have values for that one."""
    near = sum(any(_is_near(conjunction, one, *pair) for one in conjunction) for pair in pairs)
    return Fraction(near, len(pairs))


def _is_near(conjunction: Conjunction, left_out: Comparison, t: Sequence[Any], s: Sequence[Any]) -> bool:
    a, _, b = left_out
    known = t[a] is not None and s[b] is not None
    return known and not _meets([left_out], t, s) and _meets(conjunction - {left_out}, t, s)
