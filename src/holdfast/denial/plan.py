"""Plans: a denial constraint resolved against a schema, as two questions that an index can answer.

A pair predicate `t.A op s.B` is a condition between a row that is searched for and a row that asks. When a new row
plays t, partners are searched among the rows that may be s, and the other way round (papers: weever, section 3.2, the
intermediates I and I'). Predicates about one row, constants among them, are **checks**: they decide beforehand who may
ask and who may be found.

`arrange` then says which indexes answer all questions of several constraints, sharing as many as it can (section 5.3):
questions with the same checks and the same equality columns use one index, unless they want its rows in another order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from holdfast.denial.model import MIRRORED, Cell, Constant, DenialConstraint, Operator, Predicate
from holdfast.errors import BadInput
from holdfast.table.table import Schema

# Beyond this many distinct values, sorting by a column with more of them gains nothing.
_FINE = 4096


@dataclass(frozen=True)
class Condition:
    """`row.mine operator query.theirs`: between a row searched for and the one that asks."""

    mine: int
    operator: Operator
    theirs: int


@dataclass(frozen=True)
class Check:
    """`row.column operator other` about one row: another column of it, or a constant."""

    column: int
    operator: Operator
    other: int | Constant


Checks = tuple[Check, ...]


@dataclass(frozen=True, eq=False)
class Quest:
    """Who asks, who may be found, and what must hold between them. Each is itself only: hashing one is on the way of
    every batch.
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


@dataclass(frozen=True)
class Plan:
    """A constraint, resolved. A constraint about single rows has checks and no quests."""

    constraint: DenialConstraint
    symmetric: bool
    single: bool
    checks: Checks
    as_t: Quest
    as_s: Quest


def compile_constraint(constraint: DenialConstraint, schema: Schema) -> Plan:
    """The plan of a constraint for tables of a schema."""
    number = {name: c for c, name in enumerate(schema.names)}
    if missing := [name for name in constraint.columns if name not in number]:
        raise BadInput(f"rule {constraint.text}: table {schema.name} has no column {missing[0]!r}")
    checks: dict[str, set[Check]] = {"t": set(), "s": set()}
    pairs = []
    for predicate in constraint.predicates:
        if isinstance(predicate.right, Cell) and predicate.right.row != predicate.left.row:
            pairs.append(_t_first(predicate, number))
        else:
            checks[predicate.left.row].add(_check(predicate, number))
    t, s = _sorted(checks["t"]), _sorted(checks["s"])
    as_t = Quest(tuple(Condition(b, MIRRORED[op], a) for a, op, b in pairs), t, s)
    as_s = Quest(tuple(Condition(a, op, b) for a, op, b in pairs), s, t)
    return Plan(constraint, constraint.is_symmetric, constraint.is_single, t, as_t, as_s)


def _t_first(predicate: Predicate, number: dict[str, int]) -> tuple[int, Operator, int]:
    assert isinstance(predicate.right, Cell)
    left, right = number[predicate.left.column], number[predicate.right.column]
    if predicate.left.row == "t":
        return left, predicate.operator, right
    return right, MIRRORED[predicate.operator], left


def _check(predicate: Predicate, number: dict[str, int]) -> Check:
    other = predicate.right
    return Check(
        number[predicate.left.column], predicate.operator, number[other.column] if isinstance(other, Cell) else other
    )


def _sorted(checks: Iterable[Check]) -> Checks:
    """One order for equal sets of checks, so that they can share an index. Constants before comparisons of columns."""
    return tuple(sorted(checks, key=lambda c: (isinstance(c.other, int), c.column, c.operator, repr(c.other))))


# ---- which indexes --------------------------------------------------------------------------------------------------


@dataclass
class Arrangement:
    """One index: the rows that pass some checks, by equality columns, then by the leading column, with more beside."""

    found: Checks
    keys: tuple[int, ...]
    lead: int | None
    others: list[int] = field(default_factory=list)

    def serves(self, quest: Quest, lead: int | None) -> bool:
        """Whether a quest can share this index; one without a leading column of its own takes any."""
        same = self.found == quest.found and self.keys == quest.keys
        return same and (lead is None or self.lead is None or lead == self.lead)

    def take_in(self, quest: Quest, lead: int | None) -> None:
        """Add what a quest compares."""
        self.lead = lead if self.lead is None else self.lead
        self.others += [column for column in quest.others if column not in (*self.others, self.lead)]


def lead_of(quest: Quest, distinct: Sequence[int]) -> int | None:
    """The column by which rows are best sorted within their equality group (section 5.2, classes 3 to 6).

    Inequalities before `!=`, for sorting turns them into ranges; of them the one with the most distinct values, for
    the finer the order, the less there is left to compare; among those fine enough the one with the fewest. Of `!=`
    the one with the fewest, for the more rows are equal, the more are skipped at once.
    """
    ranged = list(dict.fromkeys(c.mine for c in quest.rest if c.operator != "!="))
    if ranged:
        return max(ranged, key=lambda c: (min(distinct[c], _FINE), -distinct[c]))
    return min(quest.others, key=lambda c: distinct[c], default=None)


_CLASS: dict[Operator, int] = {"=": 0, "!=": 2, "<": 4, "<=": 4, ">": 4, ">=": 4}


def by_selectivity(conditions: Iterable[Condition], distinct: Sequence[int]) -> list[Condition]:
    """Conditions in the order in which they are tried (section 5.2): by class, equalities, then `!=`, then
    inequalities, each with columns compared with themselves first; within a class by the number of distinct values,
    equalities with many first, the others with few.
    """
    return sorted(
        conditions,
        key=lambda c: (
            _CLASS[c.operator] + (c.mine != c.theirs),
            -distinct[c.mine] if c.operator == "=" else distinct[c.mine],
        ),
    )


def arrange(quests: Iterable[Quest], distinct: Sequence[int]) -> tuple[list[Arrangement], list[int]]:
    """The indexes for some quests, and which index serves which quest. `distinct` counts each column's values."""
    made: list[Arrangement] = []
    serving: list[int] = []
    for quest in quests:
        lead = lead_of(quest, distinct)
        number = next((i for i, each in enumerate(made) if each.serves(quest, lead)), len(made))
        if number == len(made):
            made.append(Arrangement(quest.found, quest.keys, lead))
        made[number].take_in(quest, lead)
        serving.append(number)
    return made, serving
