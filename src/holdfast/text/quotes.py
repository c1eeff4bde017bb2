"""Names and texts in quotes: in the texts of rules, in SQL, and in commands that a sentence proposes.

Names of tables and columns stand in rules as they are, where they are plain words, all others in double quotes. A quote
within quotes is doubled. Denial constraints also take backticks around names, and have texts in single quotes.
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
_TOLD = re.compile(rf"{_TEXT}|(?:{NAME}\s*\.\s*)?(?P<name>{NAME})")


@lru_cache(maxsize=4096)
def quoted(name: str) -> str:
    """A name as rules write it."""
    return name if _PLAIN.fullmatch(name) else in_quotes(name)


def in_quotes(text: str, quote: str = '"') -> str:
    """A text between quotes."""
    return quote + text.replace(quote, quote + quote) + quote


def command(*words: object) -> str:
    """A command line of ours, as a shell takes it.

    >>> command("init", "my state", "SOURCE")
    "holdfast init 'my state' SOURCE"
    """
    return f"holdfast {shlex.join(map(str, words))}"


def names_in(text: str) -> list[str]:
    """The names that the text of a rule may mean columns by, each once; other words are among them.

    >>> names_in("not(t.zip = s.zip and t.city != 'a b')")
    ['not', 'zip', 'and', 'city']
    """
    return list(dict.fromkeys(unquoted(each["name"]) for each in _TOLD.finditer(text) if each["name"]))


def unquoted(written: str) -> str:
    """What a plain word, or a text between quotes of any kind, stands for."""
    quote = written[:1]
    return written[1:-1].replace(quote + quote, quote) if quote in ('"', "'", "`") else written
