"""Canonical order dependencies (papers: fastod, definition 6): frozen values, each with one text form that parses back.

    {Zip}: [] -> State                  among rows that agree on Zip, State is constant (the FD Zip -> State)
    {Year, State}: Salary ~ Tax         among rows that agree on both, nobody has more Salary and less Tax
    {}: Price ~ Discount desc           sorted by Price upwards is sorted by Discount downwards, ties aside

The columns in braces are the **context**. Two rows that agree on it **split** a constant where they differ there, and
**swap** a pair where one row has more on one column and less on the other; with `desc`, where it has more on both. The
columns of a context stand in the order of the table, and so do those of a pair; `A ~ B` says what `B ~ A` says, and
`A desc ~ B` what `A ~ B desc` does. Names that aren't plain words stand in double quotes, doubled within.

`error` is the share of rows that must go so that the rule holds (section 4.7), 0 where the rule is exact. `score` is
its interestingness there: the sum of the squared sizes of the groups of its context (see `scores`); None where nobody
asked for it. A rule is `empty` where nulls are distinct and fewer than two rows have values in all columns of its
context and of its pair: no two rows could break it, whatever the values are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from holdfast.changes.names import quoted
from holdfast.changes.reader import Reader, follows_braces, in_table_order, refuse_unknown, token_pattern
from holdfast.errors import BadInput

Direction = Literal["asc", "desc"]

_DESC = "desc"


@dataclass(frozen=True)
class Constant:
    """Rows that agree on all of `context` agree on `column`."""

    table: str
    context: tuple[str, ...]
    column: str
    error: float = 0.0
    score: int | None = None
    empty: bool = False

    kind = "od"

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """`{Zip}: [] -> State`."""
        return constant_text([quoted(name) for name in self.context], quoted(self.column))

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The context and the column."""
        return (*self.context, self.column)

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return _object(self, {"constant": self.column})


@dataclass(frozen=True)
class Compatible:
    """Among rows that agree on all of `context`, no two swap `pair`: the two columns are order compatible there."""

    table: str
    context: tuple[str, ...]
    pair: tuple[str, str]
    direction: Direction = "asc"
    error: float = 0.0
    score: int | None = None
    empty: bool = False

    kind = "od"

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """`{State}: Salary ~ Rate`, or `{State}: Salary ~ Rate desc`."""
        one, other = (quoted(name) for name in self.pair)
        return compatible_text([quoted(name) for name in self.context], one, other, self.direction)

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The context and the pair."""
        return (*self.context, *self.pair)

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return _object(self, {"pair": list(self.pair), "direction": self.direction})


Rule = Constant | Compatible


def _object(rule: Rule, about: dict[str, Any]) -> dict[str, Any]:
    scored = {} if rule.score is None else {"score": rule.score}
    mark = {"empty": True} if rule.empty else {}
    start = {"kind": rule.kind, "table": rule.table, "context": list(rule.context)}
    return {**start, **about, **_share(rule.error), **scored, **mark, "text": rule.text}


def _share(error: float) -> dict[str, Any]:
    """The error and, where there is one, what it is a share of: that of other classes is a share of something else."""
    return {"error": error, **({"measure": "share of rows"} if error else {})}


def constant_text(context: Sequence[str], column: str) -> str:
    """The text of a constant of names that are quoted already."""
    return f"{{{', '.join(context)}}}: [] -> {column}"


def compatible_text(context: Sequence[str], one: str, other: str, direction: Direction) -> str:
    """The text of a pair of names that are quoted already."""
    return f"{{{', '.join(context)}}}: {one} ~ {other}{' desc' if direction == _DESC else ''}"


def is_canonical(text: str) -> bool:
    """Whether a text means to be a canonical order dependency: it starts with its context, no arrow behind that."""
    return text.lstrip().startswith("{") and follows_braces(text) != "->"


# ---- from text ------------------------------------------------------------------------------------------------------


def parse(text: str, names: Sequence[str] | None = None, table: str = "") -> Rule:
    """The rule of a text. With the column names of a table, columns come in their order; unknown ones are refused."""
    rule = _Reader(text, "write {A}: [] -> B, {A}: B ~ C or {A}: B ~ C desc").rule(table)
    return rule if names is None else _in_order(rule, names, text)


class _Reader(Reader):
    """Reads a canonical order dependency."""

    pattern = token_pattern(r"->|[{}\[\]:,~]")

    def rule(self, table: str) -> Rule:
        self.expect("{")
        context = self.names(until="}")
        self.expect("}")
        self.expect(":")
        rule = self.constant(table, context) if self.peek() == ("mark", "[") else self.pair(table, context)
        self.expect("")
        self.refuse_trivial(rule)
        return rule

    def constant(self, table: str, context: tuple[str, ...]) -> Constant:
        for mark in ("[", "]", "->"):
            self.expect(mark)
        return Constant(table, context, self.name())

    def pair(self, table: str, context: tuple[str, ...]) -> Compatible:
        one, down = self.name(), self.descends()
        self.expect("~")
        other, other_down = self.name(), self.descends()
        return Compatible(table, context, (one, other), "asc" if down == other_down else "desc")

    def descends(self) -> bool:
        """Whether `desc` stands here; a column of that name may stand before it."""
        there = self.peek() == ("word", _DESC)
        self.at += there
        return there

    def refuse_trivial(self, rule: Rule) -> None:
        """A column of the context is constant there, and each column goes with itself."""
        own = [rule.column] if isinstance(rule, Constant) else list(rule.pair)
        for name in own:
            if [*rule.context, *own].count(name) > 1:
                raise BadInput(f"{self.text!r}: {name!r} is there twice, so it says nothing; leave one out")


def _in_order(rule: Rule, names: Sequence[str], text: str) -> Rule:
    refuse_unknown(text, rule.looked_at, names)
    context = in_table_order(rule.context, names)
    if isinstance(rule, Constant):
        return Constant(rule.table, context, rule.column)
    one, other = in_table_order(rule.pair, names)
    return Compatible(rule.table, context, (one, other), rule.direction)
