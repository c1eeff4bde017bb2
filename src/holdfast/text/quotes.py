"""Names and texts in quotes: in the texts of rules, in SQL, and in commands that a sentence proposes.

In rules, names of tables and columns that are plain words have no quotes, all others have double quotes. A quote inside
is doubled. Denial constraints also accept backticks around names, and have texts in single quotes.
"""

from __future__ import annotations

import re
import shlex
from functools import lru_cache


def between(quote: str) -> str:
    """The pattern of a text in quotes."""
    return f"{quote}(?:[^{quote}]|{quote}{quote})*+{quote}"


WORD = r"[^\W\d]\w*"  # the pattern of a plain word
QUOTED = between('"')
NAME = f"(?:{WORD}|{QUOTED})"

_PLAIN = re.compile(WORD)
_TEXT = between("'")
_LISTED = re.compile(rf"\s*{QUOTED}\s*|[^,]+")
_NAMED = re.compile(rf"{_TEXT}|(?:{NAME}\s*\.\s*)?(?P<name>{NAME})")


@lru_cache(maxsize=4096)
def quoted(name: str) -> str:
    """A name as rules write it."""
    return name if _PLAIN.fullmatch(name) else in_quotes(name)


def in_quotes(text: str, quote: str = '"') -> str:
    """A text between quotes."""
    return quote + text.replace(quote, quote + quote) + quote


def command(*words: object) -> str:
    """A Holdfast command, quoted for a shell.

    >>> command("init", "my state", "SOURCE")
    "holdfast init 'my state' SOURCE"
    """
    return f"holdfast {shlex.join(map(str, words))}"


def names_in(text: str) -> list[str]:
    """The words in the text of a rule that may be names of columns, each once.

    >>> names_in("not(t.zip = s.zip and t.city != 'a b')")
    ['not', 'zip', 'and', 'city']
    """
    return list(dict.fromkeys(unquoted(each["name"]) for each in _NAMED.finditer(text) if each["name"]))


def listed_names(text: str) -> list[str]:
    """Names with commas between them, perhaps in quotes.

    >>> listed_names('Low, "Highest, ever"')
    ['Low', 'Highest, ever']
    """
    return [unquoted(each.strip()) for each in _LISTED.findall(text) if each.strip()]


def unquoted(written: str) -> str:
    """The name or text without its quotes."""
    quote = written[:1]
    return written[1:-1].replace(quote + quote, quote) if quote in ('"', "'", "`") else written
