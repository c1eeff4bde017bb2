"""Pair queries: which ordered pairs of different rows (t, s) meet a conjunction of comparisons.

A condition `t.A op s.B` is between a row that is searched for and a row that asks. When a row plays t, partners are
looked up among the rows that may be s, and the other way round (papers: weever, section 3.2, the intermediates I and
I'): a query is two **lookups**. Comparisons about one row, with constants among them, are **checks**: they decide
beforehand which rows may ask and which may be found.

What a comparison with null means (`table/nulls.py`) is a matter of the search, not of the query.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

Operator = Literal["=", "!=", "<", "<=", ">", ">="]
MIRRORED: dict[Operator, Operator] = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class NamedValue(Protocol):
    """A value that a rule names. Two that are equal as objects are the same value."""

    @property
    def value(self) -> Any:
        """The value, of the column's type."""


@dataclass(frozen=True)
class Condition:
    """`row.mine operator query.theirs`: between a row searched for and the one that asks."""

    mine: int
    operator: Operator
    theirs: int

    @property
    def mirrored(self) -> Condition:
        """The same said from the other side."""
        return Condition(self.theirs, MIRRORED[self.operator], self.mine)


@dataclass(frozen=True)
class Check:
    """`row.column operator other` about one row: another column of it, or a constant."""

    column: int
    operator: Operator
    other: int | NamedValue

    @property
    def canonical(self) -> Check:
        """One writing for checks that say the same: of two columns the first one on the left."""
        if isinstance(self.other, int) and self.other < self.column:
            return Check(self.other, MIRRORED[self.operator], self.column)
        return self


Checks = tuple[Check, ...]


@dataclass(frozen=True, eq=False)
class Lookup:
    """Which rows ask, which may be found, and what must hold between them.

    Compared by identity: lookups are hashed on every batch.
    """

    conditions: tuple[Condition, ...]
    asking: Checks
    found: Checks

    @cached_property
    def by_key(self) -> tuple[Condition, ...]:
        """The equalities that find the rows: one for each column of theirs that has any, in schema order."""
        equal = sorted(
            (c for c in self.conditions if c.operator == "="), key=lambda c: (c.mine, c.theirs != c.mine, c.theirs)
        )
        first = {c.mine: c for c in reversed(equal)}
        return tuple(first[mine] for mine in sorted(first))

    @cached_property
    def rest(self) -> tuple[Condition, ...]:
        """All other conditions."""
        return tuple(c for c in self.conditions if c not in self.by_key)

    @property
    def keys(self) -> tuple[int, ...]:
        """The equality columns of the rows searched."""
        return tuple(c.mine for c in self.by_key)

    @property
    def others(self) -> tuple[int, ...]:
        """The columns of the rows searched that the other conditions compare."""
        return tuple(dict.fromkeys(c.mine for c in self.rest))

    @cached_property
    def theirs(self) -> tuple[int, ...]:
        """The columns of the row that asks."""
        return tuple(dict.fromkeys(c.theirs for c in self.conditions))

    @property
    def within_groups(self) -> bool:
        """Whether the rows that ask and those found are the same by the same key, so that a row that shares its key
        with no other finds none.
        """
        return self.asking == self.found and all(c.mine == c.theirs for c in self.by_key)


@dataclass(frozen=True, eq=False)
class PairQuery:
    """Pairs (t, s) of different rows with `t.mine operator s.theirs` for every condition, of rows that pass the checks.

    A `single` query is about one row: t, that passes its checks.
    """

    conditions: tuple[Condition, ...]
    t_checks: Checks = ()
    s_checks: Checks = ()
    single: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "t_checks", _ordered(self.t_checks))
        object.__setattr__(self, "s_checks", _ordered(self.s_checks))

    @cached_property
    def as_t(self) -> Lookup:
        """What a row looks up when it plays t."""
        return Lookup(tuple(c.mirrored for c in self.conditions), self.t_checks, self.s_checks)

    @cached_property
    def as_s(self) -> Lookup:
        """What a row looks up when it plays s."""
        return Lookup(self.conditions, self.s_checks, self.t_checks)

    @cached_property
    def symmetric(self) -> bool:
        """Whether (t, s) meets it iff (s, t) does: then each pair of rows is found once, the older row first."""
        return self.t_checks == self.s_checks and set(self.conditions) == {c.mirrored for c in self.conditions}

    def compared(self) -> list[tuple[int, Operator, int]]:
        """The columns that are compared with each other, and how."""
        pairs = [(c.mine, c.operator, c.theirs) for c in self.conditions]
        checks = (*self.t_checks, *self.s_checks)
        return pairs + [(c.column, c.operator, c.other) for c in checks if isinstance(c.other, int)]


def _ordered(checks: Iterable[Check]) -> Checks:
    """One order for equal sets of checks, so that they can share an index. Constants before comparisons of columns."""
    distinct = {check.canonical for check in checks}
    return tuple(sorted(distinct, key=lambda c: (isinstance(c.other, int), c.column, c.operator, repr(c.other))))
