"""From text to rules about one row, with errors that point at the character.

    rule         every { or every }                                or: or | || ∨
    every        item { and item }                                 and: and & && ∧
    item         not item | "(" rule ")" | predicate               not: not ! ¬
    predicate    operand operator operand                          operator: = == != <> ≠ < <= ≤ > >= ≥
               | operand is [not] null
               | operand [not] in "(" constant { "," constant } ")"
               | operand [not] between operand and operand
               | operand [not] like 'pattern' [escape 'character']
               | operand [not] matches 'regular expression'
    operand      term { +|- term }
    term         factor { *|/ factor }
    factor       - factor | "(" operand ")" | t "." column | constant
    constant     5 1.5 2e9 'text' true false NaN Infinity DATE '…' TIMESTAMP '…' TIME '…'

Columns that aren't plain words go in double quotes (doubled within) or in backticks. Words may be in any case.

Cost: one pass over the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar

from holdfast.changes.names import QUOTED, WORD, between, unquoted
from holdfast.engines.language.constants import Constant, minus
from holdfast.engines.language.tokens import OPERATORS, Tokens
from holdfast.engines.row.model import (
    Arithmetic,
    Between,
    Cell,
    Comparison,
    Condition,
    Either,
    Every,
    IsNull,
    Like,
    Matches,
    OneOf,
    Operand,
    Sign,
    columns_of,
)

_AND = frozenset(["and", "&", "&&", "∧"])
_OR = frozenset(["or", "|", "||", "∨"])
_NOT = frozenset(["not", "!", "¬"])
_TESTS = frozenset(["is", "in", "between", "like", "matches"])
_SIGNS: tuple[dict[str, Sign], ...] = ({"+": "+", "-": "-"}, {"*": "*", "/": "/"})
_GOES_ON = frozenset([*OPERATORS, *_TESTS, *"+-*/", "not"])  # what follows an operand, and no condition
_TOKEN = re.compile(
    rf"""
      (?P<space>\s+)
    | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|(?<![\w"`])\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<word>{WORD})
    | (?P<string>{between("'")})
    | (?P<quoted>{QUOTED}|{between("`")})
    | (?P<mark><=|>=|!=|<>|==|&&|\|\||[=<>≠≤≥&∧,|∨().!¬+*/-])
    """,
    re.VERBOSE,
)
_DEEPEST, _MOST_SIGNS = 50, 100
_Read = TypeVar("_Read")


def parse(text: str) -> Condition:
    """The condition that a text says; BadInput that points at the character where it says none."""
    return RowReader(text.strip()).rule()


class RowReader(Tokens):
    """Reads a rule by recursive descent over its tokens."""

    pattern = _TOKEN

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = self._signs = 0
        self._closing = self._find_closing()

    # ---- conditions -------------------------------------------------------------------------------------------------

    def rule(self) -> Condition:
        """The whole text."""
        condition = self._either()
        if self.peek.kind != "end":
            raise self.error(self.peek, f"expected and, or, or the end after {self.last}")
        return condition

    def _either(self) -> Condition:
        parts = [self._every()]
        while self.peek.word in _OR:
            self.take()
            parts.append(self._every())
        return Either(tuple(parts)) if len(parts) > 1 else parts[0]

    def _every(self) -> Condition:
        parts = [self._item()]
        while self.peek.word in _AND:
            self.take()
            parts.append(self._item())
        return Every(tuple(parts)) if len(parts) > 1 else parts[0]

    def _item(self) -> Condition:
        if self.peek.word in _NOT:
            return self._deeper(self._item).opposite
        if self.peek.word == "(" and not self._opens_operand():
            return self._group(self._either)
        return self._predicate()

    def _predicate(self) -> Condition:
        start = self.peek
        found = self._compared(self._operand())
        if not columns_of(found):
            raise self.error(start, "there is no column in this comparison; name one, such as t.Age")
        return found

    def _compared(self, left: Operand) -> Condition:
        """What follows an operand."""
        if isinstance(left, Constant) and self.peek.word in (*_TESTS, "not"):
            raise self.error(self.peek, f"{self.peek.text} asks about a column; name one before it, such as t.Age")
        if self.peek.word in OPERATORS:
            operator = OPERATORS[self.take().word]
            return Comparison(left, operator, self._operand())
        if self.peek.word == "is":
            self.take()
            negated = self.takes("not")
            self.expect("null")
            return IsNull(left, negated)
        negated = self.takes("not")
        tests: dict[str, Callable[[Operand, bool], Condition]] = {
            "in": self._one_of,
            "between": self._between,
            "like": self._like,
            "matches": self._matches,
        }
        if self.peek.word not in tests:
            raise self.error(self.peek, f"expected an operator after {self.last}, such as =, <, is, in or between")
        return tests[self.take().word](left, negated)

    def _one_of(self, left: Operand, negated: bool) -> OneOf:
        if self.peek.word != "(":
            raise self.error(self.peek, f"expected ( after {self.last}, and constants with commas between")
        self.take()
        values = [self.constant()]
        while self.takes(","):
            values.append(self.constant())
        self.expect(")")
        return OneOf(left, tuple(values), negated)

    def _between(self, left: Operand, negated: bool) -> Between:
        low = self._operand()
        if self.peek.word not in _AND:
            raise self.error(self.peek, f"expected and after {self.last}: between has two ends")
        self.take()
        return Between(left, low, self._operand(), negated)

    def _like(self, left: Operand, negated: bool) -> Like:
        pattern, escape = self._quoted_text(), ""
        if self.takes("escape"):
            token = self.peek
            escape = self._quoted_text()
            if len(escape) != 1:
                raise self.error(token, "escape names one character, such as escape '!'")
            if re.search(f"{re.escape(escape)}(?![%_{re.escape(escape)}])", _without_pairs(pattern, escape)):
                raise self.error(token, f"in the pattern {escape} stands before %, _ or itself")
        return Like(left, pattern, escape, negated)

    def _matches(self, left: Operand, negated: bool) -> Matches:
        return Matches(left, self._quoted_text(), negated)

    # ---- operands ---------------------------------------------------------------------------------------------------

    def _operand(self, level: int = 0) -> Operand:
        """Sums of products of factors."""
        if level == len(_SIGNS):
            return self._factor()
        found = self._operand(level + 1)
        while self.peek.word in _SIGNS[level]:
            self._signs += 1
            if self._signs > _MOST_SIGNS:
                raise self.error(self.peek, f"there are more than {_MOST_SIGNS} signs of arithmetic; write fewer")
            sign = _SIGNS[level][self.take().word]
            found = Arithmetic(found, sign, self._operand(level + 1))
        return found

    def _factor(self) -> Operand:
        token = self.peek
        if token.word == "-":
            return _minus(self._deeper(self._factor))
        if token.word == "(":
            return self._group(self._operand)
        if token.kind == "word" and self.after.word == ".":
            return self._cell()
        return self.constant()

    def _cell(self) -> Cell:
        row = self.take()
        if row.word != "t":
            raise self.error(row, f"there is no row {row.text}; a rule about one row calls it t")
        self.take()
        column = self.peek
        if column.kind not in ("word", "quoted"):
            raise self.error(column, 'expected a column after t.; names that are no plain words go in "…"')
        self.take()
        self.last = f"{row.text}.{column.text}"
        return Cell(unquoted(column.text))

    def constant(self) -> Constant:
        """Go past a constant, which must be here."""
        token = self.peek
        if token.word == "-":
            given = self._deeper(self.constant)
            if (opposite := _opposite(given)) is None:
                raise self.error(token, f"expected a number after -, not {given.text}")
            return opposite
        if token.kind == "number":
            return self.number()
        if token.kind == "string":
            return Constant(unquoted(self.take().text))
        if token.kind == "quoted":
            raise self.error(token, "text goes in single quotes, such as 'paid', and a column needs its row: t.\"…\"")
        if token.kind != "word" or token.word in _AND | _OR:
            raise self.error(token, f"expected a cell such as t.Age, or a constant{self._after_last()}")
        self.take()
        if (constant := self.named_constant(token)) is not None:
            return constant
        if token.word == "null":
            raise self.error(token, "a comparison with null is never true; write is null, or is not null")
        text, cell = Constant(token.text).text, Cell(token.text).text
        raise self.error(token, f"expected a cell or a constant; write {cell} for a column, and {text} for a text")

    def _quoted_text(self) -> str:
        if self.peek.kind != "string":
            raise self.error(self.peek, f"expected a pattern in single quotes after {self.last}")
        return unquoted(self.take().text)

    # ---- tokens -----------------------------------------------------------------------------------------------------

    def _after_last(self) -> str:
        return f" after {self.last}" if self.last else ""

    def takes(self, word: str) -> bool:
        """Go past a word or mark, if it is here."""
        here = self.peek.word == word
        if here:
            self.take()
        return here

    def expect(self, word: str) -> None:
        """Go past a word or mark that must be here."""
        if not self.takes(word):
            raise self.error(self.peek, f"expected {word} after {self.last}")

    def _group(self, read: Callable[[], _Read]) -> _Read:
        """What stands in parentheses."""
        found = self._deeper(read)
        if self.peek.kind == "end":
            raise self.error(self.peek, f"expected ) after {self.last}: a parenthesis is not closed")
        self.expect(")")
        return found

    def _deeper(self, read: Callable[[], _Read]) -> _Read:
        """Go past a sign or a parenthesis that something stands behind."""
        opening = self.take()
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.error(opening, "too many things stand within each other; write several rules")
        found = read()
        self._depth -= 1
        return found

    def _opens_operand(self) -> bool:
        """Whether the parenthesis here holds an operand, and no condition: what follows it tells."""
        return self._closing.get(self.peek.at, "") in _GOES_ON

    def _find_closing(self) -> dict[int, str]:
        """For each opening parenthesis, by its character, the word that follows the closing one."""
        opened: list[int] = []
        found: dict[int, str] = {}
        for token, following in zip(self._tokens, self._tokens[1:], strict=False):
            if token.word == "(":
                opened.append(token.at)
            elif token.word == ")" and opened:
                found[opened.pop()] = following.word
        return found


def _without_pairs(pattern: str, escape: str) -> str:
    """A pattern without the characters that escape themselves."""
    return pattern.replace(escape * 2, "")


def is_number(constant: Constant) -> bool:
    """Whether a constant is a number."""
    return isinstance(constant.value, int | float | Decimal) and not isinstance(constant.value, bool)


def _minus(operand: Operand) -> Operand:
    opposite = _opposite(operand) if isinstance(operand, Constant) else None
    return opposite or Arithmetic(Constant(0), "-", operand)


def _opposite(constant: Constant) -> Constant | None:
    """A number with the other sign; None where the constant is none."""
    return Constant(minus(constant.value)) if is_number(constant) else None  # type: ignore[arg-type]  # it is a number


# ---- whether a text is such a rule ----------------------------------------------------------------------------------

_ROWS = frozenset(["s", "t0", "t1", "t2"])  # as denial constraints call them
_QUOTES = re.compile(f"(?P<text>{between(chr(39))})|{QUOTED}|{between('`')}")
_CELL = re.compile(rf'(?<![\w."])(?P<row>{WORD}|"")\s*\.\s*(?:{WORD}|"")')
_NUMBER = re.compile(r"\b[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_OWN = re.compile(r"(?i)\b(?:is|in|between|like|matches|or)\b|[|∨*/]|[\w)]\s*[+-]")  # no denial constraint has these


def is_row_rule(text: str) -> bool:
    """Whether a text means to be a rule about one row: it mentions columns of a row t, and is nothing else. With `not`
    before all of it, it is a denial constraint, unless it says what these can't.
    """
    bare = without_quoted(text)
    rows = {found["row"].lower() for found in _CELL.finditer(bare)}
    if "t" not in rows or rows & _ROWS or "->" in bare or bare.startswith(("{", "[")):
        return False
    plain = _NUMBER.sub("0", _CELL.sub("c", bare))
    if re.search(r"(?i)\bin\b\s*[^\s(]", plain):  # a reference to another table
        return False
    negation = re.match(r"(?i)(?:not\b|!(?!=)|¬)\s*", plain)
    return negation is None or not _is_one_group(plain[negation.end() :]) or _OWN.search(plain) is not None


def without_quoted(text: str) -> str:
    """A text in which nothing stands between quotes."""
    return _QUOTES.sub(lambda found: "''" if found["text"] else '""', text).strip()


def _is_one_group(text: str) -> bool:
    """Whether a text stands in one pair of parentheses, and has no `not` in it."""
    depth = 0
    for place, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth:
            return character == ")" and place == len(text) - 1 and not re.search(r"(?i)\bnot\b|!(?!=)|¬", text)
    return text.startswith("(")
