"""Results as mappings that make their rules when asked: a million are some bytes each until someone reads them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import starmap
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.pointwise.boxes import Sides, among, folded, numbered, packed
from holdfast.engines.pointwise.marks import EQUAL, FREE, LESS, MORE, OPERATORS, OTHER, Boxes, Space
from holdfast.engines.thresholds import COVERED
from holdfast.lazy_rules import LazyRules, LhsBound, parsed
from holdfast.pairs.bitsets import Words
from holdfast.rules.pointwise import Pointwise, denial_text, parse, rule_text
from holdfast.search.queries import Operator
from holdfast.text.quotes import quoted

Numbers = NDArray[np.int64]
Marks = NDArray[np.bool_]

_AT_ONCE = 1 << 14
# The arrays of rules in a dump.
KEPT: dict[str, Any] = {"left": np.uint8, "column": np.int64, "mark": np.uint8, "vacuous": np.bool_}


@dataclass(frozen=True, eq=False)
class Listed:
    """Rules in the order in which they are told: left side (its own column is free), column and mark of the right side,
    whether it is vacuous; and coverage with its error, unless nobody asked.
    """

    left: Boxes
    column: Numbers
    mark: NDArray[np.uint8]
    vacuous: Marks
    coverage: NDArray[np.float64] | None = None
    error: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.column)

    @staticmethod
    def of(rules: Sides, vacuous: bool = False) -> Listed:
        """From left and right sides."""
        return Listed(*rules, np.full(len(rules.column), vacuous))

    @staticmethod
    def none(columns: int) -> Listed:
        """No rules."""
        return Listed.of(Sides.joined(columns, []))

    def some(self, chosen: Marks | Numbers) -> Listed:
        """Some of them, or all in another order."""
        more = (None if each is None else each[chosen] for each in (self.coverage, self.error))
        return Listed(self.left[chosen], self.column[chosen], self.mark[chosen], self.vacuous[chosen], *more)

    def with_more(self, others: Listed) -> Listed:
        """These and others, without coverage."""
        return Listed(*(np.concatenate([getattr(self, name), getattr(others, name)]) for name in KEPT))

    def in_order(self) -> Listed:
        """By their right sides, short left sides first."""
        sizes = (self.left != FREE).sum(axis=1)
        return self.some(np.lexsort((*self.left.T[::-1], sizes, self.mark, self.column)))

    def boxes(self, space: Space) -> Boxes:
        """For each rule the box that no pair of rows meets, as long as it holds: left side and negated right side."""
        boxes, negated = self.left.copy(), np.zeros((space.columns, FREE + 1), np.uint8)
        for column in range(space.columns):
            for mark in (LESS, LESS | EQUAL, EQUAL):
                negated[column, mark] = space.negated(column, mark)
        boxes[np.arange(len(self)), self.column] = negated[self.column, self.mark]
        return boxes

    @cached_property
    def keys(self) -> Words:
        """Rules as rows of words: two are equal iff the rules are."""
        right = (self.column.astype(np.uint64) << np.uint64(4)) | self.mark.astype(np.uint64)
        return np.concatenate([packed(self.left), right[:, None]], axis=1)


@dataclass(frozen=True)
class Wording:
    """What the rules of a table need to be put into words: its name, its columns, how they are compared, and how many
    of them a left side may have (None: all).
    """

    table: str
    names: tuple[str, ...]
    space: Space
    max_lhs: int | None = None

    @property
    def bound(self) -> LhsBound:
        """How long left sides may be."""
        return LhsBound(Pointwise.kind, self.table, self.max_lhs)

    @cached_property
    def _written(self) -> list[list[str]]:
        """Each column with each mark, as rules write them."""
        return [[quoted(name) + OPERATORS.get(mark, "") for mark in range(FREE + 1)] for name in self.names]

    def text(self, left: list[tuple[int, int]], column: int, mark: int) -> str:
        """The text of a rule."""
        written = self._written
        return rule_text([written[c][m] for c, m in left], written[column][mark])

    def rule(self, left: list[tuple[int, int]], column: int, mark: int, denial: str) -> Pointwise:
        """A rule, given the denial constraint of its class, too."""
        marks = tuple([(self.names[c], _operator(m)) for c, m in left])
        return Pointwise(self.table, marks, (self.names[column], _operator(mark)), denial)

    def denials(self, rules: Listed) -> Iterator[str]:
        """The denial constraints that name the classes of rules."""
        return self.denials_of(rules.boxes(self.space))

    def denials_of(self, boxes: Boxes) -> Iterator[str]:
        """The denial constraints that no pair of rows meets some boxes."""
        names = [quoted(name) for name in self.names]
        return (denial_text([(names[c], _compared(mask)) for c, mask in box]) for box in _pairs(folded(boxes)))

    def listed(self, text: str) -> Listed:
        """The rule of a text; KeyError where it is not written as it is told."""
        return self.listed_rule(parsed(text, lambda text: parse(text, self.names, self.table)))

    def listed_rule(self, rule: Pointwise) -> Listed:
        """A rule as a list of one."""
        masks = {operator: mask for mask, operator in OPERATORS.items()}
        left = np.full((1, len(self.names)), FREE, np.uint8)
        for name, operator in rule.left:
            left[0, self.names.index(name)] = masks[operator]
        column, mark = self.names.index(rule.right[0]), masks[rule.right[1]]
        return Listed(left, np.array([column]), np.array([mark], np.uint8), np.zeros(1, np.bool_))


def _operator(mark: int) -> Operator:
    return cast(Operator, OPERATORS[mark])


def _compared(mask: int) -> str:
    """How a denial constraint compares where a pair may have some values: there a null never meets a comparison."""
    known = mask & ~OTHER
    return "!=" if known in (0, LESS | MORE) else OPERATORS[known]


class Rules(LazyRules[Pointwise]):
    """Rules by text. Nothing here changes later."""

    def __init__(
        self,
        wording: Wording,
        listed: Listed,
        vacuous: int = 0,
        never: Boxes | None = None,
        best_first: Listed | None = None,
    ) -> None:
        """Some rules; `vacuous` says how many there are that are vacuous, and not listed. `never` are the minimal boxes
        that no pair of rows meets, of which the rules are readings, where they are known. `best_first` are the same
        rules with their coverage, in the order in which people see them, where it is another.
        """
        self.wording, self.listed, self.vacuous, self.never = wording, listed, vacuous, never
        self._best_first = listed if best_first is None else best_first

    def __len__(self) -> int:
        return len(self.listed)

    @property
    def bound(self) -> LhsBound:
        """How long left sides may be."""
        return self.wording.bound

    def __iter__(self) -> Iterator[str]:
        for some in self._blocks():
            yield from starmap(self.wording.text, _each(some))

    def __getitem__(self, text: str) -> Pointwise:
        asked = self.wording.listed(text)
        at = np.flatnonzero((self.listed.keys == asked.keys).all(axis=1))
        for found in Rules(self.wording, self.listed.some(at)).rules():
            return found
        raise KeyError(text)

    def rules(self) -> Iterator[Pointwise]:
        """The rules in their order."""
        for some in self._blocks():
            classes = self.wording.denials(some)
            coverage = [None] * len(some) if some.coverage is None else some.coverage.tolist()
            errors = [0.0] * len(some) if some.error is None else some.error.tolist()
            more = zip(coverage, errors, some.vacuous.tolist(), strict=True)
            for own, denial, (covered, error, vacuous) in zip(_each(some), classes, more, strict=True):
                rule = self.wording.rule(*own, denial)
                yield replace(rule, coverage=covered, coverage_error=error, vacuous=vacuous)

    def _blocks(self) -> Iterator[Listed]:
        for begin in range(0, len(self), _AT_ONCE):
            yield self.listed.some(np.arange(begin, min(begin + _AT_ONCE, len(self))))

    def one_a_class(self) -> Rules:
        """Of the readings of each class the first."""
        ranked = self._ranked
        return Rules(self.wording, ranked.listed.some(ranked._firsts()[0]), self.vacuous, self.never)

    def with_order(self, best_first: Listed) -> Rules:
        """The same, which people see in another order."""
        return Rules(self.wording, self.listed, self.vacuous, self.never, best_first)

    @property
    def _ranked(self) -> Rules:
        """The same in the order in which people see them."""
        return Rules(self.wording, self._best_first, self.vacuous, self.never)

    def _firsts(self) -> tuple[Marks, Marks]:
        """Which rules are the first of a class, and which are of none, as they follow from one that says more.

        A rule with `=` on the right says what two boxes say, one with `<` and one with `>` there: it is the first of
        its class if it is that of one of both. Where neither is minimal, it follows from weaker ones that are.
        """
        listed, rows = self.listed, np.arange(len(self.listed))
        one = listed.boxes(self.wording.space)
        other, implied = one, np.zeros(len(rows), np.bool_)
        if self.never is not None and not self.wording.space.unknown:
            twofold = np.flatnonzero(one[rows, listed.column] == LESS | MORE)
            other = one.copy()
            one[twofold, listed.column[twofold]], other[twofold, listed.column[twofold]] = LESS, MORE
            less, more = (among(folded(boxes[twofold]), self.never) for boxes in (one, other))
            one[twofold[~less]], other[twofold[~more]] = other[twofold[~less]], one[twofold[~more]]
            implied[twofold[~less & ~more]] = True
        classes = numbered(np.concatenate([folded(one), folded(other)]))
        first = np.full(int(classes.max(initial=-1)) + 1, len(rows))
        np.minimum.at(first, classes, np.tile(np.where(implied, len(rows), rows), 2))
        firsts = np.zeros(len(rows) + 1, np.bool_)
        firsts[first] = True
        return firsts[:-1], implied

    def denials(self) -> Iterator[str]:
        """The rules as denial constraints, one a class, and those that say that no two rows agree on some columns."""
        yield from self.wording.denials(self.one_a_class().listed)
        if self.never is not None:
            keys = ((self.never == EQUAL) | (self.never == FREE)).all(axis=1)
            yield from self.wording.denials_of(self.never[keys])

    def for_people(self, others: Collection[str]) -> tuple[Rules, str]:
        """One reading a class, of those that people want to see, given the other classes that are shown; and a note on
        the rest.
        """
        firsts, implied = self._ranked._firsts()
        listed = self._ranked.listed.some(firsts)
        dull = (
            np.zeros(len(listed), np.bool_)
            if listed.coverage is None
            else (listed.coverage < COVERED) & ~listed.vacuous
        )
        known = ((listed.left == FREE) | (listed.left == EQUAL)).all(axis=1) & (listed.mark == EQUAL)
        known &= "fd" in others
        hidden = [
            (int(np.count_nonzero(dull & ~known)), f"below {COVERED:.1%} coverage"),
            (int(np.count_nonzero(known)), "that are FDs"),
            (int(np.count_nonzero(implied)), "that follow from others"),
            (self.vacuous, "vacuous"),
        ]
        shown = Rules(self.wording, listed.some(~dull & ~known))
        return shown, ", ".join(f"{count:,} {what}" for count, what in hidden if count)


def _each(some: Listed) -> Iterator[tuple[list[tuple[int, int]], int, int]]:
    """Left side, column and mark of each rule."""
    return zip(_pairs(some.left), some.column.tolist(), some.mark.tolist(), strict=True)


def _pairs(boxes: Boxes) -> Iterator[list[tuple[int, int]]]:
    """The marked columns of each box, with their masks."""
    rows, columns = np.nonzero(boxes != FREE)
    ends = np.cumsum(np.bincount(rows, minlength=len(boxes))).tolist()
    found = list(zip(columns.tolist(), boxes[rows, columns].tolist(), strict=True))
    return (found[begin:end] for begin, end in zip([0, *ends], ends, strict=False))
