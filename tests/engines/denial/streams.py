"""Streams for the tests of the denial engine: plain rows in, changes of an encoded table out, all in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from holdfast.engines.given.keeper import Answer
from holdfast.engines.given.pairs import PairsKeeper, PairsState
from holdfast.engines.given.queries import queries_of
from holdfast.engines.given.violations import LIMIT
from holdfast.engines.watched import WatchedTable
from holdfast.rules.conditions import Cell, Operand
from holdfast.rules.constants import Constant
from holdfast.rules.denial import DenialConstraint
from holdfast.rules.given import Named
from holdfast.rules.rule import Rule
from holdfast.search.found import FoundPairs
from holdfast.table import shard
from holdfast.table.change import Batch, Change
from holdfast.table.nulls import Nulls
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Schema, Table
from tests.oracle import denial as oracle
from tests.table.building import encoded


@dataclass
class Stream:
    """A table and the same rows in plain form, by id."""

    table: Table
    rows: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    @staticmethod
    def of(schema: Schema, rows: Sequence[Sequence[Any]] = ()) -> Stream:
        stream = Stream(Table.empty(schema))
        stream.change(rows, [])
        return stream

    def change(self, inserts: Sequence[Sequence[Any]], dead: Sequence[int]) -> Change:
        """Apply a batch: rows to insert, and ids to delete."""
        before = self.table
        codes, grown = encoded(before, inserts)
        born = range(before.next_id, before.next_id + len(inserts))
        gone = np.array(sorted(dead), np.int64)
        self.table = grown.changed([shard.build(list(codes), (), born)], gone)
        for row in dead:
            del self.rows[row]
        self.rows |= {row: tuple(values) for row, values in zip(born, inserts, strict=True)}
        return Change(before, self.table, born, gone)


@dataclass
class Watching:
    """The keeper of some rules, its state, and the table that it watches."""

    keeper: PairsKeeper
    subject: WatchedTable
    state: PairsState

    @staticmethod
    def start(keeper: PairsKeeper, table: Table, runner: Runner | None = None) -> Watching:
        """Find all violations."""
        subject = WatchedTable(table)
        return Watching(keeper, subject, keeper.begin(subject, runner or Threads(2)))

    def follow(self, change: Change) -> Answer:
        """Take in a batch."""
        batch = Batch([change])
        self.subject.follow(change, Threads(1))
        state = self.keeper.ready(self.state, batch)
        name = change.table
        state, answer = self.keeper.look(state, {name: change.come}, {name: change.gone})
        self.state = self.keeper.settle(state, batch)
        return answer

    def reopened(self) -> Watching:
        """The same as another process would open it."""
        subject = WatchedTable(self.subject.table, *self.subject.dump())
        return replace(self, subject=subject, state=self.keeper.load(subject, *self.keeper.dump(self.state)))

    def found(self) -> list[FoundPairs]:
        """All violations, rule by rule."""
        return [violations.found() for violations in self.state.violations]


def keeper_of(rules: Sequence[Rule], table: Table, limit: int = LIMIT, nulls: Nulls = Nulls.SQL) -> PairsKeeper:
    """The keeper of some rules."""
    queries = tuple(tuple(queries_of(rule, table.schema)) for rule in rules)
    distinct = tuple(map(len, table.dictionaries))
    return PairsKeeper(table.schema.name, tuple(map(Named, rules)), queries, distinct, nulls, limit)


def discover(
    table: Table, constraints: Sequence[DenialConstraint], runner: Runner | None = None, limit: int = LIMIT
) -> Watching:
    """Some constraints, watched."""
    return Watching.start(keeper_of(constraints, table, limit), table, runner)


def detect(
    table: Table, constraints: Sequence[DenialConstraint], runner: Runner | None = None, limit: int = LIMIT
) -> list[FoundPairs]:
    """The violations of each constraint, from scratch."""
    return discover(table, constraints, runner, limit).found()


def plain(constraint: DenialConstraint, schema: Schema) -> list[oracle.Predicate]:
    """A constraint as the oracle reads it."""

    def side(operand: Operand) -> oracle.Side:
        if isinstance(operand, Constant):
            return "constant", operand.value
        assert isinstance(operand, Cell)
        return operand.row, schema.names.index(operand.column)

    return [(side(p.left), p.operator, side(p.right)) for p in constraint.predicates]


def wanted(stream: Stream, constraint: DenialConstraint) -> set[tuple[int, int]]:
    """The violations by definition."""
    return oracle.violations(stream.rows, plain(constraint, stream.table.schema))


def listed(found: FoundPairs) -> set[tuple[int, int]]:
    """What was found, as the oracle gives it; each pair once, in order, and counted."""
    assert found.pairs is not None
    pairs = [(int(t), int(s)) for t, s in found.pairs]
    assert pairs == sorted(set(pairs))
    assert len(pairs) == found.count
    return set(pairs)


def assert_kept(
    found: FoundPairs, effect: PlainEffect, old: set[tuple[int, int]], new: set[tuple[int, int]], limit: int
) -> None:
    """A batch turned the old violations of a rule into the new ones, and its effect says so; lists end at the limit."""
    assert found.count == len(new)
    assert (found.pairs is not None) == (len(new) <= limit)
    if found.pairs is not None:
        assert listed(found) == new
    assert (effect.come, effect.lost) == (len(new - old), len(old - new))
    assert effect.listed == (len(old) <= limit and len(new) <= limit)
    assert effect.added == (new - old if effect.listed else set())
    assert effect.resolved == (old - new if effect.listed else set())


class PlainEffect(NamedTuple):
    """The effect of a batch on one rule, as sets of pairs."""

    added: set[tuple[int, ...]]
    resolved: set[tuple[int, ...]]
    come: int
    lost: int
    listed: bool


def effects_of(answer: Answer) -> list[PlainEffect]:
    """The effect on each rule; no pair occurs twice."""
    effects = []
    for effect in answer:
        new, gone = ({tuple(pair) for pair in pairs.tolist()} for pairs in (effect.added, effect.resolved))
        assert (len(new), len(gone)) == (len(effect.added), len(effect.resolved))
        effects.append(PlainEffect(new, gone, effect.count_added, effect.count_resolved, effect.listed))
    return effects
