"""Pointwise order dependencies and never-sets from their definition: plain Python over plain rows (papers: incpod,
section III).

A pair (t, s) of different rows has a sign in each column: `<`, `=`, `>`; `!` where the two differ on a column that is
compared for equality alone; `?` where nulls are distinct and one of the two is null. With `nulls` equal, null equals
null and comes first. A conjunction of marks is a tuple with one operator a column, "" where there is no mark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Any, NamedTuple

Row = Sequence[Any]
Marks = tuple[str, ...]
MEANS = {"": "<=>!?", "<": "<", "<=": "<=", "=": "=", ">=": "=>", ">": ">", "!=": "!"}  # the signs that meet a mark
MIRROR = {"": "", "<": ">", "<=": ">=", "=": "=", ">=": "<=", ">": "<", "!=": "!="}
IMPLIED = {"<": ("<",), "=": ("=",), "<=": ("<", "=", "<=")}  # by which right sides each is implied


class Pod(NamedTuple):
    """The rule that all pairs that meet `left` meet `operator` on `column`."""

    left: Marks
    column: int
    operator: str
    vacuous: bool


def sign(a: Any, b: Any, ordered: bool, nulls: str) -> str:
    """How two values of a column compare."""
    if nulls == "distinct" and (a is None or b is None):
        return "?"
    one, other = [(value is not None, value) for value in (a, b)]
    if one == other:
        return "="
    return "!" if not ordered else "<" if one < other else ">"


class Pairs:
    """The signs of all ordered pairs of different rows; a set of pairs is the bits of a number."""

    def __init__(self, rows: Sequence[Row], ordered: Sequence[bool], nulls: str) -> None:
        self.ordered = ordered
        self.signs = sorted(
            {
                tuple(sign(a, b, how, nulls) for a, b, how in zip(t, s, ordered, strict=True))
                for t, s in permutations(rows, 2)
            }
        )
        self._meeting = {
            (column, mark): sum(1 << i for i, signs in enumerate(self.signs) if signs[column] in MEANS[mark])
            for column in range(len(ordered))
            for mark in MEANS
        }

    def meeting(self, marks: Marks) -> int:
        """The pairs that meet all marks."""
        met = (1 << len(self.signs)) - 1
        for place in enumerate(marks):
            met &= self._meeting[place]
        return met

    def breaking(self, column: int, operator: str) -> int:
        """The pairs that do not meet a mark."""
        return ~self._meeting[column, operator]


def weakest_first(allowed: Sequence[Sequence[str]], most: int | None) -> Iterator[Marks]:
    """All conjunctions of marks, of at most so many: each after all that are weaker."""
    everything = product(*[("", *marks) for marks in allowed])
    fitting = [marks for marks in everything if most is None or sum(map(bool, marks)) <= most]
    return iter(sorted(fitting, key=lambda marks: -sum(len(MEANS[mark]) for mark in marks)))


def contains(strict: Marks, weak: Marks) -> bool:
    """Whether every mark of the one is implied by a mark of the other."""
    return all(set(MEANS[s]) <= set(MEANS[w]) for s, w in zip(strict, weak, strict=True))


def folded(marks: Marks) -> Marks:
    """Of two mirrored conjunctions, the one whose first inequality is `<` or `<=`."""
    for mark in marks:
        if mark[:1] in ("<", ">"):
            return marks if mark[0] == "<" else tuple(MIRROR[mark] for mark in marks)
    return marks


def rules(rows: Sequence[Row], ordered: Sequence[bool], nulls: str = "equal", most: int | None = None) -> set[Pod]:
    """All minimal rules with left sides of at most so many marks: none is implied by another valid one."""
    pairs, found = Pairs(rows, ordered, nulls), set()
    for column in range(len(ordered)):
        allowed = [() if c == column else ("<", "<=", "=", ">=", ">") if o else ("=",) for c, o in enumerate(ordered)]
        minimal: dict[str, list[Marks]] = {"<": [], "=": [], "<=": []}
        for left in weakest_first(allowed, most):
            met = pairs.meeting(left)
            for operator in minimal if ordered[column] else ("=",):
                if met & pairs.breaking(column, operator):
                    continue
                if not any(contains(left, less) for by in IMPLIED[operator] for less in minimal[by]):
                    minimal[operator].append(left)
                    kept = folded(left) if operator == "=" else left
                    found.add(Pod(kept, column, operator, met == 0))
    return found


def coverage(rows: Sequence[Row], ordered: Sequence[bool], nulls: str, left: Marks) -> float:
    """The share of ordered pairs of different rows that meet all marks."""
    pairs = list(permutations(rows, 2))
    met = [
        all(sign(a, b, how, nulls) in MEANS[mark] for a, b, how, mark in zip(t, s, ordered, left, strict=True))
        for t, s in pairs
    ]
    return sum(met) / len(pairs)


def never_sets(rows: Sequence[Row], ordered: Sequence[bool], most: int | None = None) -> set[Marks]:
    """All minimal conjunctions of at most so many marks that no pair meets; nulls are equal."""
    pairs = Pairs(rows, ordered, "equal")
    minimal: list[Marks] = []
    for marks in weakest_first([("<", "<=", "=", ">=", ">") if o else ("=", "!=") for o in ordered], most):
        if not pairs.meeting(marks) and not any(contains(marks, less) for less in minimal):
            minimal.append(marks)
    return set(map(folded, minimal))
