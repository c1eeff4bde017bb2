"""Names of rules: those that are made from their texts, and whether a name is shown beside a text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from holdfast.rules.registry import CLASSES

_LONGEST = 60
_NOT_WORDS = re.compile(r"[^\w]+")
_NUMBER = re.compile(r"(?:-\d+)?")


def name_of(words: Iterable[str]) -> str:
    """The name that some words make.

    >>> name_of(["Zip -> City"])
    'zip-city'
    """
    plain = (_NOT_WORDS.sub("-", word).strip("-_").lower() for word in words)
    return "-".join(filter(None, plain))[:_LONGEST].rstrip("-") or "rule"


def says_more(name: str, text: str) -> bool:
    """Whether a name says more than the text of its rule: it is neither made from the text nor from a number.

    >>> says_more("zip-city-2", "Zip -> City"), says_more("fd1", "Zip -> City"), says_more("one-city", "Zip -> City")
    (False, False, True)
    """
    made, numbered = name_of([text]), {each.prefix for each in CLASSES} | {"rule"}
    is_made = name.startswith(made) and _NUMBER.fullmatch(name[len(made) :])
    return name not in ("", text) and not is_made and name.rstrip("0123456789") not in numbered


def titled(name: str, text: str) -> str:
    """A rule in a list: its text, and before it its name where that says more.

    >>> titled("zip-city", "Zip -> City"), titled("one-city", "Zip -> City")
    ('Zip -> City', 'one-city: Zip -> City')
    """
    return f"{name}: {text}" if says_more(name, text) else text


def called(name: str, text: str) -> str:
    """A rule in a sentence: its name where that says more, otherwise its text."""
    return name if says_more(name, text) else text
