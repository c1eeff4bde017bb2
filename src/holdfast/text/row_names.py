"""Names of rows in sentences: by the declared key of their table, `Id 17` or `Id 17, Day 2024-01-01`; without a key by
number and some values, `row 17 (Zip 36104, City Montgomery)`.

Texts are quoted where they could be misread. `conditions` reads the same words back, with equals signs between:
`Id=17, Day=2024-01-01`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.errors import BadInput
from holdfast.visible import without_fraction

Values = Mapping[str, Any]  # of a row, by column name; as JSON knows them

_MOST = 4  # columns that name a row without a key
_BARE = re.compile(r"[\w.:+/@-]+")
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_CONDITION = re.compile(rf"\s*({_QUOTED}|[^=,]+?)\s*=\s*({_QUOTED}|[^,]*?)\s*(?:,|\Z)")


def named(numbers: Sequence[int], keys: Sequence[Values], values: Sequence[Values], first: Sequence[str]) -> list[str]:
    """The names of rows, given their numbers, their keys (if the table has one) and their values.

    Without a key, the columns `first`, those that a rule is about, come first.
    """
    if keys or not values:
        return short_names(numbers, keys)
    return [by_values(number, row, first) for number, row in zip(numbers, values, strict=True)]


def short_names(numbers: Sequence[int], keys: Sequence[Values]) -> list[str]:
    """The names of rows in a sentence that has their values anyway: by their keys, or by their numbers."""
    return [by_key(key) for key in keys] or [by_number(number) for number in numbers]


def by_key(key: Values) -> str:
    """The name of a row with a key."""
    return _names_and_values(key, longest=200)


def by_number(number: int) -> str:
    """The name of a row by its number."""
    return f"row {number}"


def by_values(number: int, values: Values, first: Sequence[str] = ()) -> str:
    """The name of a row without a key."""
    some = {name: values[name] for name in naming_columns(list(values), first)}
    return f"{by_number(number)} ({_names_and_values(some, longest=28)})"


def naming_columns(names: Sequence[str], first: Sequence[str] = ()) -> list[str]:
    """The columns that name a row without a key: the last few of those in `first`, as a rule ends with its right side,
    and then others.
    """
    return list(dict.fromkeys([*[name for name in first if name in names][-_MOST:], *names]))[:_MOST]


def listed(names: Sequence[str]) -> str:
    """Some rows in a sentence."""
    return " and ".join(names) if len(names) == 2 else "; ".join(names)


def _names_and_values(values: Values, longest: int) -> str:
    return ", ".join(f"{shown(name, longest)} {shown(value, longest)}" for name, value in values.items())


def shown(value: Any, longest: int) -> str:
    """A value in a name."""
    text = "null" if value is None else without_fraction(str(value))
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    bare = not isinstance(value, str) or (_BARE.fullmatch(value) and value != "null")
    return cut if bare else repr(cut)


def conditions(text: str) -> dict[str, str | None]:
    """The conditions in `Id=17, Day=2024-01-01`: texts by column, None for null."""
    found: dict[str, str | None] = {}
    place = 0
    while place < len(text) or not found:
        match = _CONDITION.match(text, place)
        if match is None:
            raise BadInput(f"{text!r}: write a column and its value, as Id=17, and several as Id=17, Day=2024-01-01")
        column, value = match.groups()
        found[_read(column)] = None if value == "null" else _read(value)
        place = match.end()
    return found


def _read(word: str) -> str:
    if re.fullmatch(_QUOTED, word, re.DOTALL):
        try:
            return str(ast.literal_eval(word))
        except (SyntaxError, ValueError):  # a backslash that means nothing: take the word as it is
            return word[1:-1]
    return word
