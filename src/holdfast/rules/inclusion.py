"""The inclusion dependency: every value of some columns occurs in some others (papers: inclusion, definition 2.1).

    orders.cust in customers.id
    lineitem(l_partkey, l_suppkey) in partsupp(ps_partkey, ps_suppkey)
    orders.cust in customers.id within 2 batches         a row may wait for its partner (see `engines/given/grace`)

Names that aren't plain words stand in double quotes, doubled within.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from holdfast.errors import BadInput, suggest
from holdfast.rules.reader import Reader, refuse_unknown, without_quoted
from holdfast.rules.rule import Breach, NoPartner, Rule, Scope
from holdfast.rules.terms import Term, renamed
from holdfast.table.nulls import Nulls
from holdfast.text.quotes import quoted

_MOST_BATCHES = 1_000
_FIGURES = ("value_coverage", "row_coverage", "missing_values", "missing_rows")


@dataclass(frozen=True, order=True)
class Side(Term):
    """Some columns of a table, in order."""

    table: str
    columns: tuple[str, ...]

    NAMES = ("columns",)

    def __str__(self) -> str:
        names = [quoted(name) for name in self.columns]
        plain = f".{names[0]}" if len(names) == 1 else f"({', '.join(names)})"
        return quoted(self.table) + plain

    def to_json(self) -> list[str]:
        """The table and then the columns."""
        return [self.table, *self.columns]


class _Reader(Reader):
    hint = "write orders.cust in customers.id, or orders(a, b) in customers(c, d)"

    def side(self) -> Side:
        """`orders.cust`, or `orders(a, b)`; a column may be there twice."""
        table = self.name()
        if self.takes("."):
            return Side(table, (self.name(),))
        if not self.takes("("):
            raise self.expected(". or (")
        if self.peek.word == ")":
            raise self.expected("a column name")
        return Side(table, tuple(self.items(self.name, ")")))

    def grace(self) -> int:
        """`2 batches`."""
        token = self.peek
        count = self.number().value if token.kind == "number" else None
        if not isinstance(count, int) or not 1 <= count <= _MOST_BATCHES:
            raise self.error(token, f"expected a number of batches from 1 to {_MOST_BATCHES:,}, such as 2 batches")
        if not self.takes("batch", "batches"):
            raise self.expected("batches")
        return count


@dataclass(frozen=True)
class IND(Rule):
    """`dependent in referenced`, with how far it holds: how many values and rows of the dependent side are missing on
    the referenced side, and which shares are there. It is `empty` if the dependent side has no value at all: then it is
    included in everything. Where it was rated as a foreign key, it has a score and its reasons: each a number from 0 to
    1.
    """

    dependent: Side
    referenced: Side
    missing_values: int = 0
    missing_rows: int = 0
    value_coverage: float = 1.0
    row_coverage: float = 1.0
    empty: bool = False
    score: float | None = None
    reasons: tuple[tuple[str, float], ...] = ()
    table: str = field(default="", init=False)  # follows from its left side
    grace: int = field(default=0, kw_only=True)  # batches that a row may wait for its partner

    NAMES = ("dependent", "where")  # of the table whose rows can break it
    kind = "ind"
    prefix = "ref"
    counted = "rows without a partner"
    given_as = "reference"
    across = True
    ABOUT = ("dependent", "referenced")
    example = "orders.cust in customers.id"
    described = "an inclusion dependency"

    @classmethod
    def means(cls, text: str) -> bool:
        """It has an `in` outside quotes. A text that starts with a brace or a bracket is of another class, and may name
        a column `in`; a parenthesis follows the `in` of a list of constants.
        """
        return re.match(r"[^{[].*\b(?i:in)\b\s*[^\s(]", without_quoted(text), re.DOTALL) is not None

    @classmethod
    def parse(cls, text: str) -> Self:
        """`orders.cust in customers.id`."""
        reader = _Reader(text)
        dependent = reader.side()
        reader.expect("in")
        referenced = reader.side()
        grace = reader.grace() if reader.takes("within") else 0
        reader.end()
        if len(dependent.columns) != len(referenced.columns):
            raise reader.wrong("the two sides differ in their number of columns")
        return cls(dependent, referenced, grace=grace)

    @property
    def body(self) -> str:
        """`orders.cust in customers.id`."""
        own = f"{self.dependent} in {self.referenced}"
        return f"{own} within {_batches(self.grace)}" if self.grace else own

    @property
    def says(self) -> str:
        """`Every orders.cust is a customers.id.`"""
        later = f", at the latest {_batches(self.grace)} later" if self.grace else ""
        return f"Every {self.dependent} is a {self.referenced}{later}."

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", self.dependent.table)

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sides."""
        return self.dependent, self.referenced

    @property
    def arity(self) -> int:
        """How many columns each side has."""
        return len(self.dependent.columns)

    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:  # noqa: ARG002  # nulls are no values here
        """A row breaks it if its values do not occur on the other side."""
        own, other = self.dependent, self.referenced
        return (Breach((NoPartner(own.columns, other.table, other.columns),), own.columns),)

    def checked(self, scope: Scope) -> tuple[Self, Sequence[str]]:
        """Both tables have the columns, and these compare."""
        from holdfast.table.types import family, show_type  # Arrow is slow to import

        schemas = scope.schemas
        for side in self.sides:
            if side.table not in schemas:
                raise BadInput(f"{self.text!r}: there is no table {side.table!r}; {suggest(side.table, schemas)}")
            refuse_unknown(self.text, side.columns, schemas[side.table].names)
        if self.where is not None and self.dependent.table == self.referenced.table:
            raise BadInput(f"{self.text!r} is about one table, and where would be about both sides; leave it out")
        if self.dependent == self.referenced:
            raise BadInput(f"{self.text!r} has the same columns on both sides, so it always holds; name others")
        pairs = zip(*(schemas[side.table].named(side.columns) for side in self.sides), strict=True)
        for a, b in pairs:
            if family(a.type) != family(b.type):
                types = f"{a.name} ({show_type(a.type)}) and {b.name} ({show_type(b.type)})"
                raise BadInput(f"{self.text!r}: {types} don't compare")
        return self, ()

    def mentions(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Both sides."""
        yield self.table, self.columns
        yield self.referenced.table, self.referenced.columns

    def renamed(self, table: str, names: Mapping[str, str]) -> Self:
        """The sides of that table."""
        own, other = (renamed(s, names) if s.table == table else s for s in self.sides)
        where = renamed(self.where, names) if self.table == table else self.where
        return replace(self, dependent=own, referenced=other, where=where)

    @property
    def figures(self) -> dict[str, Any]:
        """What is missing."""
        return {name: getattr(self, name) for name in _FIGURES} | ({"empty": True} if self.empty else {})

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        rated = {} if self.score is None else {"score": round(self.score, 4), "reasons": dict(self.reasons)}
        return {"kind": self.kind, **self.about, **self.figures, "text": self.text, **rated}


def _batches(count: int) -> str:
    return f"{count} batch{'es' * (count != 1)}"


parse = IND.parse
