"""Found rules as mappings that make rules when they are read: a million are a few words each until then. And those of
targets that hold in contexts: keys, FDs, order dependencies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

from holdfast.borders.cover import Listed, Mask, Numbers, Parts
from holdfast.borders.targets import Targets
from holdfast.engines.found.covers import chosen
from holdfast.lazy_rules import LazyRules, parsed
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.filled import ALWAYS, Filled
from holdfast.rules.error_measures import ErrorName, error_of
from holdfast.rules.rule import Rule
from holdfast.text.quotes import quoted

_AT_ONCE = 1 << 14


class RuleList(Protocol):
    """Rules as arrays, in an order."""

    def __len__(self) -> int: ...

    def some(self, chosen: Mask | Numbers) -> Self:
        """Some of them, or all in another order."""

    @property
    def keys(self) -> Words:
        """Rules as rows of words: two are equal iff the rules are."""


R = TypeVar("R", bound=Rule)
L = TypeVar("L", bound=RuleList)


def blocks(rules: L) -> Iterator[L]:
    """Rules, not too many at a time."""
    for begin in range(0, len(rules), _AT_ONCE):
        yield rules.some(np.arange(begin, min(begin + _AT_ONCE, len(rules))))


@dataclass(frozen=True)
class Wording(ABC, Generic[R, L]):
    """What the rules of a table need to be put into words: its name, and its columns."""

    table: str
    names: tuple[str, ...]

    @abstractmethod
    def texts(self, rules: L) -> Iterator[str]:
        """The texts of rules."""

    @abstractmethod
    def parse(self, text: str) -> R:
        """The rule of a text."""

    @abstractmethod
    def alone(self, rule: R) -> L:
        """A rule as a list of one."""


class ListedRules(LazyRules[R], Generic[R, L]):
    """Rules by text, from arrays. Nothing here changes later."""

    wording: Wording[R, L]
    listed: L  # the rules in their order
    _texts: list[str] | None = None

    @abstractmethod
    def made(self, some: L) -> Iterator[R]:
        """Some of the rules."""

    def __len__(self) -> int:
        return len(self.listed)

    def __iter__(self) -> Iterator[str]:
        return self.wording.texts(self.listed) if self._texts is None else iter(self._texts)

    def with_texts(self) -> list[str]:
        """The texts, which stay from now on: those of a diff are read again and again."""
        if self._texts is None:
            self._texts = list(self.wording.texts(self.listed))
        return self._texts

    def __getitem__(self, text: str) -> R:
        wanted = self.wording.alone(parsed(text, self.wording.parse))
        near = self._near(wanted)
        for found in self.made(near.some((near.keys == wanted.keys).all(axis=1))):
            return found
        raise KeyError(text)

    def _near(self, wanted: L) -> L:  # noqa: ARG002
        """The rules among which one of a list of one is, if it is there."""
        return self.listed

    def rules(self) -> Iterator[R]:
        """The rules in their order."""
        for some in blocks(self.listed):
            yield from self.made(some)


@dataclass(frozen=True)
class ContextWording(Wording[R, Listed]):
    """Also the targets that the rules are about."""

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
    def place(self, rule: R) -> tuple[int, Sequence[str]]:
        """The target that a rule is about, and its context."""

    def alone(self, rule: R) -> Listed:
        """A rule as a list of one."""
        target, context = self.place(rule)
        columns = [self.names.index(name) for name in context]
        return Listed(np.array([target]), bitsets.of(columns, self.words)[None])

    def needed(self, rules: Listed) -> Words:
        """The columns in which two rows must have values to break a rule: those of its context, and of its pair."""
        if not self.targets.ascending_pairs:
            return rules.contexts
        return rules.contexts | self.targets.sets_of_pairs[rules.targets]

    def texts(self, rules: Listed, written: Sequence[str] | None = None) -> Iterator[str]:
        """The texts of rules; where other names of columns are given, with these."""
        names = self.written if written is None else written
        for some in blocks(rules):
            contexts = bitsets.elements_of_each(some.contexts)
            for target, context in zip(some.targets.tolist(), contexts, strict=True):
                yield self.text(target, context, names)


class FoundRules(ListedRules[R, Listed]):
    """Rules by text, from the parts of their targets, in a table of some rows. `error` is the name of their errors,
    `filled` knows which rules are empty, `listed` is their order where it is another.
    """

    wording: ContextWording[R]

    def __init__(
        self,
        wording: ContextWording[R],
        parts: Parts,
        rows: int,
        error: ErrorName,
        filled: Filled = ALWAYS,
        listed: Listed | None = None,
    ) -> None:
        self.wording, self._rows, self._error, self.filled, self._order = wording, rows, error, filled, listed
        self.parts = {target: part for target, part in parts.items() if len(part)}

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts.values())

    def _near(self, wanted: Listed) -> Listed:
        """Those of the target; to put all in order would take long."""
        target = int(wanted.targets[0])
        part = {target: self.parts[target]} if target in self.parts else {}
        return self._order or Listed.joined(part, self.wording.words)

    @cached_property
    def listed(self) -> Listed:  # type: ignore[override]  # put in order when somebody reads them
        """The rules in their order: target by target, short contexts first, unless another one was given."""
        return Listed.of(self.parts, self.wording.words) if self._order is None else self._order

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

    def made(self, some: Listed) -> Iterator[R]:
        """Some of the rules."""
        broken = [0] * len(some) if some.broken is None else some.broken.tolist()
        figures = [None] * len(some) if some.figures is None else some.figures.tolist()
        contexts = bitsets.elements_of_each(some.contexts)
        empty = self.filled.empty(self.wording.needed(some)).tolist()
        rules = zip(some.targets.tolist(), contexts, broken, figures, empty, strict=True)
        for target, context, count, figure, is_empty in rules:
            error = error_of(count, self._rows, self._error)
            yield self.wording.rule(target, context, error, figure, is_empty)
