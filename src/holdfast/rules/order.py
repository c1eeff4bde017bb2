"""Canonical order dependencies (papers: fastod, definition 6).

    {Zip}: [] -> State                  among rows that agree on Zip, State is constant (the FD Zip -> State)
    {Year, State}: Salary ~ Tax         among rows that agree on both, nobody has more Salary and less Tax
    {}: Price ~ Discount desc           sorted by Price upwards is sorted by Discount downwards, ties aside

The columns in braces are the **context**. Two rows that agree on it **split** a constant if they differ on its column;
they **swap** a pair if one row has more on one column and less on the other (with `desc`: more on both). The columns of
a context stand in the order of the table, and so do those of a pair: `A ~ B` says what `B ~ A` says, and `A desc ~ B`
what `A ~ B desc` says. Names that aren't plain words stand in double quotes, doubled within.

`error` is g3, the least share of rows to remove so that the rule holds (section 4.7); 0: the rule is exact.
`tested_pairs` is its interestingness there: the sum of the squared sizes of the groups of its context, the ordered
pairs of rows that these put together (None: not computed). With distinct nulls a rule is `empty` if fewer than two rows
have values in all its columns: then no two rows could break it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from holdfast.rules.conditions import alike, compared
from holdfast.rules.error_measures import error_figures
from holdfast.rules.reader import Reader, follows_braces
from holdfast.rules.rule import Breach, Rule, listed
from holdfast.table.nulls import Nulls
from holdfast.text.quotes import quoted

Direction = Literal["asc", "desc"]


class _Reader(Reader):
    hint = "write {A}: [] -> B, {A}: B ~ C or {A}: B ~ C desc"

    def context(self) -> tuple[str, ...]:
        """`{A, B}:`."""
        self.expect("{")
        context = self.names(until="}")
        self.expect(":")
        return context


@dataclass(frozen=True)
class _Canonical(Rule):
    """What both forms share."""

    table: str
    context: tuple[str, ...]
    error: float = field(default=0.0, kw_only=True)
    tested_pairs: int | None = field(default=None, kw_only=True)
    empty: bool = field(default=False, kw_only=True)

    kind = prefix = "od"
    described = "an order dependency"

    @property
    def among(self) -> str:
        """`Among rows that share Zip, `."""
        return f"Among rows that share {listed(self.context)}, " if self.context else ""

    def refuse_trivial(self, reader: Reader, own: Sequence[str]) -> Self:
        """Refuse a column that is there twice: such a rule holds always."""
        for place, name in enumerate(own):
            if name in (*self.context, *own[:place]):
                raise reader.wrong(f"{name!r} is there twice, so it says nothing; leave one out")
        reader.end()
        return self

    @property
    def figures(self) -> dict[str, Any]:
        """Its error, and how many pairs of rows test it."""
        tested = {} if self.tested_pairs is None else {"tested_pairs": self.tested_pairs}
        return {**error_figures(self.error, "g3"), **tested, **({"empty": True} if self.empty else {})}


@dataclass(frozen=True)
class ConstantOD(_Canonical):
    """Rows that agree on all of `context` agree on `column`."""

    column: str

    NAMES = ("context", "column", "where")
    SETS = ("context",)
    example = "{Zip}: [] -> State"

    @classmethod
    def means(cls, text: str) -> bool:
        """Brackets follow the context."""
        return follows_braces(text).endswith("[")

    @classmethod
    def parse(cls, text: str) -> Self:
        """`{A}: [] -> B`."""
        reader = _Reader(text)
        context = reader.context()
        reader.expect("[", "]", "->")
        column = reader.name()
        return cls("", context, column).refuse_trivial(reader, [column])

    @property
    def body(self) -> str:
        """`{Zip}: [] -> State`."""
        return constant_text([quoted(name) for name in self.context], quoted(self.column))

    @property
    def says(self) -> str:
        """`Among rows that share Zip, all have the same State.`"""
        return f"{self.among}all have the same {self.column}." if self.context else f"All rows share {self.column}."

    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:
        """Two rows of a group that differ on the column."""
        return (Breach((*alike(self.context, nulls), compared(self.column, "!=", nulls)), (self.column,), "split"),)

    @property
    def about(self) -> dict[str, Any]:
        """Its context and its column."""
        return {"context": list(self.context), "constant": self.column}


@dataclass(frozen=True)
class Compatible(_Canonical):
    """Among rows that agree on all of `context`, no two swap `pair`: the two columns are order compatible there."""

    pair: tuple[str, str]
    direction: Direction = "asc"

    NAMES = ("context", "pair", "where")
    ABOUT = ("context", "pair", "direction")
    SETS = ("context", "pair")
    example = "{State}: Salary ~ Rate"

    @classmethod
    def means(cls, text: str) -> bool:
        """It starts with its context, and neither brackets nor an arrow follow."""
        return text.lstrip().startswith("{") and follows_braces(text) != "->" and not ConstantOD.means(text)

    @classmethod
    def parse(cls, text: str) -> Self:
        """`{A}: B ~ C`, or `{A}: B ~ C desc`; a column may have the name `desc`."""
        reader = _Reader(text)
        context = reader.context()
        one, down = reader.name(), reader.takes("desc")
        reader.expect("~")
        other, other_down = reader.name(), reader.takes("desc")
        rule = cls("", context, (one, other), "asc" if down == other_down else "desc")
        return rule.refuse_trivial(reader, rule.pair)

    @property
    def body(self) -> str:
        """`{State}: Salary ~ Rate`, or `{State}: Salary ~ Rate desc`."""
        one, other = (quoted(name) for name in self.pair)
        return compatible_text([quoted(name) for name in self.context], one, other, self.direction)

    @property
    def says(self) -> str:
        """`Among rows that share State, Rate never falls while Salary rises.`"""
        one, other = self.pair
        return f"{self.among}{other} never {'falls' if self.direction == 'asc' else 'rises'} while {one} rises."

    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:
        """Two rows of a group that the two columns order in opposite ways."""
        one, other = self.pair
        swap = (compared(one, "<", nulls), compared(other, ">" if self.direction == "asc" else "<", nulls))
        return (Breach((*alike(self.context, nulls), *swap), self.pair, "swap"),)


Canonical = ConstantOD | Compatible


def constant_text(context: Sequence[str], column: str) -> str:
    """The text of a constant; names come quoted."""
    return f"{{{', '.join(context)}}}: [] -> {column}"


def compatible_text(context: Sequence[str], one: str, other: str, direction: Direction) -> str:
    """The text of a pair; names come quoted."""
    return f"{{{', '.join(context)}}}: {one} ~ {other}{' desc' if direction == 'desc' else ''}"


def parse(text: str, names: Sequence[str], table: str) -> Canonical:
    """The rule of a text about a table with some columns; refuses unknown columns."""
    rule: Canonical = ConstantOD.parse(text) if ConstantOD.means(text) else Compatible.parse(text)
    return rule.in_table(names, table)
