"""Denial constraints (papers: weever, definition 3.1).

`not(t.Zip = s.Zip and t.City != s.City)` says that no two different rows t and s make all the predicates true at once;
`not(t.Age < 0)` says it of one row. A comparison with null is never true.

    rule         not "(" item { and item } ")"              not: not ! ¬      and: and & && ∧ ,
    item         predicate | "(" item { and item } ")"
    predicate    operand operator operand                   a constant may stand on either side

Rows are called t and s, or t1 and t2, or t0 and t1: the first name of each pair means t, the second s. Operators,
operands and constants are those of the row language (`language`), without arithmetic.

Normal form, made by the constructor: at least one predicate; no predicate twice, however it is written; t on the left
of a predicate about both rows; a constraint about one row calls it t. Otherwise predicates stay as they were written,
in their order, and `DenialConstraint.parse(c.text).predicates == c.predicates`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from holdfast.errors import BadInput
from holdfast.rules.conditions import Cell, Comparison, Operand, Row, swapped
from holdfast.rules.constants import Constant
from holdfast.rules.language import AND, NOT, OR, ConditionReader
from holdfast.rules.reader import OPERATORS, Token
from holdfast.rules.rule import Breach, Rule, Scope, listed
from holdfast.table.nulls import Nulls

_PAIRS: tuple[tuple[str, str], ...] = (("t", "s"), ("t1", "t2"), ("t0", "t1"))
_ROWS = frozenset(row for pair in _PAIRS for row in pair)
_AND = AND | {","}


@dataclass(frozen=True)
class DenialConstraint(Rule):
    """No two different rows (t, s) make all predicates true; or no row t, if it names one row only."""

    predicates: tuple[Comparison, ...]

    NAMES = ("predicates", "where")
    kind = prefix = given_as = "dc"
    example = "not(t.Zip = s.Zip and t.City != s.City)"
    described = "a denial constraint"
    verbatim = True

    def __post_init__(self) -> None:
        if not self.predicates:
            raise BadInput("a denial constraint needs at least one predicate; write one, such as not(t.Age < 0)")
        object.__setattr__(self, "predicates", _normal(self.predicates))

    @classmethod
    def means(cls, text: str) -> bool:
        """It starts with not, ! or ¬ (`not -> b` is about a column)."""
        return re.match(r"\s*(?:[!¬]|(?i:not)\b(?!\s*(?:->|,)))", text) is not None

    @classmethod
    def parse(cls, text: str) -> Self:
        """`not(t.A = s.A and t.B < 5)`."""
        return cls(_Reader(text).predicates())

    @property
    def body(self) -> str:
        """`not(t.State = s.State and t.Salary > s.Salary)`."""
        return f"not({' and '.join(predicate.text for predicate in self.predicates)})"

    @property
    def says(self) -> str:
        """`No two rows t and s have t.Zip = s.Zip and t.City != s.City.`"""
        said = listed([predicate.text for predicate in self.predicates])
        return f"No row t has {said}." if self.is_single else f"No two rows t and s have {said}."

    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:  # noqa: ARG002  # as in SQL
        """Rows that make all predicates true break it."""
        unequal = (cell.column for each in self.predicates if each.operator != "=" for cell in each.cells)
        return (Breach(self.predicates, tuple(dict.fromkeys(unequal)) or self.columns),)

    @property
    def is_single(self) -> bool:
        """Whether it is about one row only."""
        return all(cell.row == "t" for predicate in self.predicates for cell in predicate.cells)

    def checked(self, scope: Scope) -> tuple[Self, Sequence[str]]:
        """With constants in the types of the columns."""
        from holdfast.rules.denial_check import check, notes  # Arrow is slow to import

        predicates = check(self.predicates, scope.schema, scope.ordered)
        checked = replace(self, table=scope.table, predicates=predicates)
        return checked, notes(checked.predicates)


def _normal(predicates: Iterable[Comparison]) -> tuple[Comparison, ...]:
    """Predicates in normal form (see the head of the module)."""
    given = list(predicates)
    if all(cell.row == "s" for predicate in given for cell in predicate.cells):
        given = list(map(swapped, given))
    distinct: dict[Comparison, Comparison] = {}
    for predicate in given:
        crossing = [cell.row for cell in predicate.cells] == ["s", "t"]
        distinct.setdefault(predicate.canonical, predicate.mirrored if crossing else predicate)
    return tuple(distinct.values())


class _Reader(ConditionReader):
    """Reads a denial constraint."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._met: dict[str, Token] = {}  # the names of rows, and where each was met first
        self._roles = self._find_roles()

    def predicates(self) -> tuple[Comparison, ...]:
        """The whole text."""
        self.one_of(NOT, "a denial constraint starts with not( …, such as not(t.Age < 0)")
        if self.peek.word != "(":
            raise self.error(self.peek, f"expected ( after {self.last}")
        found = self._conjunction()
        self.end("expected nothing after the closing )")
        self._refuse_mixed_rows()
        return tuple(found)

    def _conjunction(self) -> list[Comparison]:
        """Predicates in parentheses."""
        self.enter("too many nested parentheses; one pair is enough")
        groups = self.several(self._item_or_group, *_AND)
        self._close()
        return [predicate for group in groups for predicate in group]

    def _close(self) -> None:
        token = self.peek
        if token.word in OR:
            raise self.error(token, "a denial constraint has no or; write one rule for each side")
        if token.kind == "end":
            raise self.error(token, f"expected ) after {self.last}: a parenthesis is not closed")
        self._refuse_arithmetic(token)
        if token.word != ")":
            raise self.error(token, f"expected and or ) after {self.last}")
        self.leave()

    def _item_or_group(self) -> list[Comparison]:
        if self.peek.word in NOT:
            raise self.error(self.peek, "not may stand only in front; turn the operator instead (= into !=)")
        return self._conjunction() if self.peek.word == "(" else [self._comparison()]

    def _comparison(self) -> Comparison:
        start, left, token = self.peek, self._side(), self.peek
        if token.word in ("is", "in", "like", "between"):
            raise self.error(token, f"there is no operator {token.text}; use =, !=, <, <=, > or >=")
        self._refuse_arithmetic(token)
        operator = OPERATORS[self.one_of(OPERATORS, f"expected an operator after {self.last}").word]
        found = Comparison(left, operator, self._side())
        if not found.cells:
            raise self.error(start, "both sides are constants; one side must be a cell such as t.Age")
        return found

    def _refuse_arithmetic(self, token: Token) -> None:
        if token.word in ("+", "-", "*", "/"):
            raise self.error(token, _no_arithmetic(token.text))

    def _side(self) -> Operand:
        return self.cell() if self.peek.kind == "word" and self.after.word == "." else self.constant()

    def odd_word(self, token: Token) -> str:
        """The error for a word that is neither a cell nor a constant; the words after it belong to it."""
        if token.word == "null":
            return "a comparison with null is never true; t.A = t.A is true where A is not null"
        words = [token.text]
        while self.peek.kind == "word" and self.peek.word not in _AND | OR:
            words.append(self.take().text)
        said = " ".join(words)
        t, s, text = Cell("t", said).text, Cell("s", said).text, Constant(said).text
        return f"expected a cell or a constant; write {t} or {s} for a column, and {text}, in quotes, for a text"

    # ---- rows -------------------------------------------------------------------------------------------------------

    def row(self, token: Token) -> Row:
        """The row that a name means, which depends on the other name."""
        if token.word not in _ROWS:
            names = "rows are called t and s, or t1 and t2, or t0 and t1"
            raise self.error(token, f"there is no row {token.text}; {names}")
        self._met.setdefault(token.word, token)
        return self._roles.get(token.word, "t")

    def _find_roles(self) -> Mapping[str, Row]:
        words = zip(self.tokens, self.tokens[1:], strict=False)
        met = {token.word for token, following in words if following.word == "." and token.word in _ROWS}
        pair = next((pair for pair in _PAIRS if met == set(pair)), None)
        return {pair[0]: "t", pair[1]: "s"} if pair else {}

    def _refuse_mixed_rows(self) -> None:
        names = list(self._met)
        for place, name in enumerate(names):
            odd = next((each for each in names[:place] if not any({each, name} == set(pair) for pair in _PAIRS)), None)
            if odd:
                raise self.error(self._met[name], f"the rows {odd} and {name} don't go together; call them t and s")

    def unreadable(self, character: str) -> str:
        """The error where no token begins."""
        return _no_arithmetic(character) if character == "%" else super().unreadable(character)


def _no_arithmetic(sign: str) -> str:
    return f'a denial constraint has no arithmetic; put a column name that contains {sign} in double quotes: t."…"'
