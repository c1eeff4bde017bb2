"""What a rule says, in words and as comparisons: enough for a sentence about the rows that break it, and for SQL.

A rule about two rows is broken by rows that meet all of some comparisons; a rule may have several such sets, of which
one is enough. A rule about a reference to another table is broken by a row that has no partner there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Sign = Literal["=", "!=", "<", "<=", ">", ">="]
Row = Literal["t", "s"]

NEGATED: dict[str, Sign] = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@dataclass(frozen=True)
class Cell:
    """A column of one of the two rows."""

    row: Row
    column: str


@dataclass(frozen=True)
class Constant:
    """A value that the rule itself names, as rules and SQL write it."""

    text: str


@dataclass(frozen=True)
class Comparison:
    """Two cells that compare as the sign says, or a cell and a constant."""

    left: Cell
    sign: Sign
    right: Cell | Constant


@dataclass(frozen=True)
class Partner:
    """Rows of a table refer to rows of another by some columns."""

    table: str
    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]


@dataclass(frozen=True)
class Breach:
    """Rows that meet all comparisons break the rule; `faults` are the columns in which one looks for the fault."""

    comparisons: tuple[Comparison, ...]
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Meaning:
    """What a rule says."""

    sentence: str
    columns: tuple[str, ...]  # of the rows that break it, each once
    breaches: tuple[Breach, ...] = ()
    partner: Partner | None = None
    nulls_compare: bool = True  # null equals null and comes before every value; otherwise no comparison with it is true
    condition: str = ""  # in SQL, what every row t satisfies, or a quantity of the table does: broken where it is false
    quantity: str = ""  # in SQL, what is measured of the table
    constants: tuple[Constant, ...] = ()  # that the rule names beside those of its breaches


class Meanings(Protocol):
    """A module that knows what the rules of a class say."""

    def meaning(self, text: str) -> Meaning:
        """What the rule of a text says; BadInput where it is none."""


def alike(columns: Sequence[str]) -> tuple[Comparison, ...]:
    """Two rows share some columns."""
    return tuple(compared(column, "=") for column in columns)


def compared(column: str, sign: Sign) -> Comparison:
    """A column of one row compares with the same of the other."""
    return Comparison(Cell("t", column), sign, Cell("s", column))


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: `a`, `a and b`, `a, b and c`.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
