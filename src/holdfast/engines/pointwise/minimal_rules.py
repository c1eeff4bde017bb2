"""Rules as readings of never-sets, and the other minimal rules. A reading of a never-set is a rule obtained from it.

`X -> B op` holds iff X with the negation of `B op` is never met. Where nulls are equal, the negation of `<` is the mark
`>=` and that of `<=` is `>`, so that a rule with one of these on the right is a never-set from which a mark is taken
out; a never-set has as many equivalent readings as it has marks that can be taken out. The negation of `=`, that two
values differ, is no mark of an ordered column: those rules have a search of their own. Where nulls are distinct, no
negation is a mark, and every right side has a search of its own.

`X -> B<=` follows from `X -> B<` and from `X -> B=`, and is minimal only where neither holds. If one of them held for
an X' weaker than X, so would `X' -> B<=`; so it is enough to look up X itself among the minimal left sides of these.
Likewise, a minimal left side that no pair meets is one of the minimal boxes that no pair meets.

Where rules are wanted whose left side a number of pairs meets, every right side has a search of its own, too: what is
weaker than such a left side is met by as many pairs, so that a rule is minimal among these iff it is among all.

Each rule is listed as one of two mirrors: `B>` on the right is written as `B<`, and of two mirrored left sides of `=`
the one is listed whose first inequality is `<` or `<=`; likewise of two mirrored never-sets.

Vacuous rules are those whose left side no pair meets. Where nulls are equal, they follow from the never-sets alone. The
left side of a minimal one is a minimal never-set N. `N -> B op` is minimal iff no weaker left side will do: iff
each one-step weakening of N is met by a pair that breaks `B op`. `N -> B<=` follows from `N -> B<`: it never is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.boxes import (
    EQUAL,
    FREE,
    LEANING,
    LESS,
    MORE,
    OTHER,
    Boxes,
    Space,
    Values,
    among,
    canonical,
    is_canonical,
    leans,
    marks_of,
    mirrored,
    weakenings,
)
from holdfast.engines.pointwise.cells import PairValues
from holdfast.engines.pointwise.marginals import values_within
from holdfast.engines.pointwise.never_sets import left_sides, never_sets
from holdfast.engines.pointwise.rule_arrays import RuleArrays
from holdfast.table.threads import SoFar, each

# As bits, which right sides a pair breaks: `<`, its mirror `>`, or `=`; and so for each set of values of pairs.
_NOT_LESS, _NOT_MORE, _NOT_EQUAL = 1, 2, 4
_BROKEN_BY = {
    LESS: _NOT_MORE | _NOT_EQUAL,
    EQUAL: _NOT_LESS | _NOT_MORE,
    MORE: _NOT_LESS | _NOT_EQUAL,
    OTHER: _NOT_EQUAL,
}
_BREAKS = np.array(
    [np.bitwise_or.reduce([own for bit, own in _BROKEN_BY.items() if bit & values] or [0]) for values in range(16)],
    np.uint8,
)
_AT_ONCE = 1 << 18  # never-sets, for the memory that their weakenings take


@dataclass(frozen=True, eq=False)
class Vacuous:
    """For each never-set and column, the right sides that make a minimal rule of it."""

    never: Boxes
    minimal: NDArray[np.uint8]  # [never-set, column]

    @staticmethod
    def of(never: Boxes, wanted: WantedRules) -> Vacuous:
        """From the minimal never-sets, listed without their mirrors."""
        seen, space, fits = wanted.seen.values, wanted.space, ~(never == OTHER).any(axis=1)
        if wanted.max_lhs is not None:
            fits &= marks_of(never) <= wanted.max_lhs
        never = never[fits]
        minimal = np.where(never == FREE, _BREAKS[FREE], 0).astype(np.uint8)
        minimal[~leans(never)] &= ~np.uint8(_NOT_MORE)  # which is the same as `<` there
        for column in range(space.columns):
            if column not in wanted.targets:
                minimal[:, column] = 0
            elif not space.ordered[column]:
                minimal[:, column] &= _NOT_EQUAL
        for begin in range(0, len(never), _AT_ONCE):
            _keep_minimal(never[begin : begin + _AT_ONCE], minimal[begin : begin + _AT_ONCE], seen, space)
        return Vacuous(never, minimal)

    def count(self) -> int:
        """How many rules there are."""
        return int(np.unpackbits(self.minimal).sum(dtype=np.int64))

    def rules(self) -> RuleArrays:
        """All of them."""
        parts = []
        for column in range(self.never.shape[1]):
            for bit, operator in ((_NOT_LESS, LESS), (_NOT_MORE, LESS), (_NOT_EQUAL, EQUAL)):
                left = self.never[(self.minimal[:, column] & bit) != 0]
                parts.append(RuleArrays.of(mirrored(left) if bit == _NOT_MORE else left, column, operator))
        return RuleArrays.joined(self.never.shape[1], parts)


def _keep_minimal(never: Boxes, minimal: NDArray[np.uint8], seen: Values, space: Space) -> None:
    """Leave the right sides that some pair breaks in each weakening. OUT minimal."""
    parts = weakenings(never, space)
    broken = _BREAKS[values_within(seen, space, np.concatenate([never[:0], *(weaker for weaker, _ in parts)]))]
    end = 0
    for weaker, of in parts:
        begin, end = end, end + len(weaker)
        minimal[of] &= broken[begin:end]


_SMALL = 1 << 10  # words of cells: a search on fewer takes less than threads do


@dataclass(frozen=True, eq=False)
class Derived:
    """The minimal rules of a table that are not vacuous, and how many of the others there are."""

    never: Boxes  # minimal never-sets; none where nulls are distinct
    rules: RuleArrays
    vacuous: int


@dataclass(frozen=True)
class WantedRules:
    """Which rules are wanted, of which pairs: how many marks at most on the left, and some columns on the right
    (None: all).
    """

    seen: PairValues
    max_lhs: int | None = None
    rhs: Sequence[int] | None = None
    progress: SoFar = lambda _: None

    @property
    def space(self) -> Space:
        """How the columns are compared."""
        return self.seen.space

    @property
    def targets(self) -> Sequence[int]:
        """The columns that may stand on the right."""
        return range(self.space.columns) if self.rhs is None else self.rhs

    def left_sides(self, column: int | None, negation: int, so_far: SoFar) -> Boxes:
        """All minimal left sides that no pair meets which has a value of `negation` in a column."""
        return left_sides(self.seen, self.space, column, negation, self.max_lhs, so_far)

    def of_each(self, work: Callable[[int, SoFar], list[RuleArrays]]) -> list[RuleArrays]:
        """What is found for each column on the right side, in threads where that takes long."""
        cells = self.seen.cells  # made here, once, and not by each thread
        small = cells is not None and cells.words.size <= _SMALL
        parts = each(self.targets, work, 0 if small else None, lambda _, found: self.progress(found))
        return [part for own in parts for part in own]


def derive(wanted: WantedRules, never: Boxes | None = None) -> Derived:
    """All minimal rules. `never` are the minimal never-sets of at most `max_lhs + 1` marks, where they are known."""
    space, max_lhs = wanted.space, wanted.max_lhs
    if space.unknown:
        return _by_right_sides(wanted)
    if never is None:
        never = never_sets(wanted.seen, space, None if max_lhs is None else max_lhs + 1, wanted.progress)
    return _by_never_sets(wanted, never[is_canonical(never)])


def vacuous(derived: Derived, wanted: WantedRules) -> RuleArrays:
    """The minimal rules whose left side no pair meets."""
    if not wanted.space.unknown:
        return Vacuous.of(derived.never, wanted).rules()
    unmet, found = _unmet(wanted), _minimal(wanted)
    return RuleArrays.joined(wanted.space.columns, [rules.some(among(rules.left, unmet)) for rules in found])


def covered(wanted: WantedRules) -> RuleArrays:
    """The minimal rules whose left side enough pairs meet, one at least, by the coverage of what was seen."""
    return RuleArrays.joined(wanted.space.columns, _minimal(wanted))


# ---- nulls are equal ------------------------------------------------------------------------------------------------


def _by_never_sets(wanted: WantedRules, never: Boxes) -> Derived:
    def of_column(column: int, so_far: SoFar) -> list[RuleArrays]:
        if not wanted.space.ordered[column]:
            return [_readings(never, column, (OTHER,), EQUAL)]
        equal = wanted.left_sides(column, LESS | MORE, so_far)
        equal = equal[is_canonical(equal)]
        less = _readings(never, column, (LESS | EQUAL, EQUAL | MORE), LESS)
        less_or_equal = _readings(never, column, (LESS, MORE), LESS | EQUAL)
        minimal = ~among(canonical(less_or_equal.left), equal)
        met = RuleArrays.of(equal[~among(equal, never)], column, EQUAL)
        return [less, less_or_equal.some(minimal), met]

    found = wanted.of_each(of_column)
    return Derived(never, RuleArrays.joined(wanted.space.columns, found), Vacuous.of(never, wanted).count())


def _readings(never: Boxes, column: int, negations: tuple[int, ...], operator: int) -> RuleArrays:
    """The rules that say of a column that none of the negations occurs: readings of never-sets."""
    differing = np.count_nonzero(never == OTHER, axis=1)  # marks `!=`, which no left side has
    places = np.flatnonzero(np.isin(never[:, column], negations) & (differing == (OTHER in negations)))
    left = never[places]
    turned = LEANING[left[:, column]] < 0  # where B< or B<= is never met, B>= or B> follows: listed as its mirror
    left[:, column] = FREE
    left[turned] = mirrored(left[turned])
    return RuleArrays.of(left, column, operator)


# ---- a search for each right side -----------------------------------------------------------------------------------


def _by_right_sides(wanted: WantedRules) -> Derived:
    unmet, found = _unmet(wanted), _minimal(wanted)
    met = [(rules, ~among(rules.left, unmet)) for rules in found]
    vacuous = sum(int(np.count_nonzero(~mask)) for _, mask in met)
    rules = RuleArrays.joined(wanted.space.columns, [rules.some(mask) for rules, mask in met])
    return Derived(unmet[:0], rules, vacuous)


def _unmet(wanted: WantedRules) -> Boxes:
    """The minimal left sides that no pair meets."""
    return wanted.left_sides(None, FREE, wanted.progress)


def _minimal(wanted: WantedRules) -> list[RuleArrays]:
    """All minimal rules, vacuous ones too."""

    def of_column(column: int, so_far: SoFar) -> list[RuleArrays]:
        operators = (EQUAL, LESS, LESS | EQUAL) if wanted.space.ordered[column] else (EQUAL,)
        negations = [wanted.space.negated(column, operator) for operator in operators]
        equal, *others = (wanted.left_sides(column, negation, so_far) for negation in negations)
        found = [RuleArrays.of(equal[is_canonical(equal)], column, EQUAL)]
        if others:
            less, less_or_equal = others
            minimal = ~among(less_or_equal, less) & ~among(less_or_equal, equal)
            found += [RuleArrays.of(less, column, LESS), RuleArrays.of(less_or_equal[minimal], column, LESS | EQUAL)]
        return found

    return wanted.of_each(of_column)
