"""Mappings that are made when someone asks for the first of their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TypeVar

V = TypeVar("V")


class WhenAsked(Mapping[str, V]):
    """Values by the text of a rule, made when the first is asked for."""

    def __init__(self, make: Callable[[], Mapping[str, V]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Mapping[str, V]:
        made = self._make()
        del self._make  # and with it the table
        return made

    def __getitem__(self, text: str) -> V:
        return self._made[text]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __repr__(self) -> str:
        return repr(self._made)
