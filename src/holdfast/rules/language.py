"""The grammar of the row language: from text to conditions, with errors that point at the character.

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
    factor       - factor | "(" operand ")" | function "(" operand ")" | t "." column | constant
    function     length | lower | upper
    constant     5 1.5 2e9 'text' true false NaN Infinity DATE '…' TIMESTAMP '…' TIME '…' 30 days

Columns that aren't plain words go in double quotes (doubled within) or in backticks. Words may be in any case.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar, get_args

from holdfast.rules import conditions
from holdfast.rules.conditions import (
    Arithmetic,
    Call,
    Cell,
    Comparison,
    Condition,
    Function,
    Operand,
    Row,
    Sign,
    of_t,
)
from holdfast.rules.constants import Constant
from holdfast.rules.reader import OPERATORS, Reader, Token, opposite
from holdfast.rules.terms import names_of
from holdfast.text.quotes import unquoted

AND = frozenset(["and", "&", "&&", "∧"])
OR = frozenset(["or", "|", "||", "∨"])
NOT = frozenset(["not", "!", "¬"])
_TESTS = frozenset(["is", "in", "between", "like", "matches"])
_SIGNS: tuple[dict[str, Sign], ...] = ({"+": "+", "-": "-"}, {"*": "*", "/": "/"})
_FUNCTIONS: tuple[Function, ...] = get_args(Function)
_GOES_ON = frozenset([*OPERATORS, *_TESTS, *"+-*/", "not"])  # may follow an operand, but not a condition
_DEEPEST, _MOST_SIGNS = 50, 100
_Read = TypeVar("_Read")


class ConditionReader(Reader):
    """Reads a condition on row t by recursive descent."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = self._signs = 0
        self._closing = self._find_closing()

    # ---- conditions -------------------------------------------------------------------------------------------------

    def rule(self) -> Condition:
        """The whole text."""
        condition = self.either()
        self.end(f"expected and, or, or the end after {self.last}")
        return condition

    def either(self) -> Condition:
        """A condition."""
        parts = self.several(self._every, *OR)
        return conditions.Either(tuple(parts)) if len(parts) > 1 else parts[0]

    def _every(self) -> Condition:
        parts = self.several(self._item, *AND)
        return conditions.Every(tuple(parts)) if len(parts) > 1 else parts[0]

    def _item(self) -> Condition:
        if self.peek.word in NOT:
            return self._deeper(self._item).opposite
        if self.peek.word == "(" and not self._opens_operand():
            return self._group(self.either)
        return self._predicate()

    def _predicate(self) -> Condition:
        start = self.peek
        found = self._compared(self._operand())
        if not names_of(found):
            raise self.error(start, "there is no column in this comparison; name one, such as t.Age")
        return found

    def _compared(self, left: Operand) -> Condition:
        """What follows an operand."""
        if isinstance(left, Constant) and self.peek.word in (*_TESTS, "not"):
            raise self.error(self.peek, f"{self.peek.text} needs a column before it, such as t.Age")
        if self.peek.word in OPERATORS:
            operator = OPERATORS[self.take().word]
            return Comparison(left, operator, self._operand())
        if self.takes("is"):
            negated = bool(self.takes("not"))
            self.expect("null")
            return conditions.IsNull(left, negated=negated)
        negated = bool(self.takes("not"))
        tests: dict[str, Callable[[Operand, bool], Condition]] = {
            "in": self._one_of,
            "between": self._between,
            "like": self._like,
            "matches": self._matches,
        }
        test = self.one_of(tests, f"expected an operator after {self.last}, such as =, <, is, in or between")
        return tests[test.word](left, negated)

    def _one_of(self, left: Operand, negated: bool) -> conditions.OneOf:
        self.one_of(["("], f"expected ( after {self.last}, and constants separated by commas")
        values = self.several(self.constant, ",")
        self.expect(")")
        return conditions.OneOf(left, tuple(values), negated=negated)

    def _between(self, left: Operand, negated: bool) -> conditions.Between:
        low = self._operand()
        self.one_of(AND, f"expected and after {self.last}: between has two ends")
        return conditions.Between(left, low, self._operand(), negated=negated)

    def _like(self, left: Operand, negated: bool) -> conditions.Like:
        pattern, escape = self._quoted_text(), ""
        if self.takes("escape"):
            token = self.peek
            escape = self._quoted_text()
            if len(escape) != 1:
                raise self.error(token, "escape takes one character, such as escape '!'")
            if re.search(f"{re.escape(escape)}(?![%_{re.escape(escape)}])", pattern.replace(escape * 2, "")):
                raise self.error(token, f"in the pattern, {escape} may stand only before %, _ or itself")
        return conditions.Like(left, pattern, escape, negated=negated)

    def _matches(self, left: Operand, negated: bool) -> conditions.Matches:
        return conditions.Matches(left, self._quoted_text(), negated=negated)

    # ---- operands ---------------------------------------------------------------------------------------------------

    def _operand(self, level: int = 0) -> Operand:
        """Sums of products of factors."""
        if level == len(_SIGNS):
            return self._factor()
        found = self._operand(level + 1)
        while self.peek.word in _SIGNS[level]:
            self._signs += 1
            if self._signs > _MOST_SIGNS:
                raise self.error(self.peek, f"there are more than {_MOST_SIGNS} operators of arithmetic; use fewer")
            sign = _SIGNS[level][self.take().word]
            found = Arithmetic(found, sign, self._operand(level + 1))
        return found

    def _factor(self) -> Operand:
        token = self.peek
        if token.word == "-":
            operand = self._deeper(self._factor)
            number = opposite(operand) if isinstance(operand, Constant) else None
            return number or Arithmetic(Constant(0), "-", operand)
        if token.word == "(":
            return self._group(self._operand)
        if token.kind == "word" and self.after.word == ".":
            return self.cell()
        function = next((each for each in _FUNCTIONS if each == token.word), None)
        if function is not None and self.after.word == "(":
            self.take()
            return Call(function, self._group(self._operand))
        return self.constant()

    def cell(self) -> Cell:
        """Go past a cell, `t.Age`."""
        token = self.take()
        row = self.row(token)
        self.take()
        column = self.name(f"expected a column after {token.text}.; put names that aren't plain words in double quotes")
        self.last = f"{token.text}.{self.last}"
        return Cell(row, column)

    def row(self, token: Token) -> Row:
        """The row that a name means."""
        if token.word != "t":
            raise self.error(token, f"there is no row {token.text}; in a rule about one row it is called t")
        return "t"

    def constant(self) -> Constant:
        """Go past a constant, which must come next."""
        token = self.peek
        if token.word in ("-", "+"):
            given = self._deeper(self.constant)
            if (number := opposite(given)) is None:
                raise self.error(token, f"expected a number after {token.text}, not {given.text}")
            return number if token.word == "-" else given
        if token.kind == "number":
            return self.number()
        if token.kind == "string":
            return Constant(unquoted(self.take().text))
        if token.kind == "quoted":
            raise self.error(token, "text goes in single quotes, such as 'paid', and a column needs its row: t.\"…\"")
        if token.kind != "word" or token.word in AND | OR:
            raise self.error(token, f"expected a cell such as t.Age, or a constant, after {self.last}")
        self.take()
        if (constant := self.named_constant(token)) is not None:
            return constant
        raise self.error(token, self.odd_word(token))

    def odd_word(self, token: Token) -> str:
        """The error for a word that is neither a cell nor a constant."""
        if token.word == "null":
            return "a comparison with null is never true; write is null, or is not null"
        text, cell = Constant(token.text).text, of_t(token.text).text
        return f"expected a cell or a constant; write {cell} for a column, and {text} for a text"

    def _quoted_text(self) -> str:
        if self.peek.kind != "string":
            raise self.error(self.peek, f"expected a pattern in single quotes after {self.last}")
        return unquoted(self.take().text)

    # ---- tokens -----------------------------------------------------------------------------------------------------

    def _group(self, read: Callable[[], _Read]) -> _Read:
        """Read what is in parentheses."""
        found = self._deeper(read)
        if self.peek.kind == "end":
            raise self.error(self.peek, f"expected ) after {self.last}: a parenthesis is not closed")
        self.expect(")")
        return found

    def _deeper(self, read: Callable[[], _Read]) -> _Read:
        """Go past a sign or a parenthesis, and read what follows it."""
        self.enter("nested too deep; write several rules")
        found = read()
        self._depth -= 1
        return found

    def enter(self, too_deep: str) -> None:
        """Go past a sign or a parenthesis."""
        opening = self.take()
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.error(opening, too_deep)

    def leave(self) -> None:
        """Go past a closing parenthesis."""
        self.take()
        self._depth -= 1

    def unreadable(self, character: str) -> str:
        """The error where no token begins."""
        if character in "'\"`%":
            return super().unreadable(character)
        return f'unexpected {character!r}; put a column name that isn\'t a plain word in double quotes: t."…"'

    def _opens_operand(self) -> bool:
        """Whether the next parenthesis holds an operand and not a condition: the word after it decides."""
        return self._closing.get(self.peek.at, "") in _GOES_ON

    def _find_closing(self) -> dict[int, str]:
        """For each opening parenthesis, by its place in the text, the word after the closing one."""
        opened: list[int] = []
        found: dict[int, str] = {}
        for token, following in zip(self.tokens, self.tokens[1:], strict=False):
            if token.word == "(":
                opened.append(token.at)
            elif token.word == ")" and opened:
                found[opened.pop()] = following.word
        return found
