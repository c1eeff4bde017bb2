"""Functional dependencies and keys.

    Zip -> State                 rows that agree on Zip agree on State
    City, Street -> Zip
    () -> Country                the empty left side: all rows agree on Country
    key(AreaCode, Phone)         no two rows agree on both
    key()                        there are not even two rows

Names that aren't plain words stand in double quotes, doubled within. `error` is g1, the share of all pairs of rows that
break the rule: violating pairs / (n (n - 1) / 2) (papers: dynast, definition 6.1); 0: the rule is exact. `worth` is its
score (see `fd_score` and `key_score` of the engine). With distinct nulls a rule is `empty` if fewer than two rows have
values in all columns of its left side, or of the key: then no pair of rows could break it.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from holdfast.rules.conditions import alike, compared
from holdfast.rules.error_measures import error_figures
from holdfast.rules.reader import Reader, without_quoted
from holdfast.rules.rule import Breach, Rule, listed
from holdfast.table.nulls import Nulls
from holdfast.text.quotes import quoted

if TYPE_CHECKING:  # NumPy takes its time
    from holdfast.changes.diff import Worth

_HINT = "write A, B -> C or key(A, B)"


@dataclass(frozen=True)
class _OfGroups(Rule):
    """FDs and keys are about the groups of rows that agree on all of `lhs`."""

    table: str
    lhs: tuple[str, ...]
    error: float = field(default=0.0, kw_only=True)
    worth: Worth | None = field(default=None, compare=False, kw_only=True)  # None: not computed
    empty: bool = field(default=False, kw_only=True)

    SETS = ("lhs",)
    given_as = "named"
    counted = "rows to remove"

    @property
    def body(self) -> str:
        """`City, Street -> Zip`, or `key(AreaCode, Phone)`."""
        return self.written({name: quoted(name) for name in self.columns})

    @abstractmethod
    def written(self, names: Mapping[str, str]) -> str:
        """The text with other names in place of the columns'."""

    @property
    def figures(self) -> dict[str, Any]:
        """Its error and its score."""
        worth = self.worth.to_json() if self.worth else {}
        return {**error_figures(self.error, "g1"), **worth, **({"empty": True} if self.empty else {})}


@dataclass(frozen=True)
class FD(_OfGroups):
    """Rows that agree on all of `lhs` agree on `rhs`."""

    rhs: str

    NAMES = ("lhs", "rhs", "where")
    ABOUT = ("lhs", "rhs")
    kind = prefix = "fd"
    example = "Zip -> City"
    described = "a functional dependency"

    @classmethod
    def means(cls, text: str) -> bool:
        """It has an arrow, and starts with no brace or bracket, as rules of other classes do."""
        bare = without_quoted(text)
        return "->" in bare and not bare.startswith(("{", "["))

    @classmethod
    def parse(cls, text: str) -> Self:
        """`A, B -> C`, or `() -> C`."""
        reader = Reader(text, _HINT)
        if reader.takes("("):
            reader.expect(")", "->")
            lhs: tuple[str, ...] = ()
        else:
            lhs = reader.names(until="->")
        rhs = reader.name()
        reader.end()
        if rhs in lhs:
            raise reader.wrong(f"{rhs!r} stands on both sides, so the rule always holds; leave one out")
        return cls("", lhs, rhs)

    def written(self, names: Mapping[str, str]) -> str:
        """The text with other names in place of the columns'."""
        return fd_text([names[name] for name in self.lhs], names[self.rhs])

    @property
    def says(self) -> str:
        """`Rows that share Zip share State.`"""
        return f"Rows that share {listed(self.lhs)} share {self.rhs}." if self.lhs else f"All rows share {self.rhs}."

    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:
        """Two rows that agree on the left and differ on the right break it."""
        return (Breach((*alike(self.lhs, nulls), compared(self.rhs, "!=", nulls)), (self.rhs,)),)


@dataclass(frozen=True)
class Key(_OfGroups):
    """No two rows agree on all of `lhs`: a key determines the row itself."""

    NAMES = ("lhs", "where")
    kind = "ucc"
    prefix = "key"
    example = "key(Zip)"
    described = "a key"

    @classmethod
    def means(cls, text: str) -> bool:
        """It starts with `key(`."""
        bare = without_quoted(text)
        return "->" not in bare and re.match(r"(?i)key\s*\((?![^()]*\)\s*in\b)", bare) is not None

    @classmethod
    def parse(cls, text: str) -> Self:
        """`key(A, B)`."""
        reader = Reader(text, _HINT)
        reader.expect("key", "(")
        lhs = reader.names(until=")")
        reader.end()
        return cls("", lhs)

    def written(self, names: Mapping[str, str]) -> str:
        """The text with other names in place of the columns'."""
        return key_text([names[name] for name in self.lhs])

    @property
    def says(self) -> str:
        """`No two rows share AreaCode and Phone.`"""
        return f"No two rows share {listed(self.lhs)}." if self.lhs else "There are no two rows."

    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:
        """Two rows that agree break it."""
        return (Breach(alike(self.lhs, nulls), self.lhs),)

    @property
    def about(self) -> dict[str, Any]:
        """Its columns."""
        return {"columns": list(self.lhs)}

    @property
    def figures(self) -> dict[str, Any]:
        """An exact key shows no error."""
        return {name: each for name, each in super().figures.items() if name != "error" or self.error}


Dependency = FD | Key


def columns_of(rule: Dependency, names: Sequence[str]) -> tuple[list[int], int | None]:
    """The column numbers of a rule: its left side, and its right side (None for a key)."""
    return [names.index(name) for name in rule.lhs], names.index(rule.rhs) if isinstance(rule, FD) else None


def fd_text(lhs: Sequence[str], rhs: str) -> str:
    """The text of an FD; names come quoted."""
    return f"{', '.join(lhs) or '()'} -> {rhs}"


def key_text(columns: Sequence[str]) -> str:
    """The text of a key; names come quoted."""
    return f"key({', '.join(columns)})"


def parse(text: str, names: Sequence[str], table: str) -> Dependency:
    """The FD or key of a text about a table with some columns; refuses unknown columns."""
    rule: Dependency = Key.parse(text) if Key.means(text) else FD.parse(text)
    return rule.in_table(names, table)
