"""Results with many rules, which are made when they are read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, ItemsView, Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass
from typing import Protocol, TypeVar

from holdfast.errors import BadInput

V = TypeVar("V")


class Written(Protocol):
    """A value with one text form."""

    @property
    def text(self) -> str:
        """The text form."""


W = TypeVar("W", bound=Written)


def parsed(text: str, parse: Callable[[str], W]) -> W:
    """The rule of a text; KeyError if it is no rule, or not in its text form."""
    try:
        rule = parse(text)
    except BadInput:
        raise KeyError(text) from None
    if rule.text != text:
        raise KeyError(text)
    return rule


@dataclass(frozen=True)
class LhsBound:
    """The most columns of a left side in the rules of a class and a table (None: any number). Longer rules may hold but
    are not searched, so the bound is part of every result.
    """

    kind: str
    table: str
    max_lhs: int | None

    def __str__(self) -> str:
        return "left sides of any length" if self.max_lhs is None else f"left sides up to {self.max_lhs:,}"


class LazyRules(Mapping[str, V]):
    """Rules by text, made when they are read. `values` and `items` make all in one go, as a lookup parses the text."""

    @abstractmethod
    def rules(self) -> Iterator[V]:
        """The rules in the order of their texts."""

    @property
    def bound(self) -> LhsBound | None:
        """The most columns of a left side, where a class always has a bound."""
        return None

    def one_a_class(self) -> Mapping[str, V]:
        """One rule of each set of equivalent rules."""
        return self

    def denials(self) -> Iterator[str]:
        """The rules as denial constraints, where a class can write them so."""
        return iter(())

    def untested(self) -> Mapping[str, V]:
        """The rules that nothing tests (`empty`)."""
        return {}

    def for_people(self, others: Collection[str]) -> tuple[Mapping[str, V], str]:  # noqa: ARG002
        """The rules that people want to see, given the other classes that are shown; and a note on the rest."""
        return self, ""

    def written(self, names: Mapping[str, str]) -> Iterator[tuple[str, float | None]]:  # noqa: ARG002
        """The texts in the order of the rules, with other names for columns, and scores where there are some; much
        quicker than to make the rules. Nothing where a class can't do that.
        """
        return iter(())

    def items(self) -> ItemsView[str, V]:
        """Texts with their rules."""
        return _RuleItems(self)

    def values(self) -> ValuesView[V]:
        """The rules."""
        return _RuleValues(self)


def bounds(results: Iterable[Mapping[str, V]]) -> list[LhsBound]:
    """The bounds of left sides in results, also of those without a rule."""
    found = (rules.bound for rules in results if isinstance(rules, LazyRules))
    return [bound for bound in found if bound is not None]


def with_bound(title: str, rules: Mapping[str, V]) -> str:
    """The title of rules, with the bound of their left sides."""
    return ", ".join([title, *map(str, bounds([rules]))])


def one_a_class(rules: Mapping[str, V]) -> Mapping[str, V]:
    """One rule of each set of equivalent rules."""
    return rules.one_a_class() if isinstance(rules, LazyRules) else rules


def untested(rules: Mapping[str, V]) -> Mapping[str, V]:
    """The rules that nothing tests (`empty`)."""
    if isinstance(rules, LazyRules):
        return rules.untested()
    return {text: rule for text, rule in rules.items() if getattr(rule, "empty", False)}


def for_people(rules: Mapping[str, V], others: Collection[str]) -> tuple[Mapping[str, V], str]:
    """The rules that people want to see, given the other classes that are shown; and a note on the rest."""
    return rules.for_people(others) if isinstance(rules, LazyRules) else (rules, "")


class _RuleItems(ItemsView[str, V]):
    _mapping: LazyRules[V]

    def __iter__(self) -> Iterator[tuple[str, V]]:
        return zip(self._mapping, self._mapping.rules(), strict=True)


class _RuleValues(ValuesView[V]):
    _mapping: LazyRules[V]

    def __iter__(self) -> Iterator[V]:
        return self._mapping.rules()
