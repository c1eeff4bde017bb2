"""The inclusion dependency: every value of some columns occurs in some others (papers: inclusion, definition 2.1).

Its text names it and parses back: `orders.cust in customers.id`, and for several columns
`lineitem(l_partkey, l_suppkey) in partsupp(ps_partkey, ps_suppkey)`. A name that is no plain word stands in double
quotes, a quote in it doubled.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from holdfast.changes.names import NAME, QUOTED, between, quoted, unquoted
from holdfast.errors import BadInput

_LIST = rf"\(\s*{NAME}(?:\s*,\s*{NAME})*\s*\)"
_SIDE = rf"({NAME})\s*(?:\.\s*({NAME})|({_LIST}))"
_TEXT = re.compile(rf"\s*{_SIDE}\s+(?i:in)\s+{_SIDE}\s*")
_QUOTED = re.compile(f"{QUOTED}|{between(chr(39))}")


@dataclass(frozen=True, order=True)
class Side:
    """Some columns of a table, in order."""

    table: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        names = [quoted(name) for name in self.columns]
        plain = f".{names[0]}" if len(names) == 1 else f"({', '.join(names)})"
        return quoted(self.table) + plain


@dataclass(frozen=True)
class IND:
    """`dependent in referenced`, with how far it holds: the values and the rows of the dependent side that are
    missing on the referenced one, and their shares. A dependent side without any value is `empty`: it is included
    in everything, which says little.
    """

    dependent: Side
    referenced: Side
    missing_values: int = 0
    missing_rows: int = 0
    value_coverage: float = 1.0
    row_coverage: float = 1.0
    empty: bool = False

    kind = "ind"

    @property
    def text(self) -> str:
        """What names it."""
        return f"{self.dependent} in {self.referenced}"

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The columns of the rows that can break it."""
        return self.dependent.columns

    @property
    def arity(self) -> int:
        """How many columns each side has."""
        return len(self.dependent.columns)

    def __str__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints: each side as its table and then its columns."""
        return {
            "kind": self.kind,
            "dependent": [self.dependent.table, *self.dependent.columns],
            "referenced": [self.referenced.table, *self.referenced.columns],
            "value_coverage": self.value_coverage,
            "row_coverage": self.row_coverage,
            "missing_values": self.missing_values,
            "missing_rows": self.missing_rows,
            **({"empty": True} if self.empty else {}),
            "text": self.text,
        }

    @staticmethod
    def from_json(value: dict[str, Any]) -> IND:
        """The dependency that `to_json` described."""
        dependent, referenced = value["dependent"], value["referenced"]
        return IND(
            Side(dependent[0], tuple(dependent[1:])),
            Side(referenced[0], tuple(referenced[1:])),
            value["missing_values"],
            value["missing_rows"],
            value["value_coverage"],
            value["row_coverage"],
            value.get("empty", False),
        )


def is_inclusion(text: str) -> bool:
    """Whether a text means to be an inclusion dependency. What stands in quotes may be anything; what starts with a
    brace or a bracket is of another class, and may speak of a column `in`; behind the `in` of a list is a parenthesis.
    """
    return re.match(r"\s*[^\s{[].*\s(?i:in)\s+[^\s(]", _QUOTED.sub('""', text), re.DOTALL) is not None


def parse(text: str) -> IND:
    """The dependency that a text names, as if it held."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise BadInput(
            f"{text!r} is no inclusion dependency; write `orders.cust in customers.id`, or "
            "`orders(a, b) in customers(c, d)`"
        )
    dependent, referenced = _side(*match.groups()[:3]), _side(*match.groups()[3:])
    if len(dependent.columns) != len(referenced.columns):
        raise BadInput(f"{text!r} has not as many columns on the left as on the right")
    return IND(dependent, referenced)


def _side(table: str, column: str | None, several: str | None) -> Side:
    names = [column] if column is not None else re.findall(NAME, several or "")
    return Side(unquoted(table), tuple(unquoted(name) for name in names))
