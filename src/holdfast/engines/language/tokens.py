"""Reads the texts of rules token by token, with errors that point at the character."""

from __future__ import annotations

import datetime as dt
import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from holdfast.changes.names import unquoted
from holdfast.engines.language.constants import Constant, read_date, read_time, read_timestamp
from holdfast.errors import BadInput
from holdfast.search.queries import Operator

OPERATORS: Mapping[str, Operator] = {
    "=": "=",
    "==": "=",
    "!=": "!=",
    "<>": "!=",
    "≠": "!=",
    "<": "<",
    "<=": "<=",
    "≤": "<=",
    ">": ">",
    ">=": ">=",
    "≥": ">=",
}
_WORDS = {"true": True, "false": False, "nan": math.nan, "inf": math.inf, "infinity": math.inf}
_MOMENTS: Mapping[str, tuple[Callable[[str], dt.date | dt.datetime | dt.time | None], str]] = {
    "date": (read_date, "YYYY-MM-DD"),
    "timestamp": (read_timestamp, "YYYY-MM-DD HH:MM:SS"),
    "time": (read_time, "HH:MM:SS"),
}
_LONGEST_NUMBER = 4000


@dataclass(frozen=True)
class Token:
    """A piece of a text, and where it begins."""

    kind: str
    text: str
    at: int

    @property
    def word(self) -> str:
        """What it means as a keyword or mark; nothing for text and quoted names."""
        return self.text.lower() if self.kind in ("word", "mark") else ""


class Tokens:
    """The tokens of one rule, read from left to right; `last` is what was read last, as errors cite it. A class of
    rules brings the pattern of a token, with a named group for each kind: space, number, word, string, quoted or mark.
    """

    pattern: ClassVar[re.Pattern[str]]

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._scan()
        self._next = 0
        self.last = ""

    @property
    def peek(self) -> Token:
        """The next token."""
        return self._tokens[self._next]

    @property
    def after(self) -> Token:
        """The one after it."""
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    def take(self) -> Token:
        """Go past the next token."""
        token = self._tokens[self._next]
        self._next += 1
        self.last = token.text
        return token

    def number(self) -> Constant:
        """The number that comes next."""
        token = self.take()
        value = _number(token)
        if value is None:
            raise self.error(token, "this number is too large or too small to be held")
        return Constant(value)

    def named_constant(self, token: Token) -> Constant | None:
        """The constant that a word just read begins: `true`, `NaN`, `DATE '…'`; None where it begins none."""
        if token.word in _WORDS:
            return Constant(_WORDS[token.word])
        if token.word not in _MOMENTS or self.peek.kind != "string":
            return None
        read, form = _MOMENTS[token.word]
        written = self.take()
        self.last = f"{token.text} {written.text}"
        moment = read(unquoted(written.text))
        if moment is None:
            raise self.error(written, f"{written.text} is no {token.word}; write it as {token.word.upper()} '{form}'")
        return Constant(moment)

    def error(self, token: Token, sentence: str) -> BadInput:
        """What is wrong with a token."""
        return self.error_at(token.at, sentence)

    def error_at(self, at: int, sentence: str) -> BadInput:
        """What is wrong with the text at some character."""
        shown = re.sub(r"\s", " ", self._text)
        indent = "".join(_blank(character) for character in shown[:at])
        return BadInput(f"{sentence}\n  {shown}\n  {indent}^")

    def unreadable(self, character: str) -> str:
        """What is wrong where no token begins."""
        if character == "'":
            return "this text is not closed; end it with ' (and double a ' within it)"
        if character in '"`':
            return f"this column name is not closed; end it with {character}"
        return f'unexpected {character!r}; a column name that is no plain word goes in double quotes: t."…"'

    def _scan(self) -> list[Token]:
        tokens: list[Token] = []
        at = 0
        while at < len(self._text):
            match = self.pattern.match(self._text, at)
            if match is None:
                raise self.error_at(at, self.unreadable(self._text[at]))
            if match.lastgroup != "space":
                tokens.append(Token(str(match.lastgroup), match.group(), at))
            at = match.end()
        return [*tokens, Token("end", "", len(self._text))]


def _number(token: Token) -> int | float | Decimal | None:
    """Exactly what the digits say, but a float where an exponent or a word asks for one; None where it holds none."""
    text = token.text.lower()
    if len(text) > _LONGEST_NUMBER:
        return None
    if "inf" in text:
        return float(text)
    if "e" in text:
        value = float(text)
        vanished = value == 0 and re.search("[1-9]", text.split("e")[0]) is not None
        return None if vanished or math.isinf(value) else value
    return Decimal(text) if "." in text else int(text)


def _blank(character: str) -> str:
    """As many spaces as the character takes on a terminal."""
    if unicodedata.combining(character):
        return ""
    return "  " if unicodedata.east_asian_width(character) in "WF" else " "
