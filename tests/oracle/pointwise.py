"""Pointwise order dependencies and never-sets from their definition: plain Python over plain rows (papers: incpod,
section III).

A pair (t, s) of different rows has a sign in each column: `<`, `=`, `>`; `!` where the two differ on a column that is
compared for equality alone; `?` where nulls are distinct and one of the two is null. With `nulls` equal, null equals
null and comes first. A conjunction is a tuple with one operator for each column, or "" where the column is free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import Any, NamedTuple

Row = Sequence[Any]
Conjunction = tuple[str, ...]
MEANS = {"": "<=>!?", "<": "<", "<=": "<=", "=": "=", ">=": "=>", ">": ">", "!=": "!"}  # the signs that meet a mark
MIRROR = {"": "", "<": ">", "<=": ">=", "=": "=", ">=": "<=", ">": "<", "!=": "!="}
IMPLIED = {"<": ("<",), "=": ("=",), "<=": ("<", "=", "<=")}  # by which right sides each is implied


class Pod(NamedTuple):
    """The rule that all pairs that meet `left` meet `operator` on `column`."""

    left: Conjunction
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
            (column, operator): sum(1 << i for i, signs in enumerate(self.signs) if signs[column] in MEANS[operator])
            for column in range(len(ordered))
            for operator in MEANS
        }

    def meeting(self, conjunction: Conjunction) -> int:
        """The pairs that meet a conjunction."""
        met = (1 << len(self.signs)) - 1
        for place in enumerate(conjunction):
            met &= self._meeting[place]
        return met

    def breaking(self, column: int, operator: str) -> int:
        """The pairs that do not meet a predicate."""
        return ~self._meeting[column, operator]


def weakest_first(allowed: Sequence[Sequence[str]], most: int | None) -> Iterator[Conjunction]:
    """All conjunctions of at most `most` predicates, each after all that are weaker."""
    everything = product(*[("", *conjunction) for conjunction in allowed])
    fitting = [conjunction for conjunction in everything if most is None or sum(map(bool, conjunction)) <= most]
    return iter(sorted(fitting, key=lambda conjunction: -sum(len(MEANS[operator]) for operator in conjunction)))


def contains(strict: Conjunction, weak: Conjunction) -> bool:
    """Whether every predicate of the second follows from one of the first."""
    return all(set(MEANS[s]) <= set(MEANS[w]) for s, w in zip(strict, weak, strict=True))


def folded(conjunction: Conjunction) -> Conjunction:
    """Of two mirrored conjunctions, the one whose first inequality is `<` or `<=`."""
    for operator in conjunction:
        if operator[:1] in ("<", ">"):
            return conjunction if operator[0] == "<" else tuple(MIRROR[operator] for operator in conjunction)
    return conjunction


def rules(rows: Sequence[Row], ordered: Sequence[bool], nulls: str = "equal", most: int | None = None) -> set[Pod]:
    """All minimal rules with at most `most` predicates on the left: none is implied by another valid one."""
    pairs, found = Pairs(rows, ordered, nulls), set()
    for column in range(len(ordered)):
        allowed = [() if c == column else ("<", "<=", "=", ">=", ">") if o else ("=",) for c, o in enumerate(ordered)]
        minimal: dict[str, list[Conjunction]] = {"<": [], "=": [], "<=": []}
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


def coverage(rows: Sequence[Row], ordered: Sequence[bool], nulls: str, left: Conjunction) -> float:
    """The share of ordered pairs of different rows that meet the left side."""
    pairs = list(permutations(rows, 2))
    met = [
        all(sign(a, b, how, nulls) in MEANS[operator] for a, b, how, operator in zip(t, s, ordered, left, strict=True))
        for t, s in pairs
    ]
    return sum(met) / len(pairs)


def never_sets(rows: Sequence[Row], ordered: Sequence[bool], most: int | None = None) -> set[Conjunction]:
    """All minimal conjunctions of at most `most` predicates that no pair meets; nulls are equal."""
    pairs = Pairs(rows, ordered, "equal")
    minimal: list[Conjunction] = []
    for conjunction in weakest_first([("<", "<=", "=", ">=", ">") if o else ("=", "!=") for o in ordered], most):
        if not pairs.meeting(conjunction) and not any(contains(conjunction, less) for less in minimal):
            minimal.append(conjunction)
    return set(map(folded, minimal))
