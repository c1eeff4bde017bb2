"""Functional dependencies and keys: frozen values, each with one text form that parses back.

    Zip -> State                 whoever agrees on Zip agrees on State
    City, Street -> Zip
    () -> Country                the empty left side: all rows agree on Country
    key(AreaCode, Phone)         no two rows agree on both
    key()                        there are not even two rows

Names that aren't plain words stand in double quotes, doubled within. `error` is the share of all pairs of rows that
break the rule (g1: violating pairs / (n (n - 1) / 2), papers: dynast, definition 6.1), 0 where the rule is exact;
`worth` says how much the data look as if the rule were meant (see `evidence` and `key_score`). A rule is `empty` where
nulls are distinct and fewer than two rows have values in all columns of its left side, or of the key: no pair of rows
could break it, whatever the values are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.changes.diff import Worth
from holdfast.changes.names import QUOTED, between, quoted
from holdfast.changes.reader import Reader, in_table_order, refuse_unknown, token_pattern
from holdfast.errors import BadInput

_QUOTED = re.compile(f"{QUOTED}|{between(chr(39))}")


@dataclass(frozen=True)
class FD:
    """Rows that agree on all of `lhs` agree on `rhs`."""

    table: str
    lhs: tuple[str, ...]
    rhs: str
    error: float = 0.0
    worth: Worth | None = field(default=None, compare=False)  # None: nobody asked for it
    empty: bool = False

    kind = "fd"

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """`City, Street -> Zip`."""
        return fd_text([quoted(name) for name in self.lhs], quoted(self.rhs))

    def written(self, names: Mapping[str, str]) -> str:
        """The text with other names in place of the columns'."""
        return fd_text([names[name] for name in self.lhs], names[self.rhs])

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The columns of both sides."""
        return (*self.lhs, self.rhs)

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {
            "kind": self.kind,
            "table": self.table,
            "lhs": list(self.lhs),
            "rhs": self.rhs,
            **_share(self.error),
            **(self.worth.to_json() if self.worth else {}),
            **_mark(self.empty),
            "text": self.text,
        }


@dataclass(frozen=True)
class Key:
    """No two rows agree on all of `columns`."""

    table: str
    columns: tuple[str, ...]
    error: float = 0.0
    worth: Worth | None = field(default=None, compare=False)
    empty: bool = False

    kind = "ucc"

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """`key(AreaCode, Phone)`."""
        return key_text([quoted(name) for name in self.columns])

    def written(self, names: Mapping[str, str]) -> str:
        """The text with other names in place of the columns'."""
        return key_text([names[name] for name in self.columns])

    @property
    def lhs(self) -> tuple[str, ...]:
        """Its columns: a key determines the row itself."""
        return self.columns

    @property
    def looked_at(self) -> tuple[str, ...]:
        """Its columns."""
        return self.columns

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints; an exact key has no error to tell."""
        about = {"kind": self.kind, "table": self.table, "columns": list(self.columns)}
        worth = self.worth.to_json() if self.worth else {}
        return {**about, **(_share(self.error) if self.error else {}), **worth, **_mark(self.empty), "text": self.text}


Rule = FD | Key


def _share(error: float) -> dict[str, Any]:
    """The error and, where there is one, what it is a share of: that of other classes is a share of something else."""
    return {"error": error, **({"measure": "share of pairs"} if error else {})}


def _mark(empty: bool) -> dict[str, Any]:
    return {"empty": True} if empty else {}


def columns_of(rule: Rule, names: Sequence[str]) -> tuple[list[int], int | None]:
    """The column numbers of a rule: its left side, and its right side (None for a key)."""
    if isinstance(rule, FD):
        return [names.index(name) for name in rule.lhs], names.index(rule.rhs)
    return [names.index(name) for name in rule.columns], None


def pairs_of(rows: int) -> int:
    """How many unordered pairs so many rows make."""
    return rows * (rows - 1) // 2


def fd_text(lhs: Sequence[str], rhs: str) -> str:
    """The text of an FD of names that are quoted already."""
    return f"{', '.join(lhs) or '()'} -> {rhs}"


def key_text(columns: Sequence[str]) -> str:
    """The text of a key of names that are quoted already."""
    return f"key({', '.join(columns)})"


def is_dependency(text: str) -> bool:
    """Whether a text means to be an FD or a key. What stands in double quotes is a name, whatever is in it; what starts
    with a brace or a bracket is of another class.
    """
    bare = _QUOTED.sub('""', text).lstrip()
    return ("->" in bare and not bare.startswith(("{", "["))) or is_key(text)


def is_key(text: str) -> bool:
    """Whether a text that means to be an FD or a key is a key."""
    return "->" not in _QUOTED.sub('""', text) and re.match(r"\s*key\s*\(", text) is not None


# ---- from text ------------------------------------------------------------------------------------------------------


def parse(text: str, names: Sequence[str] | None = None, table: str = "") -> Rule:
    """The rule of a text. With the column names of a table, columns come in their order; unknown ones are refused."""
    reader = _Reader(text, "write A, B -> C or key(A, B)")
    rule = reader.key(table) if reader.starts_key() else reader.fd(table)
    return rule if names is None else _in_order(rule, names, text)


class _Reader(Reader):
    """Reads an FD or a key."""

    pattern = token_pattern(r"->|[(),]")

    def starts_key(self) -> bool:
        return self.tokens[:2] == [("word", "key"), ("mark", "(")]

    def key(self, table: str) -> Key:
        self.at = 2
        columns = self.names(until=")")
        self.expect(")")
        self.expect("")
        return Key(table, columns)

    def fd(self, table: str) -> FD:
        if self.peek() == ("mark", "("):
            self.at = 1
            self.expect(")")
            lhs: tuple[str, ...] = ()
        else:
            lhs = self.names(until="->")
        self.expect("->")
        rhs = self.name()
        self.expect("")
        if rhs in lhs:
            raise BadInput(f"{self.text!r}: {rhs!r} stands on both sides, so it says nothing; leave one out")
        return FD(table, lhs, rhs)


def _in_order(rule: Rule, names: Sequence[str], text: str) -> Rule:
    refuse_unknown(text, rule.looked_at, names)
    if isinstance(rule, Key):
        return Key(rule.table, in_table_order(rule.columns, names))
    return FD(rule.table, in_table_order(rule.lhs, names), rule.rhs)
