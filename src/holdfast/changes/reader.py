"""Reads the texts of rules token by token: names of columns, and the marks between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from holdfast.changes.names import QUOTED, WORD, quoted, unquoted
from holdfast.errors import BadInput

Token = tuple[str, str]  # its kind (word, quoted or mark) and its value

END: Token = ("mark", "")
_BRACED = re.compile(rf'\s*\{{(?:{QUOTED}|[^}}"])*+\}}\s*(:|->)')


def token_pattern(marks: str) -> re.Pattern[str]:
    """The pattern of a token, given that of a mark."""
    return re.compile(rf"\s*(?:(?P<word>{WORD})|(?P<quoted>{QUOTED})|(?P<mark>{marks}))")


def follows_braces(text: str) -> str:
    """What stands behind the braces that a text starts with: `:` or `->`, or nothing of both."""
    found = _BRACED.match(text)
    return found[1] if found else ""


@dataclass
class Reader:
    """Reads a text from left to right. A class of rules brings its tokens; `hint`, which says how its rules are
    written, ends the sentences about what is wrong.
    """

    text: str
    hint: str
    tokens: list[Token] = field(init=False)
    at: int = field(init=False, default=0)

    pattern: ClassVar[re.Pattern[str]]

    def __post_init__(self) -> None:
        """Take the text apart."""
        self.tokens = list(self._split())

    def names(self, until: str) -> tuple[str, ...]:
        """Names with commas between, none of them twice, up to a mark."""
        found: list[str] = []
        while self.peek() != ("mark", until):
            if found:
                self.expect(",")
            name = self.name()
            if name in found:
                raise BadInput(f"{self.text!r}: the column {name!r} is there twice; leave one out")
            found.append(name)
        return tuple(found)

    def name(self) -> str:
        """Go past a name, which must be here."""
        kind, value = self.peek()
        if kind == "mark":
            raise self.wrong("a column name")
        self.at += 1
        return value

    def expect(self, mark: str) -> None:
        """Go past a mark that must be here; "" is the end."""
        if self.peek() != ("mark", mark):
            raise self.wrong(repr(mark) if mark else "the end")
        self.at += 1

    def peek(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    def wrong(self, wanted: str) -> BadInput:
        """What is wrong here."""
        return BadInput(f"{self.text!r}: expected {wanted} {self.here()}; {self.hint}")

    def here(self) -> str:
        """Where the reader is, in words."""
        return f"where {self.peek()[1] or 'the end'!r} stands"

    def advice_on_names(self) -> str:
        """What to do about a text that has no tokens."""
        return "put names that aren't plain words in double quotes"

    def _split(self) -> Iterator[Token]:
        """All tokens, and the end. What stands in quotes is a name, even where it is a word that means something."""
        at, end = 0, len(self.text.rstrip())
        while at < end:
            found = self.pattern.match(self.text, at)
            if found is None:
                rest = self.text[at:].strip()
                raise BadInput(f"{self.text!r}: cannot read {rest[:20]!r}; {self.advice_on_names()}")
            kind = str(found.lastgroup)
            yield kind, unquoted(found[kind])
            at = found.end()
        yield END


def refuse_unknown(text: str, mentioned: Sequence[str], names: Sequence[str]) -> None:
    """Say so where a rule mentions a column that its table lacks."""
    for name in mentioned:
        if name not in names:
            raise BadInput(f"{text!r}: there is no column {name!r}; choose from: {', '.join(map(quoted, names))}")


def in_table_order(mentioned: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Columns of a table in its order."""
    return tuple(sorted(mentioned, key=names.index))
