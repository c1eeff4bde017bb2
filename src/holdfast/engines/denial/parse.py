"""From text to denial constraint, with errors that point at the character.

    rule         negation "(" conjunction ")"           negation: not ! ¬
    conjunction  item { connective item }               connective: and & && ∧ ,
    item         predicate | "(" conjunction ")"
    predicate    operand operator operand               operator: = == != <> ≠ < <= ≤ > >= ≥
    operand      row "." column | constant              a constant may stand on either side
    constant     5 -1.5 2e9 'text' true false NaN Infinity DATE '…' TIMESTAMP '…' TIME '…'

Rows are called t and s, or t1 and t2, or t0 and t1: in each pair the first is t and the second is s, wherever they
stand. Columns that aren't plain words go in double quotes (doubled within) or in backticks. Words may be in any case.

Cost: one pass over the text.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from holdfast.changes.names import QUOTED, WORD, between, unquoted
from holdfast.engines.declared import Severity
from holdfast.engines.denial.model import (
    MIRRORED,
    Cell,
    Constant,
    DenialConstraint,
    Operator,
    Predicate,
    Row,
    read_date,
    read_time,
    read_timestamp,
)
from holdfast.errors import BadInput

_PAIRS = (("t", "s"), ("t1", "t2"), ("t0", "t1"))
_BOTH: tuple[Row, Row] = ("t", "s")
_ROWS = frozenset(row for pair in _PAIRS for row in pair)
_OPERATORS: Mapping[str, Operator] = {
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
_CONNECTIVES = frozenset(["and", "&", "&&", "∧", ","])
_NEGATIONS = frozenset(["not", "!", "¬"])
_ALTERNATIVES = frozenset(["or", "|", "||", "∨"])
_WORDS = {"true": True, "false": False, "nan": math.nan, "inf": math.inf, "infinity": math.inf}
_MOMENTS: Mapping[str, tuple[Callable[[str], dt.date | dt.datetime | dt.time | None], str]] = {
    "date": (read_date, "YYYY-MM-DD"),
    "timestamp": (read_timestamp, "YYYY-MM-DD HH:MM:SS"),
    "time": (read_time, "HH:MM:SS"),
}
_TOKEN = re.compile(
    rf"""
      (?P<space>\s+)
    | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|(?<![\w"`])\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-](?i:inf(?:inity)?)\b)
    | (?P<word>{WORD})
    | (?P<string>{between("'")})
    | (?P<quoted>{QUOTED}|{between("`")})
    | (?P<mark><=|>=|!=|<>|==|&&|\|\||[=<>≠≤≥&∧,|∨().!¬])
    """,
    re.VERBOSE,
)
_DEEPEST, _LONGEST_NUMBER = 50, 4000


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    at: int

    @property
    def word(self) -> str:
        """What it means as a keyword or mark; nothing for text and quoted names."""
        return self.text.lower() if self.kind in ("word", "mark") else ""


@dataclass(frozen=True)
class _Named:
    """A cell as written: its row's name has no role yet."""

    row: str
    column: str
    at: int


_Written = tuple[_Named, Operator, _Named | Constant]


def parse(
    text: str, *, name: str = "", table: str = "", severity: Severity = "error", note: str = ""
) -> DenialConstraint:
    """The denial constraint that a text says; BadInput that points at the character where it says none."""
    return DenialConstraint(_Parser(text.strip()).rule(), name, table, severity, note)


def is_denial(text: str) -> bool:
    """Whether a text sets out to be a denial constraint: it starts with not, ! or ¬ (`not -> b` is about a column)."""
    return re.match(r"\s*(?:[!¬]|(?i:not)\b(?!\s*(?:->|,)))", text) is not None


class _Parser:
    """Recursive descent over the tokens of one rule; `_last` is what was read last, as errors cite it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._scan()
        self._next = 0
        self._depth = 0
        self._last = ""

    # ---- rules ------------------------------------------------------------------------------------------------------

    def rule(self) -> tuple[Predicate, ...]:
        """The whole text."""
        if self._peek.word not in _NEGATIONS:
            raise self._error(self._peek, "a denial constraint starts with not( …, such as not(t.Age < 0)")
        self._take()
        if self._peek.word != "(":
            raise self._error(self._peek, f"expected ( after {self._last}")
        written = self._group()
        if self._peek.kind != "end":
            raise self._error(self._peek, "expected nothing after the closing )")
        roles = self._roles([side for left, _, right in written for side in (left, right) if isinstance(side, _Named)])
        return tuple(_with_roles(each, roles) for each in written)

    def _group(self) -> list[_Written]:
        """A conjunction in parentheses."""
        opening = self._take()
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(opening, "there are too many parentheses within each other; one pair is enough")
        found = self._item()
        while self._peek.word in _CONNECTIVES:
            self._take()
            found += self._item()
        self._close()
        self._depth -= 1
        return found

    def _close(self) -> None:
        token = self._peek
        if token.word in _ALTERNATIVES:
            raise self._error(token, "there is no or; write one rule for each side")
        if token.kind == "end":
            raise self._error(token, f"expected ) after {self._last}: a parenthesis is not closed")
        if token.word != ")":
            raise self._error(token, f"expected and or ) after {self._last}")
        self._take()

    def _item(self) -> list[_Written]:
        if self._peek.word in _NEGATIONS:
            raise self._error(self._peek, "not stands once, around the whole; turn the operator instead (= into !=)")
        return self._group() if self._peek.word == "(" else [self._predicate()]

    def _predicate(self) -> _Written:
        start = self._peek
        left = self._operand()
        operator = self._operator()
        right = self._operand()
        if isinstance(left, _Named):
            return left, operator, right
        if isinstance(right, _Named):
            return right, MIRRORED[operator], left
        raise self._error(start, "both sides are constants; one side must be a cell such as t.Age")

    def _operator(self) -> Operator:
        token = self._peek
        if token.word in ("is", "in", "like", "between"):
            raise self._error(token, f"there is no operator {token.text}; use =, !=, <, <=, > or >=")
        if token.word not in _OPERATORS:
            raise self._error(token, f"expected an operator after {self._last}")
        return _OPERATORS[self._take().word]

    # ---- operands ---------------------------------------------------------------------------------------------------

    def _operand(self) -> _Named | Constant:
        token = self._peek
        if token.kind == "number":
            return self._constant(_number(self._take()), token, "this number is too large or too small to be held")
        if token.kind == "string":
            return Constant(unquoted(self._take().text))
        if token.kind == "quoted":
            raise self._error(token, "text goes in single quotes, such as 'paid', and a column needs its row: t.\"…\"")
        if token.kind != "word":
            raise self._error(token, f"expected a cell such as t.Age, or a constant, after {self._last}")
        return self._cell() if self._tokens[self._next + 1].word == "." else self._named_constant()

    def _cell(self) -> _Named:
        row = self._take()
        if row.word not in _ROWS:
            raise self._error(row, f"there is no row {row.text}; rows are called t and s, or t1 and t2, or t0 and t1")
        self._take()
        column = self._peek
        if column.kind not in ("word", "quoted"):
            raise self._error(column, f'expected a column after {row.text}.; names that are no plain words go in "…"')
        self._take()
        self._last = f"{row.text}.{column.text}"
        return _Named(row.word, unquoted(column.text), row.at)

    def _named_constant(self) -> Constant:
        token = self._take()
        if token.word in _WORDS:
            return Constant(_WORDS[token.word])
        if token.word in _MOMENTS and self._peek.kind == "string":
            read, form = _MOMENTS[token.word]
            written = self._take()
            self._last = f"{token.text} {written.text}"
            complaint = f"{written.text} is no {token.word}; write it as {token.word.upper()} '{form}'"
            return self._constant(read(unquoted(written.text)), written, complaint)
        if token.word == "null":
            raise self._error(token, "a comparison with null is never true; t.A = t.A is true where A is not null")
        if token.word in _CONNECTIVES or token.word in _ALTERNATIVES:
            raise self._error(token, "expected a cell such as t.Age, or a constant")
        raise self._error(token, self._unquoted_words(token))

    def _unquoted_words(self, first: _Token) -> str:
        """What to do about a word that is neither a cell nor a constant, nor are the words that follow it."""
        words = [first.text]
        while self._peek.kind == "word" and self._peek.word not in _CONNECTIVES | _ALTERNATIVES:
            words.append(self._take().text)
        said = " ".join(words)
        t, s = (Cell(row, said).text for row in _BOTH)
        text = Constant(said).text
        return f"expected a cell or a constant; write {t} or {s} for a column, and {text}, in quotes, for a text"

    def _constant(
        self, value: int | float | Decimal | dt.date | dt.datetime | dt.time | None, token: _Token, complaint: str
    ) -> Constant:
        if value is None:
            raise self._error(token, complaint)
        return Constant(value)

    def _roles(self, cells: Sequence[_Named]) -> dict[str, Row]:
        """Which row name is t and which is s."""
        met: dict[str, None] = {}
        for cell in cells:
            odd = next((row for row in met if row != cell.row and not _is_pair(row, cell.row)), None)
            if odd:
                raise self._error_at(cell.at, f"the rows {odd} and {cell.row} don't go together; call them t and s")
            met[cell.row] = None
        if len(met) == 1:
            return dict.fromkeys(met, "t")
        first, second = next(pair for pair in _PAIRS if met.keys() == set(pair))
        return {first: "t", second: "s"}

    # ---- tokens and errors ------------------------------------------------------------------------------------------

    @property
    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        self._next += 1
        self._last = token.text
        return token

    def _scan(self) -> list[_Token]:
        tokens: list[_Token] = []
        at = 0
        while at < len(self._text):
            match = _TOKEN.match(self._text, at)
            if match is None:
                raise self._error_at(at, _unreadable(self._text[at]))
            if match.lastgroup != "space":
                tokens.append(_Token(str(match.lastgroup), match.group(), at))
            at = match.end()
        return [*tokens, _Token("end", "", len(self._text))]

    def _error(self, token: _Token, sentence: str) -> BadInput:
        return self._error_at(token.at, sentence)

    def _error_at(self, at: int, sentence: str) -> BadInput:
        shown = re.sub(r"\s", " ", self._text)
        indent = "".join(_blank(character) for character in shown[:at])
        return BadInput(f"{sentence}\n  {shown}\n  {indent}^")


def _is_pair(one: str, other: str) -> bool:
    return (one, other) in _PAIRS or (other, one) in _PAIRS


def _with_roles(written: _Written, roles: Mapping[str, Row]) -> Predicate:
    left, operator, right = written
    other = Cell(roles[right.row], right.column) if isinstance(right, _Named) else right
    return Predicate(Cell(roles[left.row], left.column), operator, other)


def _number(token: _Token) -> int | float | Decimal | None:
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


def _unreadable(character: str) -> str:
    if character == "'":
        return "this text is not closed; end it with ' (and double a ' within it)"
    if character in '"`':
        return f"this column name is not closed; end it with {character}"
    if character in "+-*/%":
        return f'there is no arithmetic; a column name with {character} in it goes in double quotes: t."…"'
    return f'unexpected {character!r}; a column name that is no plain word goes in double quotes: t."…"'


def _blank(character: str) -> str:
    """As many spaces as the character takes on a terminal."""
    if unicodedata.combining(character):
        return ""
    return "  " if unicodedata.east_asian_width(character) in "WF" else " "
