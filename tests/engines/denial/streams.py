"""Streams for the tests of the denial engine: plain rows in, changes of an encoded table out, all in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from holdfast.engines.violations import state as states
from holdfast.engines.violations.kept import LIMIT, Delta
from holdfast.engines.violations.state import Asked, State, queries_of
from holdfast.rules.conditions import Cell, Operand
from holdfast.rules.constants import Constant
from holdfast.rules.denial import DenialConstraint
from holdfast.rules.given import Named
from holdfast.search.found import Found
from holdfast.search.shared import TableSearch
from holdfast.table import shard
from holdfast.table.change import Change
from holdfast.table.runner import Runner
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


def asked(search: TableSearch, constraints: Sequence[DenialConstraint]) -> list[Asked]:
    """Constraints, each with the query that says it."""
    return [Asked(Named(each), queries_of(each, search.pairs.table.schema)) for each in constraints]


def discover(
    search: TableSearch, constraints: Sequence[DenialConstraint], runner: Runner | None = None, limit: int = LIMIT
) -> State:
    """The state of some constraints."""
    return states.discover(search, asked(search, constraints), runner, limit)


def detect(
    table: Table, constraints: Sequence[DenialConstraint], runner: Runner | None = None, limit: int = LIMIT
) -> list[Found]:
    """The violations of each constraint, from scratch."""
    return discover(TableSearch(table), constraints, runner, limit).found()


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


def listed(found: Found) -> set[tuple[int, int]]:
    """What was found, as the oracle gives it; each pair once, in order, and counted."""
    assert found.pairs is not None
    pairs = [(int(t), int(s)) for t, s in found.pairs]
    assert pairs == sorted(set(pairs))
    assert len(pairs) == found.count
    return set(pairs)


def assert_kept(found: Found, delta: Delta, old: set[tuple[int, int]], new: set[tuple[int, int]], limit: int) -> None:
    """A batch turned the old violations of a rule into the new ones, and said so; up to the limit they are listed."""
    assert (delta.before, delta.after, found.count) == (len(old), len(new), len(new))
    assert (found.pairs is not None) == (len(new) <= limit)
    if found.pairs is not None:
        assert listed(found) == new
    if delta.added is not None and delta.resolved is not None:
        assert {tuple(pair) for pair in delta.added.tolist()} == new - old
        assert {tuple(pair) for pair in delta.resolved.tolist()} == old - new
