"""The reader of rule texts: tokens, names, constants and lists. Errors point at the character.

Every class of rules builds its grammar on it. Cost: one pass over the text.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from holdfast.errors import BadInput, suggest
from holdfast.rules.constants import TIME_TYPES, UNITS, Constant
from holdfast.search.queries import MIRRORED, Operator
from holdfast.text.quotes import QUOTED, WORD, between, unquoted

_OTHERWISE: Mapping[str, Operator] = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}
OPERATORS: Mapping[str, Operator] = {**{each: each for each in MIRRORED}, **_OTHERWISE}
_WORDS = {"true": True, "false": False, "nan": math.nan, "inf": math.inf, "infinity": math.inf}
_UNEVEN = frozenset(["month", "months", "quarter", "quarters", "year", "years"])
_LONGEST_NUMBER = 4000
_IN_NAMES = frozenset("+-*/.&|!")  # marks that people write within names
_QUOTE = "put names that aren't plain words in double quotes"
_Item = TypeVar("_Item")
_TOKEN = re.compile(
    rf"""
      (?P<space>\s+)
    | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|(?<![\w"`])\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<word>{WORD})
    | (?P<string>{between("'")})
    | (?P<quoted>{QUOTED}|{between("`")})
    | (?P<mark>->|<=|>=|!=|<>|==|&&|\|\||[=<>≠≤≥&∧,|∨().!¬+*/{{}}\[\]:~-])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A piece of a text, and where it begins."""

    kind: str  # number, word, string, quoted, mark or end
    text: str
    at: int

    @property
    def word(self) -> str:
        """What it means as a keyword or mark; nothing for text and quoted names."""
        return self.text.lower() if self.kind in ("word", "mark") else ""


class Reader:
    """Reads a text from left to right. `hint` shows how to write such rules; `last` is the last token read."""

    hint = ""

    def __init__(self, text: str, hint: str = "") -> None:
        self.text, self.hint = text.strip(), hint or self.hint
        self.tokens = self._scan()
        self.at = 0
        self.last = ""

    # ---- tokens -----------------------------------------------------------------------------------------------------

    @property
    def peek(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    @property
    def after(self) -> Token:
        """The one after it."""
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Go past the next token."""
        token = self.tokens[self.at]
        self.at += 1
        self.last = token.text
        return token

    def takes(self, *words: str) -> str:
        """Go past one of these words or marks, if it comes next. Returns it, or an empty text."""
        word = self.peek.word
        if not word or word not in words:
            return ""
        self.take()
        return word

    def expect(self, *words: str) -> None:
        """Go past words or marks that must come next, in this order."""
        for word in words:
            if not self.takes(word):
                raise self.expected(word)

    def end(self, otherwise: str = "") -> None:
        """Refuse a rest; `otherwise` is the error for it."""
        if self.peek.kind != "end":
            raise self.error(self.peek, otherwise) if otherwise else self.expected("the end")

    # ---- names ------------------------------------------------------------------------------------------------------

    def name(self, otherwise: str = "") -> str:
        """Go past a name, which must come next; `otherwise` is the error. A keyword in quotes is a name."""
        if self.peek.kind not in ("word", "quoted"):
            raise self.error(self.peek, otherwise) if otherwise else self.expected("a column name")
        return unquoted(self.take().text)

    def names(self, until: str) -> tuple[str, ...]:
        """Distinct names, separated by commas, up to a mark."""
        found = self.items(self.name, until)
        self.refuse_twice(found)
        return tuple(found)

    def one_of(self, words: Container[str], otherwise: str) -> Token:
        """Go past one of some words or marks, which must come next; `otherwise` is the error."""
        if self.peek.word not in words:
            raise self.error(self.peek, otherwise)
        return self.take()

    def items(self, item: Callable[[], _Item], until: str) -> list[_Item]:
        """Items separated by commas, perhaps none, up to and with a mark."""
        found: list[_Item] = []
        while self.peek.word != until:
            if found and not self.takes(","):
                raise self.expected(f", or {until}")
            found.append(item())
        self.take()
        return found

    def several(self, item: Callable[[], _Item], *marks: str) -> list[_Item]:
        """One item or more, separated by one of some words or marks."""
        found = [item()]
        while self.takes(*marks):
            found.append(item())
        return found

    def refuse_twice(self, names: Sequence[str]) -> None:
        """Refuse a column that is named twice."""
        for place, name in enumerate(names):
            if name in names[:place]:
                raise self.wrong(f"the column {name!r} is there twice; leave one out")

    # ---- constants --------------------------------------------------------------------------------------------------

    def number(self) -> Constant:
        """The number that comes next, or the while that begins with it: `30 days`."""
        token = self.take()
        value = _number(token)
        if value is None:
            raise self.error(token, "this number is too large or too small")
        if self.peek.word in _UNEVEN:
            raise self.error(self.peek, "months and years differ in length; write days or weeks")
        return self._while(token, value) if self.peek.word in UNITS else Constant(value)

    def _while(self, token: Token, count: object) -> Constant:
        """Go past a unit of time."""
        if not isinstance(count, int):
            raise self.error(token, f"expected a whole number before {self.peek.text}; a smaller unit may help")
        try:
            found = Constant(count * UNITS[self.peek.word])
        except OverflowError:
            raise self.error(token, "this while is too long") from None
        self.last = f"{token.text} {self.tokens[self.at].text}"
        self.at += 1
        return found

    def named_constant(self, token: Token) -> Constant | None:
        """The constant that begins with the word just read: `true`, `NaN`, `DATE '…'`; None: it begins none."""
        if token.word in _WORDS:
            return Constant(_WORDS[token.word])
        if token.word not in TIME_TYPES or self.peek.kind != "string":
            return None
        written, kind = self.take(), TIME_TYPES[token.word]
        self.last = f"{token.text} {written.text}"
        moment = kind.read(unquoted(written.text))
        if moment is None:
            raise self.error(written, f"{written.text} is not a {token.word}; write it as {kind.form}")
        return Constant(moment)

    # ---- errors -----------------------------------------------------------------------------------------------------

    def expected(self, wanted: str) -> BadInput:
        """The error that something else should come next, with a hint how to write such rules."""
        after = f" after {self.last}" if self.last else ""
        in_name = self.peek.kind == "number" or self.peek.text in _IN_NAMES
        return self.error(self.peek, self._hinted(f"expected {wanted}{after}" + (f"; {_QUOTE}" if in_name else "")))

    def wrong(self, sentence: str) -> BadInput:
        """An error about the text as a whole."""
        return BadInput(f"{self.text!r}: {sentence}")

    def error(self, token: Token, sentence: str) -> BadInput:
        """An error about a token."""
        return self.error_at(token.at, sentence)

    def error_at(self, at: int, sentence: str) -> BadInput:
        """An error about one character of the text."""
        from rich.cells import cell_len  # only where something is wrong: help must answer quickly

        shown = re.sub(r"\s", " ", self.text)
        return BadInput(f"{sentence}\n  {shown}\n  {' ' * cell_len(shown[:at])}^")

    def unreadable(self, character: str) -> str:
        """The error where no token begins."""
        if character == "'":
            return "this text is not closed; end it with ' (and double a ' within it)"
        if character in '"`':
            return f"this column name is not closed; end it with {character}"
        if character == "%":
            return "unexpected '%'; write 0.01 for 1 %, and a column name that contains % in double quotes"
        return f"unexpected {character!r}; {_QUOTE}"

    def _hinted(self, sentence: str) -> str:
        return f"{sentence}; {self.hint}" if self.hint else sentence

    def _scan(self) -> list[Token]:
        tokens: list[Token] = []
        at = 0
        while at < len(self.text):
            match = _TOKEN.match(self.text, at)
            if match is None:
                raise self.error_at(at, self._hinted(self.unreadable(self.text[at])))
            if match.lastgroup != "space":
                tokens.append(Token(str(match.lastgroup), match.group(), at))
            at = match.end()
        return [*tokens, Token("end", "", len(self.text))]


def _number(token: Token) -> int | float | Decimal | None:
    """The exact number; a float where it has an exponent, and None where no float can hold that."""
    text = token.text.lower()
    if len(text) > _LONGEST_NUMBER:
        return None
    if "e" in text:
        value = float(text)
        vanished = value == 0 and re.search("[1-9]", text.split("e")[0]) is not None
        return None if vanished or math.isinf(value) else value
    return Decimal(text) if "." in text else int(text)


def opposite(constant: Constant) -> Constant | None:
    """The number or while with the other sign; None: it is neither. Python's `-` would round a decimal to 28 digits."""
    number: Any = constant.value
    if not is_number(constant) and not isinstance(number, dt.timedelta):
        return None
    return Constant(number.copy_negate() if isinstance(number, Decimal) else -number)


def is_number(constant: Constant) -> bool:
    """Whether a constant is a number."""
    return isinstance(constant.value, int | float | Decimal) and not isinstance(constant.value, bool)


# ---- columns of a table ---------------------------------------------------------------------------------------------


def refuse_unknown(text: str, mentioned: Collection[str], names: Sequence[str]) -> None:
    """Refuse a rule that names a column which its table lacks; the error names the nearest columns."""
    for name in mentioned:
        if name not in names:
            raise BadInput(f"{text!r}: there is no column {name!r}; {suggest(name, names)}")


# ---- which class a text belongs to ----------------------------------------------------------------------------------

_QUOTES = re.compile(f"(?P<text>{between(chr(39))})|{QUOTED}|{between('`')}")
_BRACED = re.compile(rf'\s*\{{(?:{QUOTED}|[^}}"])*+\}}\s*(:(?:\s*\[)?|->)')


def without_quoted(text: str) -> str:
    """The text with everything between quotes removed."""
    return _QUOTES.sub(lambda found: "''" if found["text"] else '""', text).strip()


def follows_braces(text: str) -> str:
    """What follows the braces at the start of a text: `->`, or `:` and perhaps `[`; else nothing."""
    found = _BRACED.match(text)
    return found[1] if found else ""
