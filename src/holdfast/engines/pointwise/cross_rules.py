"""Denial constraints across columns by text: a mapping that makes them when they are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from holdfast.engines.found.rules import ListedRules, Wording, blocks
from holdfast.engines.pointwise import MOST_COMPARISONS
from holdfast.engines.pointwise.comparisons import OPERATORS, PER_LINE, Comparisons, Mask, Numbers
from holdfast.engines.pointwise.conjunctions import NONE, listed, representatives
from holdfast.engines.pointwise.minimal_denials import NeverSets
from holdfast.engines.thresholds import COVERED
from holdfast.errors import BadInput
from holdfast.rules.conditions import Cell, Comparison
from holdfast.rules.cross import CrossDenial


@dataclass(frozen=True)
class CrossWording(Wording[CrossDenial, NeverSets]):
    """Also the comparisons that rules are made of."""

    comparisons: Comparisons

    @cached_property
    def _written(self) -> list[Comparison]:
        """Each comparison, by its number."""
        return [
            Comparison(Cell("t", self.names[t]), operator, Cell("s", self.names[s]))
            for t, s in self.comparisons.lines
            for operator in OPERATORS
        ]

    @cached_property
    def _texts(self) -> list[str]:
        return [each.text for each in self._written]

    def texts(self, rules: NeverSets) -> Iterator[str]:
        """The texts of rules."""
        return self.texts_of(rules.rows)

    def texts_of(self, rows: Numbers) -> Iterator[str]:
        """The texts of conjunctions that no two rows meet."""
        texts = self._texts
        return (f"not({' and '.join([texts[each] for each in own if each != NONE])})" for own in rows.tolist())

    def rule(self, row: Numbers, coverage: float | None = None) -> CrossDenial:
        """A rule, perhaps with its coverage."""
        own = tuple(self._written[each] for each in row.tolist() if each != NONE)
        return CrossDenial(own, coverage, table=self.table)

    def parse(self, text: str) -> CrossDenial:
        """The rule of a text."""
        return CrossDenial.parse(text).in_table(self.names, self.table)

    def alone(self, rule: CrossDenial) -> NeverSets:
        """A rule as a list of one, however it is written. BadInput if it is none of the comparisons."""
        numbers = {each: number for number, each in enumerate(self._written)}
        own = [numbers[each] for each in rule.predicates if each in numbers]
        lines = {each // PER_LINE for each in own}
        if len(lines) < len(rule.predicates) or len(lines) > MOST_COMPARISONS:
            raise BadInput(
                f"{rule.text!r} is not among the rules that are looked for: they have up to {MOST_COMPARISONS} "
                "comparisons, each of another two columns of one type that are watched"
            )
        return NeverSets(representatives(listed(np.array([own])), self.comparisons), np.zeros(1, np.int64))


class CrossRules(ListedRules[CrossDenial, NeverSets]):
    """Rules by text. `pairs` is how many ordered pairs of rows there are, where the rules are to say their coverage."""

    wording: CrossWording

    def __init__(self, wording: CrossWording, never: NeverSets, pairs: int | None = None) -> None:
        self.wording, self.listed, self._pairs = wording, never, pairs

    def __getitem__(self, text: str) -> CrossDenial:
        try:
            found = super().__getitem__(text)
        except BadInput:
            raise KeyError(text) from None
        if found.text != text:  # an equivalent one
            raise KeyError(text)
        return found

    def made(self, some: NeverSets) -> Iterator[CrossDenial]:
        """Some of the rules."""
        for row, near in zip(some.rows, some.near.tolist(), strict=True):
            yield self.wording.rule(row, None if self._pairs is None else near / max(1, self._pairs))

    def some(self, chosen: Mask | Numbers) -> CrossRules:
        """Some of them."""
        return CrossRules(self.wording, self.listed.some(chosen), self._pairs)

    def ranked(self, pairs: int) -> CrossRules:
        """The same with their coverage, the highest first."""
        return CrossRules(self.wording, self.listed.best_first(), pairs)

    def denials(self) -> Iterator[str]:
        """Their texts, as they are denial constraints."""
        for some in blocks(self.listed):
            yield from self.wording.texts(some)

    def for_people(self, others: Collection[str]) -> tuple[CrossRules, str]:  # noqa: ARG002
        """Those that enough pairs of rows come near."""
        if self._pairs is None:
            return self, ""
        is_dull = self.listed.near < COVERED * self._pairs
        hidden = int(np.count_nonzero(is_dull))
        return self.some(~is_dull), f"{hidden:,} below {COVERED:.1%} coverage" if hidden else ""
