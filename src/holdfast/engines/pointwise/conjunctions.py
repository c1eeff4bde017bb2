"""Conjunctions of comparisons on different lines, many at once, and what they imply, whatever the data are.

The columns of t and of s are the two sides of a graph, and comparisons are its edges. Up to three edges make no circle,
so their operators are free: no such conjunction contradicts itself, and of two about the same lines one implies the
other only if each of its comparisons does. Three edges that make a path imply a fourth, on the line that closes the
circle:

    t.A op s.B, t.C op s.B, t.C op s.D        `t.A < s.B = t.C <= s.D` implies `t.A < s.D`

With the fourth comparison in place of one of its own, a conjunction has up to three **alternatives**, which it implies.
One that implies it, too, is equivalent. With four comparisons a circle may contradict itself, `t.A < s.A < t.B < s.B <
t.A`: so a rule has three at most.

Of equivalent conjunctions and their mirror images one is the **representative**: the one that comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from holdfast.engines.pointwise import MOST_COMPARISONS
from holdfast.engines.pointwise.comparisons import (
    IMPLIES,
    OPERATORS,
    PER_LINE,
    TURNED,
    Comparisons,
    Mask,
    Numbers,
)
from holdfast.pairs.bitsets import Words
from holdfast.rules.conditions import TRUE_AT

NONE = -1  # no comparison; also: none is implied
_BITS = np.uint64(8)  # of a comparison in a key
_LESS, _UNEQUAL, _MORE = (OPERATORS.index(operator) for operator in ("<", "!=", ">"))


def _composed() -> Numbers:
    """What `a op b op c op d` implies of a and d, `[operator, operator, operator]`; NONE where it is nothing."""
    signs = {frozenset(TRUE_AT[operator]): place for place, operator in enumerate(OPERATORS)}
    found = np.full((len(OPERATORS),) * 3, NONE)
    for steps in product(range(len(OPERATORS)), repeat=3):
        allowed = [TRUE_AT[OPERATORS[step]] for step in steps]
        chains = (
            chain
            for chain in product(range(4), repeat=4)
            if all(_sign(a, b) in own for a, b, own in zip(chain, chain[1:], allowed, strict=False))
        )
        found[steps] = signs.get(frozenset(_sign(chain[0], chain[3]) for chain in chains), NONE)
    return found


def _sign(one: int, other: int) -> int:
    return (one > other) - (one < other)


_COMPOSED = _composed()


def listed(rows: Numbers) -> Numbers:
    """Conjunctions as rows of three comparisons, ascending, NONE behind them."""
    wide = np.full((len(rows), MOST_COMPARISONS), NONE, np.int64)
    wide[:, : rows.shape[1]] = rows
    last = np.iinfo(np.int64).max
    ascending = np.sort(np.where(wide == NONE, last, wide), axis=1)
    return np.where(ascending == last, NONE, ascending)


def sizes_of(rows: Numbers) -> Numbers:
    """How many comparisons each row of `listed` has."""
    sizes: Numbers = np.count_nonzero(rows != NONE, axis=1)
    return sizes


def keys_of(rows: Numbers) -> Words:
    """A word for each row of `listed`, equal for equal ones; short ones come first."""
    keys = sizes_of(rows).astype(np.uint64)
    for own in (rows + 1).T:
        keys = (keys << _BITS) | own.astype(np.uint64)
    return keys


def mirrored(rows: Numbers, comparisons: Comparisons) -> Numbers:
    """The mirror images of rows of `listed`."""
    return listed(np.append(comparisons.mirrored, NONE)[rows])


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Some conjunctions of three comparisons, by their places, with the fourth one in place of one of theirs."""

    of: Numbers
    rows: Numbers
    is_equivalent: Mask


def alternatives(rows: Numbers, comparisons: Comparisons) -> Iterator[Alternatives]:
    """The alternatives of rows of `listed`; each conjunction has three or none."""
    whole = np.flatnonzero((rows != NONE).all(axis=1))
    columns = np.array(comparisons.lines, np.int64).reshape(-1, 2)
    t, s = np.moveaxis(columns[rows[whole] // PER_LINE], 2, 0)
    for first, middle, last in permutations(range(MOST_COMPARISONS)):
        is_path = (s[:, first] == s[:, middle]) & (t[:, last] == t[:, middle])
        is_path &= (t[:, first] != t[:, middle]) & (s[:, last] != s[:, middle])
        of = whole[is_path]
        path = rows[of][:, [first, middle, last]]
        one, two, three = (path % PER_LINE).T
        closing = comparisons.number[t[is_path, first], s[is_path, last]]
        fourth = _fitting(_COMPOSED[one, TURNED[two], three], comparisons.allowed[closing])
        is_implied = fourth != NONE
        of, path, closing, fourth = of[is_implied], path[is_implied], closing[is_implied], fourth[is_implied]
        one, two, three = (path % PER_LINE).T
        back = (  # what the alternative without the first, the middle or the last one implies of it
            _COMPOSED[fourth, TURNED[three], two],
            _COMPOSED[three, TURNED[fourth], one],
            _COMPOSED[two, TURNED[one], fourth],
        )
        for place, implied in enumerate(back):
            other = path.copy()
            other[:, place] = closing * PER_LINE + fourth
            yield Alternatives(of, listed(other), (implied != NONE) & IMPLIES[implied, path[:, place] % PER_LINE])


def _fitting(operators: Numbers, allowed: Mask) -> Numbers:
    """Operators on lines that allow some; on a line without an order `!=` is what is left of `<` and `>`."""
    has = (operators != NONE) & allowed[np.arange(len(operators)), operators]
    is_strict = (operators == _LESS) | (operators == _MORE)
    return np.where(has, operators, np.where(is_strict, _UNEQUAL, NONE))


def representatives(rows: Numbers, comparisons: Comparisons) -> Numbers:
    """The representative of each row of `listed`."""
    found, keys = rows.copy(), keys_of(rows)

    def offer(of: Numbers, others: Numbers) -> None:
        for some in (others, mirrored(others, comparisons)):
            own = keys_of(some)
            better = own < keys[of]
            found[of[better]], keys[of[better]] = some[better], own[better]

    offer(np.arange(len(rows)), rows)
    for each in alternatives(rows, comparisons):
        offer(each.of[each.is_equivalent], each.rows[each.is_equivalent])
    return found


def weaker(row: Numbers, comparisons: Comparisons) -> Numbers:
    """All conjunctions that one row of `listed` implies, in rows of `listed`: short ones first, itself among them."""
    own = [comparison for comparison in row.tolist() if comparison != NONE]
    closed = {comparison // PER_LINE: comparison % PER_LINE for comparison in own}
    for each in alternatives(row[None], comparisons):
        closed |= {comparison // PER_LINE: comparison % PER_LINE for comparison in each.rows.ravel().tolist()}
    choices = [
        [NONE, *(line * PER_LINE + other for other in np.flatnonzero(IMPLIES[operator] & comparisons.allowed[line]))]
        for line, operator in closed.items()
    ]
    sizes = [[each for each in chosen if each != NONE] for chosen in product(*choices)]
    some = [each + [NONE] * (MOST_COMPARISONS - len(each)) for each in sizes if 0 < len(each) <= len(own)]
    found = listed(np.array(some, np.int64))
    return found[np.argsort(keys_of(found), kind="stable")]
