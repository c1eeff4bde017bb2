"""Results as mappings that make their rules when they are read: until then a million are some bytes each."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from holdfast.borders.cover import Numbers
from holdfast.engines.found.rules import ListedRules, Wording, blocks
from holdfast.engines.pointwise.boxes import (
    EQUAL,
    FREE,
    LESS,
    MORE,
    OPERATORS,
    OTHER,
    Boxes,
    Mask,
    Space,
    among,
    canonical,
    numbered,
)
from holdfast.engines.pointwise.rule_arrays import RuleArrays
from holdfast.engines.thresholds import COVERED
from holdfast.lazy_rules import LhsBound
from holdfast.rules.pointwise import Pointwise, denial_text, parse, rule_text
from holdfast.search.queries import Operator
from holdfast.text.quotes import quoted


@dataclass(frozen=True)
class PointwiseWording(Wording[Pointwise, RuleArrays]):
    """Also how columns are compared, and how many of them a left side may have (None: all)."""

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

    def texts(self, rules: RuleArrays) -> Iterator[str]:
        """The texts of rules."""
        written = self._written
        for some in blocks(rules):
            for left, column, mark in _each(some):
                yield rule_text([written[c][m] for c, m in left], written[column][mark])

    def rule(self, left: list[tuple[int, int]], column: int, mark: int, denial: str) -> Pointwise:
        """A rule, given the denial constraint of its class, too."""
        marks = tuple([(self.names[c], _operator(m)) for c, m in left])
        return Pointwise(self.table, marks, (self.names[column], _operator(mark)), denial)

    def denials(self, rules: RuleArrays) -> Iterator[str]:
        """The denial constraints that name the classes of rules."""
        return self.denials_of(rules.boxes(self.space))

    def denials_of(self, boxes: Boxes) -> Iterator[str]:
        """The denial constraints that no pair of rows meets some boxes."""
        names = [quoted(name) for name in self.names]
        return (denial_text([(names[c], _compared(mask)) for c, mask in box]) for box in _pairs(canonical(boxes)))

    def parse(self, text: str) -> Pointwise:
        """The rule of a text."""
        return parse(text, self.names, self.table)

    def alone(self, rule: Pointwise) -> RuleArrays:
        """A rule as a list of one."""
        marks = {operator: mask for mask, operator in OPERATORS.items()}
        left = np.full((1, len(self.names)), FREE, np.uint8)
        for name, operator in rule.left:
            left[0, self.names.index(name)] = marks[operator]
        column, mark = self.names.index(rule.right[0]), marks[rule.right[1]]
        return RuleArrays(left, np.array([column]), np.array([mark], np.uint8), np.zeros(1, np.bool_))


def _operator(mark: int) -> Operator:
    return cast(Operator, OPERATORS[mark])


def _compared(mask: int) -> str:
    """How a denial constraint compares where a pair may have some values: there a null never meets a comparison."""
    known = mask & ~OTHER
    return "!=" if known in (0, LESS | MORE) else OPERATORS[known]


@dataclass(eq=False, repr=False)
class PointwiseRules(ListedRules[Pointwise, RuleArrays]):
    """Rules by text, every reading; `vacuous` says how many there are that are vacuous, and not listed. `never` are the
    minimal boxes that no pair of rows meets, of which the rules are readings, where they are known. `best_first` are
    the same rules with their coverage, in the order in which people see them, where it is another.
    """

    wording: PointwiseWording
    listed: RuleArrays
    vacuous: int = 0
    never: Boxes | None = None
    best_first: RuleArrays | None = None

    @property
    def bound(self) -> LhsBound:
        """How long left sides may be."""
        return self.wording.bound

    @cached_property
    def boxes(self) -> Boxes:
        """For each rule the box that no pair of rows meets."""
        return self.listed.boxes(self.wording.space)

    def made(self, some: RuleArrays) -> Iterator[Pointwise]:
        """Some of the rules."""
        coverage = [None] * len(some) if some.coverage is None else some.coverage.tolist()
        errors = [0.0] * len(some) if some.error is None else some.error.tolist()
        more = zip(self.wording.denials(some), coverage, errors, some.vacuous.tolist(), strict=True)
        for own, (denial, covered, error, vacuous) in zip(_each(some), more, strict=True):
            rule = self.wording.rule(*own, denial)
            yield replace(rule, coverage=covered, coverage_error=error, vacuous=vacuous)

    def some(self, chosen: Mask | Numbers) -> PointwiseRules:
        """Some of them."""
        return PointwiseRules(self.wording, self.listed.some(chosen), never=self.never)

    def one_a_class(self) -> PointwiseRules:
        """Of the readings of each class the first."""
        ranked = self._ranked
        return ranked.in_order(ranked.listed.some(ranked._firsts()[0]))

    def in_order(self, listed: RuleArrays) -> PointwiseRules:
        """The same in another order, perhaps with their coverage."""
        return PointwiseRules(self.wording, listed, self.vacuous, self.never)

    def with_order(self, best_first: RuleArrays) -> PointwiseRules:
        """The same, which people see in another order."""
        return PointwiseRules(self.wording, self.listed, self.vacuous, self.never, best_first)

    @property
    def _ranked(self) -> PointwiseRules:
        """The same in the order in which people see them."""
        return self.in_order(self.listed if self.best_first is None else self.best_first)

    def _firsts(self) -> tuple[Mask, Mask]:
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
            less, more = (among(canonical(boxes[twofold]), self.never) for boxes in (one, other))
            one[twofold[~less]], other[twofold[~more]] = other[twofold[~less]], one[twofold[~more]]
            implied[twofold[~less & ~more]] = True
        classes = numbered(np.concatenate([canonical(one), canonical(other)]))
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

    def for_people(self, others: Collection[str]) -> tuple[PointwiseRules, str]:
        """One reading a class, of those that people want to see alongside the findings of other classes; and what is
        left out, in words.
        """
        firsts, implied = self._ranked._firsts()
        listed = self._ranked.listed.some(firsts)
        coverage = np.ones(len(listed)) if listed.coverage is None else listed.coverage
        dull = (coverage < COVERED) & ~listed.vacuous
        known = ((listed.left == FREE) | (listed.left == EQUAL)).all(axis=1) & (listed.mark == EQUAL)
        known &= "fd" in others
        hidden = [
            (int(np.count_nonzero(dull & ~known)), f"below {COVERED:.1%} coverage"),
            (int(np.count_nonzero(known)), "that are FDs"),
            (int(np.count_nonzero(implied)), "that follow from others"),
            (self.vacuous, "vacuous"),
        ]
        shown = PointwiseRules(self.wording, listed.some(~dull & ~known))
        return shown, ", ".join(f"{count:,} {what}" for count, what in hidden if count)


def _each(some: RuleArrays) -> Iterator[tuple[list[tuple[int, int]], int, int]]:
    """Left side, column and mark of each rule."""
    return zip(_pairs(some.left), some.column.tolist(), some.mark.tolist(), strict=True)


def _pairs(boxes: Boxes) -> Iterator[list[tuple[int, int]]]:
    """The marked columns of each box, with their marks."""
    rows, columns = np.nonzero(boxes != FREE)
    ends = np.cumsum(np.bincount(rows, minlength=len(boxes))).tolist()
    found = list(zip(columns.tolist(), boxes[rows, columns].tolist(), strict=True))
    return (found[begin:end] for begin, end in zip([0, *ends], ends, strict=False))
