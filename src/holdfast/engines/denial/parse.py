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

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.changes.names import QUOTED, WORD, between, unquoted
from holdfast.engines.declared import Severity
from holdfast.engines.denial.model import MIRRORED, Cell, Constant, DenialConstraint, Operator, Predicate, Row
from holdfast.engines.language.tokens import OPERATORS, Token, Tokens

_PAIRS = (("t", "s"), ("t1", "t2"), ("t0", "t1"))
_BOTH: tuple[Row, Row] = ("t", "s")
_ROWS = frozenset(row for pair in _PAIRS for row in pair)
_CONNECTIVES = frozenset(["and", "&", "&&", "∧", ","])
_NEGATIONS = frozenset(["not", "!", "¬"])
_ALTERNATIVES = frozenset(["or", "|", "||", "∨"])
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
_DEEPEST = 50


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


class _Parser(Tokens):
    """Recursive descent over the tokens of one rule."""

    pattern = _TOKEN

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    # ---- rules ------------------------------------------------------------------------------------------------------

    def rule(self) -> tuple[Predicate, ...]:
        """The whole text."""
        if self.peek.word not in _NEGATIONS:
            raise self.error(self.peek, "a denial constraint starts with not( …, such as not(t.Age < 0)")
        self.take()
        if self.peek.word != "(":
            raise self.error(self.peek, f"expected ( after {self.last}")
        written = self._group()
        if self.peek.kind != "end":
            raise self.error(self.peek, "expected nothing after the closing )")
        roles = self._roles([side for left, _, right in written for side in (left, right) if isinstance(side, _Named)])
        return tuple(_with_roles(each, roles) for each in written)

    def _group(self) -> list[_Written]:
        """A conjunction in parentheses."""
        opening = self.take()
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.error(opening, "there are too many parentheses within each other; one pair is enough")
        found = self._item()
        while self.peek.word in _CONNECTIVES:
            self.take()
            found += self._item()
        self._close()
        self._depth -= 1
        return found

    def _close(self) -> None:
        token = self.peek
        if token.word in _ALTERNATIVES:
            raise self.error(token, "there is no or; write one rule for each side")
        if token.kind == "end":
            raise self.error(token, f"expected ) after {self.last}: a parenthesis is not closed")
        if token.word != ")":
            raise self.error(token, f"expected and or ) after {self.last}")
        self.take()

    def _item(self) -> list[_Written]:
        if self.peek.word in _NEGATIONS:
            raise self.error(self.peek, "not stands once, around the whole; turn the operator instead (= into !=)")
        return self._group() if self.peek.word == "(" else [self._predicate()]

    def _predicate(self) -> _Written:
        start = self.peek
        left = self._operand()
        operator = self._operator()
        right = self._operand()
        if isinstance(left, _Named):
            return left, operator, right
        if isinstance(right, _Named):
            return right, MIRRORED[operator], left
        raise self.error(start, "both sides are constants; one side must be a cell such as t.Age")

    def _operator(self) -> Operator:
        token = self.peek
        if token.word in ("is", "in", "like", "between"):
            raise self.error(token, f"there is no operator {token.text}; use =, !=, <, <=, > or >=")
        if token.word not in OPERATORS:
            raise self.error(token, f"expected an operator after {self.last}")
        return OPERATORS[self.take().word]

    # ---- operands ---------------------------------------------------------------------------------------------------

    def _operand(self) -> _Named | Constant:
        token = self.peek
        if token.kind == "number":
            return self.number()
        if token.kind == "string":
            return Constant(unquoted(self.take().text))
        if token.kind == "quoted":
            raise self.error(token, "text goes in single quotes, such as 'paid', and a column needs its row: t.\"…\"")
        if token.kind != "word":
            raise self.error(token, f"expected a cell such as t.Age, or a constant, after {self.last}")
        return self._cell() if self.after.word == "." else self._word()

    def _cell(self) -> _Named:
        row = self.take()
        if row.word not in _ROWS:
            raise self.error(row, f"there is no row {row.text}; rows are called t and s, or t1 and t2, or t0 and t1")
        self.take()
        column = self.peek
        if column.kind not in ("word", "quoted"):
            raise self.error(column, f'expected a column after {row.text}.; names that are no plain words go in "…"')
        self.take()
        self.last = f"{row.text}.{column.text}"
        return _Named(row.word, unquoted(column.text), row.at)

    def _word(self) -> Constant:
        token = self.take()
        if (constant := self.named_constant(token)) is not None:
            return constant
        if token.word == "null":
            raise self.error(token, "a comparison with null is never true; t.A = t.A is true where A is not null")
        if token.word in _CONNECTIVES or token.word in _ALTERNATIVES:
            raise self.error(token, "expected a cell such as t.Age, or a constant")
        raise self.error(token, self._unquoted_words(token))

    def _unquoted_words(self, first: Token) -> str:
        """What to do about a word that is neither a cell nor a constant, nor are the words that follow it."""
        words = [first.text]
        while self.peek.kind == "word" and self.peek.word not in _CONNECTIVES | _ALTERNATIVES:
            words.append(self.take().text)
        said = " ".join(words)
        t, s = (Cell(row, said).text for row in _BOTH)
        text = Constant(said).text
        return f"expected a cell or a constant; write {t} or {s} for a column, and {text}, in quotes, for a text"

    def _roles(self, cells: Sequence[_Named]) -> dict[str, Row]:
        """Which row name is t and which is s."""
        met: dict[str, None] = {}
        for cell in cells:
            odd = next((row for row in met if row != cell.row and not _is_pair(row, cell.row)), None)
            if odd:
                raise self.error_at(cell.at, f"the rows {odd} and {cell.row} don't go together; call them t and s")
            met[cell.row] = None
        if len(met) == 1:
            return dict.fromkeys(met, "t")
        first, second = next(pair for pair in _PAIRS if met.keys() == set(pair))
        return {first: "t", second: "s"}

    def unreadable(self, character: str) -> str:
        """What is wrong where no token begins."""
        if character in "+-*/%":
            return f'there is no arithmetic; a column name with {character} in it goes in double quotes: t."…"'
        return super().unreadable(character)


def _is_pair(one: str, other: str) -> bool:
    return (one, other) in _PAIRS or (other, one) in _PAIRS


def _with_roles(written: _Written, roles: Mapping[str, Row]) -> Predicate:
    left, operator, right = written
    other = Cell(roles[right.row], right.column) if isinstance(right, _Named) else right
    return Predicate(Cell(roles[left.row], left.column), operator, other)
