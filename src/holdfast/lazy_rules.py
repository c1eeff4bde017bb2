"""Mappings that make their rules when someone asks for them, and hold what these are made from."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, ItemsView, Iterable, Iterator, Mapping, ValuesView
from dataclasses import dataclass
from typing import Protocol, TypeVar

from holdfast.errors import BadInput

V = TypeVar("V")


class Written(Protocol):
    """What has one text form."""

    @property
    def text(self) -> str:
        """The text form."""


W = TypeVar("W", bound=Written)


def as_told(text: str, parse: Callable[[str], W]) -> W:
    """The rule of a text; KeyError where it is none, or is not written as it is told."""
    try:
        rule = parse(text)
    except BadInput:
        raise KeyError(text) from None
    if rule.text != text:
        raise KeyError(text)
    return rule


@dataclass(frozen=True)
class Bound:
    """How many columns left sides may have in the rules of a class and a table (None: any number). Longer rules may
    hold, and are not looked for: so it is part of every result.
    """

    kind: str
    table: str
    max_lhs: int | None

    def __str__(self) -> str:
        return "left sides of any length" if self.max_lhs is None else f"left sides up to {self.max_lhs:,}"


class RulesWhenAsked(Mapping[str, V]):
    """Rules by text, each made when it is read. Those that read all of them get them in one go: looking up one after
    the other would parse each text.
    """

    @abstractmethod
    def rules(self) -> Iterator[V]:
        """The rules in the order of their texts."""

    @property
    def bound(self) -> Bound | None:
        """How long left sides may be, where a class has a bound also if nobody asks for one."""
        return None

    def one_a_class(self) -> Mapping[str, V]:
        """Of rules that say the same in other words one each."""
        return self

    def denials(self) -> Iterator[str]:
        """The rules as denial constraints, where they can be written so; none otherwise."""
        return iter(())

    def untested(self) -> Mapping[str, V]:
        """Those that say of themselves that nothing tests them (`empty`)."""
        return {}

    def for_people(self, beside: Collection[str]) -> tuple[Mapping[str, V], str]:  # noqa: ARG002
        """What a person wants to see of them, beside the findings of some classes; and what is left out, in words."""
        return self, ""

    def written(self, names: Mapping[str, str]) -> Iterator[tuple[str, float | None]]:  # noqa: ARG002
        """The texts in the order of the rules, with other names in place of the columns', and scores where there are
        such; much quicker than to make the rules. Nothing where a class can't do that.
        """
        return iter(())

    def items(self) -> ItemsView[str, V]:
        """Texts with their rules."""
        return _Items(self)

    def values(self) -> ValuesView[V]:
        """The rules."""
        return _Values(self)


def bounds(results: Iterable[Mapping[str, V]]) -> list[Bound]:
    """How long left sides may be in some results, those without a rule included."""
    found = (rules.bound for rules in results if isinstance(rules, RulesWhenAsked))
    return [bound for bound in found if bound is not None]


def with_bound(title: str, rules: Mapping[str, V]) -> str:
    """The title of some rules, with how long left sides may be."""
    return ", ".join([title, *map(str, bounds([rules]))])


def one_a_class(rules: Mapping[str, V]) -> Mapping[str, V]:
    """Of rules that say the same in other words one each."""
    return rules.one_a_class() if isinstance(rules, RulesWhenAsked) else rules


def untested(rules: Mapping[str, V]) -> Mapping[str, V]:
    """Of some rules those that say of themselves that nothing tests them (`empty`)."""
    if isinstance(rules, RulesWhenAsked):
        return rules.untested()
    return {text: rule for text, rule in rules.items() if getattr(rule, "empty", False)}


def for_people(rules: Mapping[str, V], beside: Collection[str]) -> tuple[Mapping[str, V], str]:
    """What a person wants to see of some rules, beside the findings of some classes; and what is left out, in words."""
    return rules.for_people(beside) if isinstance(rules, RulesWhenAsked) else (rules, "")


class _Items(ItemsView[str, V]):
    _mapping: RulesWhenAsked[V]

    def __iter__(self) -> Iterator[tuple[str, V]]:
        return zip(self._mapping, self._mapping.rules(), strict=True)


class _Values(ValuesView[V]):
    _mapping: RulesWhenAsked[V]

    def __iter__(self) -> Iterator[V]:
        return self._mapping.rules()
