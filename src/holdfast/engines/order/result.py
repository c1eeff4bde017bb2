"""Results as mappings that make their rules when asked: a hundred thousand are a few words each until someone reads
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.parts import Numbers, Part
from holdfast.borders.targets import Targets
from holdfast.changes.asked import RulesWhenAsked, as_told
from holdfast.changes.names import quoted
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.filled import ALWAYS, Filled
from holdfast.rules.order import Canonical, Compatible, Constant, Direction, compatible_text, constant_text, parse

_AT_ONCE = 1 << 14


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
class Wording:
    """What the rules of a table need to be put into words: its name, its columns, and what targets stand for."""

    table: str
    names: tuple[str, ...]
    targets: Targets

    @cached_property
    def written(self) -> list[str]:
        """The names of the columns as rules write them."""
        return [quoted(name) for name in self.names]

    def direction(self, target: int) -> Direction:
        """How the columns of a pair go together."""
        return "desc" if self.targets.is_descending(target) else "asc"

    def text(self, target: int, context: Sequence[int]) -> str:
        """The text of a rule."""
        own, columns = [self.written[c] for c in context], columns_by_target(self.targets)[target]
        if len(columns) == 1:
            return constant_text(own, self.written[columns[0]])
        one, other = (self.written[c] for c in columns)
        return compatible_text(own, one, other, self.direction(target))

    def rule(self, target: int, context: Sequence[int], error: float, score: int | None, empty: bool) -> Canonical:
        """A rule."""
        own, columns = tuple([self.names[c] for c in context]), columns_by_target(self.targets)[target]
        if len(columns) == 1:
            return Constant(self.table, own, self.names[columns[0]], error, score, empty)
        one, other = (self.names[c] for c in columns)
        return Compatible(self.table, own, (one, other), self.direction(target), error, score, empty)

    def target_of(self, rule: Canonical) -> int:
        """The target that a rule is about."""
        if isinstance(rule, Constant):
            return self.names.index(rule.column)
        one, other = (self.names.index(name) for name in rule.pair)
        return (self.targets.ascending if rule.direction == "asc" else self.targets.descending)(one, other)


@dataclass(frozen=True, eq=False)
class Listed:
    """Rules in the order in which they are told: target, context, rows to remove, and score, unless nobody asked."""

    targets: Numbers
    contexts: Words
    removed: Numbers | None = None
    scores: Numbers | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def some(self, chosen: NDArray[np.bool_] | Numbers) -> Listed:
        """Some of them, or all in another order."""
        more = (None if each is None else each[chosen] for each in (self.removed, self.scores))
        return Listed(self.targets[chosen], self.contexts[chosen], *more)

    @staticmethod
    def of(parts: Mapping[int, Part], words: int) -> Listed:
        """The rules of some parts: target by target, short contexts first."""
        chosen = {target: part for target, part in sorted(parts.items()) if len(part)}
        targets = np.repeat(np.fromiter(chosen, np.int64), [len(part) for part in chosen.values()])
        contexts = np.concatenate([np.empty((0, words), np.uint64), *(part.sets for part in chosen.values())])
        removed = [part.broken for part in chosen.values() if part.broken is not None]
        listed = Listed(targets, contexts, np.concatenate(removed) if removed else None)
        return listed.some(np.lexsort((*contexts.T, bitsets.sizes(contexts), targets)))

    def empty(self, filled: Filled, targets: Targets) -> NDArray[np.bool_]:
        """Which of them are empty."""
        return filled.empty(self.contexts | pairs_of_targets(targets)[self.targets])

    def best_first(self, scores: Numbers) -> Listed:
        """The same by score, the highest first; those of equal scores stay in their order."""
        return replace(self, scores=scores).some(np.argsort(-scores, kind="stable"))


class Rules(RulesWhenAsked[Canonical]):
    """Rules by text, of a table of so many rows; `filled` tells which of them are empty. Nothing here changes later."""

    def __init__(self, wording: Wording, listed: Listed, rows: int, filled: Filled = ALWAYS) -> None:
        self.wording, self.listed, self._rows, self._filled = wording, listed, rows, filled

    def __len__(self) -> int:
        return len(self.listed)

    def __iter__(self) -> Iterator[str]:
        return (self.wording.text(target, context) for target, context, *_ in self._each())

    def __getitem__(self, text: str) -> Canonical:
        wording, listed = self.wording, self.listed
        rule = as_told(text, lambda text: parse(text, wording.names, wording.table))
        context = [wording.names.index(name) for name in rule.context]
        mine = listed.targets == wording.target_of(rule)
        mine &= (listed.contexts == bitsets.of(context, listed.contexts.shape[1])).all(axis=1)
        for found in self._some(mine).rules():
            return found
        raise KeyError(text)

    def rules(self) -> Iterator[Canonical]:
        """The rules in their order."""
        for target, context, removed, score, empty in self._each():
            yield self.wording.rule(target, context, removed / self._rows if removed else 0.0, score, empty)

    def untested(self) -> Rules:
        """Those that are empty."""
        return self._some(self.listed.empty(self._filled, self.wording.targets))

    def _some(self, chosen: NDArray[np.bool_]) -> Rules:
        return Rules(self.wording, self.listed.some(chosen), self._rows, self._filled)

    def _each(self) -> Iterator[tuple[int, list[int], int, int | None, bool]]:
        """Target, context, rows to remove and score of each rule, and whether it is empty."""
        for begin in range(0, len(self), _AT_ONCE):
            some = self.listed.some(np.arange(begin, min(begin + _AT_ONCE, len(self))))
            removed = [0] * len(some) if some.removed is None else some.removed.tolist()
            scores = [None] * len(some) if some.scores is None else some.scores.tolist()
            contexts = bitsets.elements_of_each(some.contexts)
            empty = some.empty(self._filled, self.wording.targets).tolist()
            yield from zip(some.targets.tolist(), contexts, removed, scores, empty, strict=True)
