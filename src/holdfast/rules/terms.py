"""Terms: the values that rules are made of, the columns that they name, and the same terms with other names or rows.

Each class of terms lists the fields that name columns (`NAMES`): they hold names, tuples of names, or other terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeVar


class Term:
    """A value that names columns in some of its fields."""

    NAMES: ClassVar[tuple[str, ...]] = ()


_P = TypeVar("_P")


def names_of(part: object) -> tuple[str, ...]:
    """The columns that a term names, each once, in the order of mention."""
    return tuple(dict.fromkeys(_names(part)))


def renamed(part: _P, names: Mapping[str, str]) -> _P:
    """The same term after columns were renamed; `names` maps old names to new ones."""
    return changed(part, lambda leaf: names.get(leaf, leaf) if isinstance(leaf, str) else leaf)


def changed(part: _P, change: Callable[[Any], Any]) -> _P:
    """The same term with each name and each term in it replaced by what a function makes of it."""
    return _changed(part, change)  # type: ignore[no-any-return]  # of the same type


def _names(part: object) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, Term):
        for field in part.NAMES:
            yield from _names(getattr(part, field))
    elif isinstance(part, tuple):
        for each in part:
            yield from _names(each)


def _changed(part: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(part, tuple):
        return tuple(_changed(each, change) for each in part)
    if isinstance(part, Term):
        part = replace(part, **{each: _changed(getattr(part, each), change) for each in part.NAMES})  # type: ignore[type-var]
    return change(part)
