"""Rules of targets that hold in contexts, keys and FDs as order dependencies, as mappings that make rules when they are
read: a million are a few words each until then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from holdfast.borders.cover import Listed, Mask, Parts
from holdfast.borders.targets import Targets
from holdfast.engines.found.covers import chosen
from holdfast.lazy_rules import LazyRules, parsed
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.filled import ALWAYS, Filled
from holdfast.rules.error_measures import ErrorName, error_of
from holdfast.rules.rule import Rule
from holdfast.text.quotes import quoted

R = TypeVar("R", bound=Rule)

_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class Wording(ABC, Generic[R]):
    """What the rules of a table need to be put into words: its name, its columns, and what the rules are about."""

    table: str
    names: tuple[str, ...]
    targets: Targets

    @cached_property
    def written(self) -> list[str]:
        """The names of the columns as rules write them."""
        return [quoted(name) for name in self.names]

    @property
    def words(self) -> int:
        """The words of a context."""
        return self.targets.context_words

    @abstractmethod
    def text(self, target: int, context: Sequence[int], written: Sequence[str]) -> str:
        """The text of a rule, where columns are written so."""

    @abstractmethod
    def rule(self, target: int, context: Sequence[int], error: float, figure: int | None, empty: bool) -> R:
        """A rule, with its error, and with the figure by which rules of its class are ranked."""

    @abstractmethod
    def parse(self, text: str) -> R:
        """The rule of a text."""

    @abstractmethod
    def place(self, rule: R) -> tuple[int, Sequence[str]]:
        """The target that a rule is about, and its context."""

    def rule_of(self, rules: Listed) -> R:
        """The first of some rules, without figures."""
        return self.rule(int(rules.targets[0]), bitsets.elements(rules.contexts[0]), 0.0, None, False)

    def needed(self, rules: Listed) -> Words:
        """The columns in which two rows must have values to break a rule: those of its context, and of its pair."""
        if not self.targets.ascending_pairs:
            return rules.contexts
        return rules.contexts | self.targets.sets_of_pairs[rules.targets]

    def texts(self, rules: Listed, written: Sequence[str] | None = None) -> Iterator[str]:
        """The texts of rules; where other names of columns are given, with these."""
        names = self.written if written is None else written
        for begin in range(0, len(rules), _AT_ONCE):
            some = slice(begin, begin + _AT_ONCE)
            contexts = bitsets.elements_of_each(rules.contexts[some])
            for target, context in zip(rules.targets[some].tolist(), contexts, strict=True):
                yield self.text(target, context, names)


class FoundRules(LazyRules[R]):
    """Rules by text, from the parts of their targets, in a table of some rows. `error` is the name of their errors,
    `filled` knows which rules are empty, `listed` is their order where it is another. Nothing here changes later.
    """

    def __init__(
        self,
        wording: Wording[R],
        parts: Parts,
        rows: int,
        error: ErrorName,
        filled: Filled = ALWAYS,
        listed: Listed | None = None,
    ) -> None:
        self.wording, self._rows, self._error, self.filled, self._order = wording, rows, error, filled, listed
        self.parts = {target: part for target, part in parts.items() if len(part)}
        self._texts: list[str] | None = None

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts.values())

    def __iter__(self) -> Iterator[str]:
        return self.wording.texts(self.listed) if self._texts is None else iter(self._texts)

    def with_texts(self) -> list[str]:
        """The texts, which stay from now on: those of a diff are read again and again."""
        if self._texts is None:
            self._texts = list(self.wording.texts(self.listed))
        return self._texts

    def __getitem__(self, text: str) -> R:
        target, context = self.wording.place(parsed(text, self.wording.parse))
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

    def in_order(self, listed: Listed) -> FoundRules[R]:
        """The same rules in another order, perhaps with figures."""
        return FoundRules(self.wording, self.parts, self._rows, self._error, self.filled, listed)

    def with_parts(self, parts: Parts) -> FoundRules[R]:
        """Other rules of the same moment."""
        return FoundRules(self.wording, parts, self._rows, self._error, self.filled)

    @cached_property
    def joined(self) -> Listed:
        """The rules part by part, which takes less time than to put them in order."""
        return Listed.joined(self.parts, self.wording.words)

    def some(self, mask: Mask) -> FoundRules[R]:
        """Those of a mask, which is about the rules part by part."""
        return self.with_parts(chosen(self.parts, mask))

    def tested(self) -> FoundRules[R]:
        """Those that are not empty."""
        return self.some(~self.empty())

    def untested(self) -> FoundRules[R]:
        """Those that are empty."""
        return self.some(self.empty())

    def empty(self) -> Mask:
        """Which rules are empty, part by part."""
        return self.filled.empty(self.wording.needed(self.joined))

    def _made(self, listed: Listed) -> Iterator[R]:
        for begin in range(0, len(listed), _AT_ONCE):
            some = listed.some(np.arange(begin, min(begin + _AT_ONCE, len(listed))))
            broken = [0] * len(some) if some.broken is None else some.broken.tolist()
            figures = [None] * len(some) if some.figures is None else some.figures.tolist()
            contexts = bitsets.elements_of_each(some.contexts)
            empty = self.filled.empty(self.wording.needed(some)).tolist()
            rules = zip(some.targets.tolist(), contexts, broken, figures, empty, strict=True)
            for target, context, count, figure, is_empty in rules:
                error = error_of(count, self._rows, self._error)
                yield self.wording.rule(target, context, error, figure, is_empty)
