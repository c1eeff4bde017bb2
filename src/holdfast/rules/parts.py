"""Which columns a rule names, and the same rule with other names or rows: from one declaration a class.

Each value that names columns lists the fields in which it does so (`NAMES`): names, tuples of names, or values that
list fields of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeVar


class Part:
    """A value that names columns in some of its fields."""

    NAMES: ClassVar[tuple[str, ...]] = ()


_P = TypeVar("_P")


def names_of(part: object) -> tuple[str, ...]:
    """The columns that a value names, each once, in the order of mention."""
    return tuple(dict.fromkeys(_names(part)))


def renamed(part: _P, names: Mapping[str, str]) -> _P:
    """The same value with new names of columns, given by their old ones."""
    return changed(part, lambda leaf: names.get(leaf, leaf) if isinstance(leaf, str) else leaf)


def changed(part: _P, change: Callable[[Any], Any]) -> _P:
    """The same value with other leaves: what a function makes of each name, and of each value that names columns."""
    return _changed(part, change)  # type: ignore[no-any-return]  # of the same type


def _names(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, Part):
        for field in part.NAMES:
            yield from _names(getattr(part, field))
    elif isinstance(part, tuple):
        for each in part:
            yield from _names(each)


def _changed(part: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(part, tuple):
        return tuple(_changed(each, change) for each in part)
    if isinstance(part, Part):
        part = replace(part, **{each: _changed(getattr(part, each), change) for each in part.NAMES})  # type: ignore[type-var]
    return change(part)
