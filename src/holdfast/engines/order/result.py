"""How order dependencies are put into words, and what their targets stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from holdfast.borders.targets import Targets
from holdfast.engines import contexts
from holdfast.engines.contexts import Listed
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.rules.order import Canonical, Compatible, Constant, Direction, compatible_text, constant_text, parse

Rules = contexts.Rules[Canonical]


@lru_cache(maxsize=8)
def columns_by_target(targets: Targets) -> list[tuple[int, ...]]:
    """The columns of each target, as `Targets.columns_of` tells them one by one."""
    every = range(targets.columns)
    pairs = list(combinations(every, 2))
    return [*((column,) for column in every), (), *pairs, *pairs]


@lru_cache(maxsize=8)
def pairs_of_targets(targets: Targets) -> Words:
    """The columns that the rows of a group are compared in by each target of two columns, as a set; none of others."""
    own = (columns if len(columns) > 1 else () for columns in columns_by_target(targets))
    return np.array([bitsets.of(columns, targets.context_words) for columns in own])


@dataclass(frozen=True)
class Wording(contexts.Wording[Canonical]):
    """What order dependencies need to be put into words; `targets` tells what they are about."""

    targets: Targets

    def direction(self, target: int) -> Direction:
        """How the columns of a pair go together."""
        return "desc" if self.targets.is_descending(target) else "asc"

    def text(self, target: int, context: Sequence[int], written: Sequence[str]) -> str:
        """The text of a rule."""
        own, columns = [written[c] for c in context], columns_by_target(self.targets)[target]
        if len(columns) == 1:
            return constant_text(own, written[columns[0]])
        one, other = (written[c] for c in columns)
        return compatible_text(own, one, other, self.direction(target))

    def rule(self, target: int, context: Sequence[int], error: float, score: int | None, empty: bool) -> Canonical:
        """A rule."""
        own, columns = tuple([self.names[c] for c in context]), columns_by_target(self.targets)[target]
        if len(columns) == 1:
            return Constant(self.table, own, self.names[columns[0]], error=error, score=score, empty=empty)
        one, other = (self.names[c] for c in columns)
        pair, direction = (one, other), self.direction(target)
        return Compatible(self.table, own, pair, direction, error=error, score=score, empty=empty)

    def parse(self, text: str) -> Canonical:
        """The rule of a text."""
        return parse(text, self.names, self.table)

    def place(self, rule: Canonical) -> tuple[int, Sequence[str]]:
        """The target that a rule is about, and its context."""
        if isinstance(rule, Constant):
            return self.names.index(rule.column), rule.context
        one, other = (self.names.index(name) for name in rule.pair)
        number = self.targets.ascending if rule.direction == "asc" else self.targets.descending
        return number(one, other), rule.context

    def needed(self, rules: Listed) -> Words:
        """The columns of contexts and of pairs."""
        return rules.contexts | pairs_of_targets(self.targets)[rules.targets]
