"""Rules of targets that hold in contexts, keys and FDs as order dependencies, as mappings that make rules when asked: a
million are a few words each until someone reads them; and what changed in them between two moments.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.parts import Numbers, Part
from holdfast.changes.diff import Diff, Finding
from holdfast.lazy_rules import RulesWhenAsked, as_told
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.filled import ALWAYS, Filled
from holdfast.rules.rule import Rule
from holdfast.text.quotes import quoted

Marks = NDArray[np.bool_]
R = TypeVar("R", bound=Rule)

_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class Listed:
    """Rules in the order in which they are listed: target, context, what breaks them (None: nothing does), and score
    (None: nobody asked).
    """

    targets: Numbers
    contexts: Words
    broken: Numbers | None = None
    scores: Numbers | None = None

    def __len__(self) -> int:
        return len(self.targets)

    def some(self, chosen: Marks | Numbers) -> Listed:
        """Some of them, or all in another order."""
        more = (None if each is None else each[chosen] for each in (self.broken, self.scores))
        return Listed(self.targets[chosen], self.contexts[chosen], *more)

    @staticmethod
    def joined(parts: Mapping[int, Part], words: int) -> Listed:
        """The rules of some parts, one part after the other; each context has `words` words."""
        targets = np.repeat(np.fromiter(parts, np.int64), [len(part) for part in parts.values()])
        contexts = np.concatenate([np.empty((0, words), np.uint64), *(part.sets for part in parts.values())])
        broken = [part.broken for part in parts.values() if part.broken is not None]
        return Listed(targets, contexts, np.concatenate(broken) if broken else None)

    @staticmethod
    def of(parts: Mapping[int, Part], words: int) -> Listed:
        """The same target by target, short contexts first."""
        listed = Listed.joined(parts, words)
        return listed.some(np.lexsort((*listed.contexts.T, bitsets.sizes(listed.contexts), listed.targets)))

    def shortest_first(self) -> Listed:
        """The same, the shortest of all first; those with equal contexts follow one another."""
        return self.some(np.lexsort((self.targets, *self.contexts.T, bitsets.sizes(self.contexts))))

    def best_first(self, scores: Numbers) -> Listed:
        """The same by score, the highest first; those of equal scores stay in their order."""
        return replace(self, scores=scores).some(np.argsort(-scores, kind="stable"))


@dataclass(frozen=True)
class Wording(ABC, Generic[R]):
    """What the rules of a table need to be put into words: its name, and its columns."""

    table: str
    names: tuple[str, ...]

    @cached_property
    def written(self) -> list[str]:
        """The names of the columns as rules write them."""
        return [quoted(name) for name in self.names]

    @property
    def words(self) -> int:
        """The words of a context."""
        return bitsets.words_for(len(self.names) + 1)

    @abstractmethod
    def text(self, target: int, context: Sequence[int], written: Sequence[str]) -> str:
        """The text of a rule, where columns are written so."""

    @abstractmethod
    def rule(self, target: int, context: Sequence[int], error: float, score: int | None, empty: bool) -> R:
        """A rule."""

    @abstractmethod
    def parse(self, text: str) -> R:
        """The rule of a text."""

    @abstractmethod
    def place(self, rule: R) -> tuple[int, Sequence[str]]:
        """The target that a rule is about, and its context."""

    def needed(self, rules: Listed) -> Words:
        """The columns in which two rows must have values to break a rule."""
        return rules.contexts

    def texts(self, rules: Listed, written: Sequence[str] | None = None) -> Iterator[str]:
        """The texts of rules; where other names of columns are given, with these."""
        names = self.written if written is None else written
        for begin in range(0, len(rules), _AT_ONCE):
            some = slice(begin, begin + _AT_ONCE)
            contexts = bitsets.elements_of_each(rules.contexts[some])
            for target, context in zip(rules.targets[some].tolist(), contexts, strict=True):
                yield self.text(target, context, names)

    def texts_of(self, target: int, contexts: Words) -> Iterator[str]:
        """The texts of rules of one target."""
        return self.texts(Listed(np.full(len(contexts), target), contexts))


class Rules(RulesWhenAsked[R]):
    """Rules by text, from the parts of their targets. `whole` is what errors are shares of, `filled` tells which rules
    are empty, `listed` is their order where it is another. Nothing here changes later.
    """

    def __init__(
        self,
        wording: Wording[R],
        parts: Mapping[int, Part],
        whole: int,
        filled: Filled = ALWAYS,
        listed: Listed | None = None,
    ) -> None:
        self.wording, self._whole, self.filled, self._order = wording, whole, filled, listed
        self.parts = {target: part for target, part in parts.items() if len(part)}

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts.values())

    def __iter__(self) -> Iterator[str]:
        return self.wording.texts(self.listed)

    def __getitem__(self, text: str) -> R:
        target, context = self.wording.place(as_told(text, self.wording.parse))
        own = bitsets.of([self.wording.names.index(name) for name in context], self.wording.words)
        part = {target: self.parts[target]} if target in self.parts else {}
        listed = self._order or Listed.joined(part, self.wording.words)  # to put all in order would take long
        for found in self._made(listed.some((listed.targets == target) & (listed.contexts == own).all(axis=1))):
            return found
        raise KeyError(text)

    @cached_property
    def listed(self) -> Listed:
        """The rules in their order: target by target, short contexts first, unless another one was given."""
        return Listed.of(self.parts, self.wording.words) if self._order is None else self._order

    def rules(self) -> Iterator[R]:
        """The rules in their order."""
        return self._made(self.listed)

    def in_order(self, listed: Listed) -> Rules[R]:
        """The same rules in another order, perhaps with scores."""
        return Rules(self.wording, self.parts, self._whole, self.filled, listed)

    def with_parts(self, parts: Mapping[int, Part]) -> Rules[R]:
        """Other rules of the same moment."""
        return Rules(self.wording, parts, self._whole, self.filled)

    def some(self, marks: Mapping[int, Marks]) -> Rules[R]:
        """Those of some targets that are marked."""
        return self.with_parts({target: self.parts[target].some(chosen) for target, chosen in marks.items()})

    def tested(self) -> Rules[R]:
        """Those that are not empty."""
        return self.some({target: ~empty for target, empty in self.empty().items()})

    def untested(self) -> Rules[R]:
        """Those that are empty."""
        return self.some(self.empty())

    def empty(self) -> dict[int, Marks]:
        """Which rules of each target are empty."""
        empty = self.filled.empty(self.wording.needed(Listed.joined(self.parts, self.wording.words)))
        ends = np.cumsum([0, *(len(part) for part in self.parts.values())]).tolist()
        return {target: empty[begin:end] for target, (begin, end) in zip(self.parts, pairwise(ends), strict=True)}

    def among(self, others: Mapping[int, Part]) -> dict[int, Marks]:
        """Which rules of each target are among others."""
        return {
            target: bitsets.among(part.sets, others[target].sets if target in others else part.sets[:0])
            for target, part in self.parts.items()
        }

    def _made(self, listed: Listed) -> Iterator[R]:
        for begin in range(0, len(listed), _AT_ONCE):
            some = listed.some(np.arange(begin, min(begin + _AT_ONCE, len(listed))))
            broken = [0] * len(some) if some.broken is None else some.broken.tolist()
            scores = [None] * len(some) if some.scores is None else some.scores.tolist()
            contexts = bitsets.elements_of_each(some.contexts)
            empty = self.filled.empty(self.wording.needed(some)).tolist()
            told = zip(some.targets.tolist(), contexts, broken, scores, empty, strict=True)
            for target, context, count, score, mark in told:
                yield self.wording.rule(target, context, count / self._whole if count else 0.0, score, mark)


def difference(before: Rules[R], after: Rules[R], lost: Mapping[int, Part], gained: Mapping[int, Part]) -> Diff:
    """The diff of two moments, given what was lost and gained: also rules that stayed, and whose error is another, or
    that are empty now, or no longer.
    """
    return Diff(after.with_parts(gained), before.with_parts(lost), _changed(before, after))


def minus(some: Mapping[int, Part], others: Mapping[int, Part], targets: Iterable[int]) -> dict[int, Part]:
    """Of some targets the rules that are not among others."""
    none = Part(np.empty((0, 0), np.uint64))
    found = {}
    for target in targets:
        part, other = some.get(target, none), others.get(target, none)
        found[target] = part.some(~bitsets.among(part.sets, other.sets)) if len(part) and len(other) else part
    return found


def _changed(before: Rules[R], after: Rules[R]) -> dict[str, tuple[Finding, Finding]]:
    is_exact = all(part.broken is None for rules in (before, after) for part in rules.parts.values())
    if is_exact and before.filled is after.filled:
        return {}
    stayed = before.some(before.among(after.parts))
    if not is_exact:
        now = after.some(after.among(before.parts))
    else:  # nothing but that they are empty may differ
        is_empty = after.with_parts(stayed.parts).empty()
        stayed = stayed.some({target: marks != is_empty[target] for target, marks in stayed.empty().items()})
        now = after.with_parts(stayed.parts)
    pairs = zip(stayed.items(), now.values(), strict=True)
    return {text: (old, new) for (text, old), new in pairs if old != new}
