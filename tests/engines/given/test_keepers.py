"""The laws of keepers: `begin` is `look` on the empty state and all rows; answers add up in any order; `look` on the
pieces of a cut, merged, is `look` on the whole; plans travel as bytes, and a state that was dumped and loaded goes on.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from holdfast.engines.denial import Denials
from holdfast.engines.functional import NamedDependencies
from holdfast.engines.given import GivenClass
from holdfast.engines.given.keeper import NO_PAIRS, Answer, Cut, Effect, Keeper, Previous, listed, merged
from holdfast.engines.order import Lists
from holdfast.engines.row import MeasureRules, RowRules
from holdfast.engines.watched import WatchedTable
from holdfast.rules.given import GivenRule, TableRules
from holdfast.table.change import Batch, Change
from holdfast.table.nulls import Nulls
from holdfast.table.rows import Rows
from holdfast.table.runner import Threads
from holdfast.table.table import Schema, Table
from holdfast.table.types import Column
from tests.engines.denial.streams import Stream, effects_of

KINDS = {"a": pa.int64(), "b": pa.int64(), "x": pa.string(), "y": pa.string()}
SCHEMA = Schema("things", tuple(Column(name, kind) for name, kind in KINDS.items()))
VALUES: tuple[tuple[Any, ...], ...] = ((None, 0, 1, 2, 3), (None, 0, 1, 2), (None, "", "a", "é"), ("a", "b"))
PIECES = 3


@dataclass(frozen=True)
class World:
    """Some rules of one class about the table `things`."""

    declared: GivenClass[Any]
    rules: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    adds_up: bool = True  # whether pieces list what the whole does: with a limit each has its own
    schema: Schema = SCHEMA
    readied_whole: bool = False  # whether pieces get ready with the whole table, as what comes first of all rows counts

    def keeper(self, rules: Sequence[str] = ()) -> Keeper[Any, Any]:
        """The plan for all rules, or for some."""
        named = tuple(GivenRule(f"r{n}", "things", text) for n, text in enumerate(rules or self.rules))
        given = TableRules(named, frozenset("xy"))
        settings = self.declared.settings(**self.settings)
        return self.declared.keeper(settings, {"things": given}, WatchedTable(Table.empty(self.schema)))


DENIALS = (
    "not(t.a = s.a and t.b < s.b and t.x != s.x)",
    "not(t.a = s.a and t.b = s.b and t.y = 'a' and s.y = 'b')",
    "not(t.a = s.a and t.x = s.x)",
    "not(t.a > s.a and t.b < s.b)",
    "not(t.a = s.b and t.x < s.x)",
    "not(t.x < s.y and t.a = s.a)",
    "not(t.a > 1 and t.b = 2)",
)
LISTS = ("[a] orders [b]", "[x, a] orders [b desc, y]", "[a] orders [a, b]", "[] orders [y]")
DEPENDENCIES = ("a -> b", "() -> y", "a, x -> b", "key(a)", "key(a, x)", "key()")
ROWS = ("t.a between 0 and 2", "t.x like 'a%' or t.b is null", "t.a + t.b < 4")
TABLES = ("rows <= 12", "share(null b) <= 0.25", "distinct(a) <= 2", "min(a) >= 1", "max(x) < 'é'")
WORLDS = {
    "dc": World(Denials(), DENIALS),
    "dc, counted": World(Denials(), DENIALS, {"count_only": True}),
    "dc, few listed": World(Denials(), DENIALS, {"pair_limit": 8}, adds_up=False),
    "lod": World(Lists(), LISTS),
    "lod, counted": World(Lists(), LISTS, {"count_only": True}),
    "named": World(NamedDependencies(), DEPENDENCIES, readied_whole=True),
    "named, nulls differ": World(
        NamedDependencies(), DEPENDENCIES, schema=replace(SCHEMA, nulls=Nulls.DISTINCT), readied_whole=True
    ),
    "row": World(RowRules(), ROWS),
    "table": World(MeasureRules(), TABLES, adds_up=False),  # a table is measured as a whole
}
each_world = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
seeds = pytest.mark.parametrize("seed", range(8))


# ---- a keeper with a state ------------------------------------------------------------------------------------------


@dataclass
class Piece:
    """A table, or some of its rows, and what is kept of it."""

    keeper: Keeper[Any, Any]
    subject: WatchedTable
    state: Any

    @staticmethod
    def of(keeper: Keeper[Any, Any], table: Table) -> Piece:
        subject = WatchedTable(table)
        return Piece(keeper, subject, keeper.begin(subject, Threads(1)))

    def copied(self) -> Piece:
        """The plan as bytes, the state as it was dumped."""
        keeper = pickle.loads(pickle.dumps(self.keeper))
        arrays, facts = self.subject.dump()
        subject = WatchedTable(self.subject.table, {name: np.array(each) for name, each in arrays.items()}, facts)
        return Piece(keeper, subject, keeper.load(subject, *self.keeper.dump(self.state)))

    def look(self, change: Change, born: Rows, dead: Rows, readied_with: Change | None = None) -> Answer:
        batch = Batch([change])
        self.subject.follow(change, Threads(1))
        ready = self.keeper.ready(self.state, Batch([readied_with or change]))
        state, answer = self.keeper.look(ready, {"things": born}, {"things": dead})
        self.state = self.keeper.settle(state, batch)
        return answer

    def follow(self, change: Change) -> Answer:
        return self.look(change, change.come, change.gone)

    def seen(self) -> list[Any]:
        """All that a keeper tells of its rules."""
        tallies = self.keeper.tallies(self.state)
        listings = [self.keeper.listing(self.state, self.subject, n) for n in range(len(self.keeper.rules))]
        figures = [dict(each.figures) for each in tallies]
        listed = [(each.count, None if each.pairs is None else as_set(each.pairs)) for each in listings]
        return [tallies, figures, listed]


def as_set(pairs: NDArray[np.int64]) -> set[tuple[int, ...]]:
    return {tuple(pair) for pair in pairs.tolist()}


def plain(answer: Answer) -> list[Any]:
    """An answer as plain data; of an example only whether there is one."""
    return [effects_of(answer), [(*counts(each), bool(each.example)) for each in answer]]


def counts(effect: Effect) -> tuple[int, ...]:
    return effect.count_added, effect.count_resolved, effect.restated, effect.tested, effect.broke


def drawn(chance: np.random.Generator, most: int) -> list[tuple[Any, ...]]:
    rows = int(chance.integers(0, most))
    return [tuple(each[chance.integers(0, len(each))] for each in VALUES) for _ in range(rows)]


def batches(chance: np.random.Generator, stream: Stream, count: int) -> list[Change]:
    changes = []
    for _ in range(count):
        dead = [row for row in stream.rows if chance.random() < 0.25]
        changes.append(stream.change(drawn(chance, 12), dead))
    return changes


# ---- the laws -------------------------------------------------------------------------------------------------------


@each_world
@seeds
def test_begin_is_look_on_the_empty_state_and_all_rows(world: World, seed: int) -> None:
    stream = Stream.of(world.schema)
    looked = Piece.of(world.keeper(), stream.table)
    answer = looked.follow(stream.change(drawn(np.random.default_rng(seed), 30), []))
    begun = Piece.of(world.keeper(), stream.table)
    assert looked.seen() == begun.seen()
    assert [each.come for each in effects_of(answer)] == [each.violations for each in begun.keeper.tallies(begun.state)]


@each_world
@seeds
def test_what_looked_at_batches_is_what_begins_after_them(world: World, seed: int) -> None:
    chance, stream = np.random.default_rng(seed), Stream.of(world.schema)
    stream.change(drawn(chance, 20), [])
    piece = Piece.of(world.keeper(), stream.table)
    for change in batches(chance, stream, 4):
        piece.follow(change)
        assert piece.seen() == Piece.of(world.keeper(), change.after).seen()


@each_world
@seeds
def test_a_plan_travels_and_a_copy_of_a_state_goes_on(world: World, seed: int) -> None:
    chance, stream = np.random.default_rng(seed), Stream.of(world.schema)
    stream.change(drawn(chance, 20), [])
    piece = Piece.of(world.keeper(), stream.table)
    for change in batches(chance, stream, 4):
        copied = piece.copied()
        assert [named.text for named in copied.keeper.rules] == [named.text for named in piece.keeper.rules]
        assert copied.keeper.cuts() == piece.keeper.cuts()
        assert plain(copied.follow(change)) == plain(piece.follow(change))
        assert copied.seen() == piece.seen()


@each_world
@seeds
def test_rules_come_and_go(world: World, seed: int) -> None:
    chance, stream = np.random.default_rng(seed), Stream.of(SCHEMA)
    stream.change(drawn(chance, 20), [])
    old = Piece.of(world.keeper(world.rules[:2]), stream.table)
    keeper = world.keeper(world.rules[:0:-1])
    new = replace(
        old, keeper=keeper, state=keeper.begin(old.subject, Threads(1), old=Previous(old.keeper.texts, old.state))
    )
    for change in batches(chance, stream, 2):
        assert new.seen() == Piece.of(keeper, change.before).seen()
        new.follow(change)
    assert new.seen() == Piece.of(keeper, stream.table).seen()


@each_world
@seeds
def test_pieces_of_a_cut_add_up_to_the_whole(world: World, seed: int) -> None:
    if not world.adds_up:
        return
    for rule in world.rules:
        chance, stream = np.random.default_rng(seed), Stream.of(world.schema)
        stream.change(drawn(chance, 20), [])
        keeper = world.keeper([rule])
        ((cut,),) = keeper.cuts()
        whole = Piece.of(keeper, stream.table)
        pieces = [Piece.of(keeper, part(stream.table, cut, n)) for n in range(PIECES)]
        for change in batches(chance, stream, 3):
            answers = [look_at_part(world, piece, change, cut, n) for n, piece in enumerate(pieces)]
            assert plain(reduce(merged, answers)) == plain(whole.follow(change))


def test_cuts_are_by_what_rules_say() -> None:
    cuts = [cut for (cut,) in WORLDS["dc"].keeper().cuts()]
    assert [(cut.by, cut.columns) for cut in cuts] == [
        ("key", (0,)),
        ("key", (0, 1)),
        ("key", (0, 2)),
        ("whole", ()),
        ("whole", ()),
        ("key", (0,)),
        ("row", ()),
    ]
    assert [cut.lead for cut in cuts[:2]] == [1, None]


@seeds
def test_answers_add_up_in_any_order(seed: int) -> None:
    chance = np.random.default_rng(seed)
    some = [answered(chance) for _ in range(3)]
    wanted = plain_with_example(merged(merged(some[0], some[1]), some[2]))
    for one, other, last in permutations(some):
        assert plain_with_example(merged(merged(one, other), last)) == wanted
        assert plain_with_example(merged(one, merged(other, last))) == wanted
    nothing = [listed(NO_PAIRS, NO_PAIRS)] * 2
    assert plain_with_example(merged(some[0], nothing)) == plain_with_example(some[0])


# ---- pieces ---------------------------------------------------------------------------------------------------------


def inside(cut: Cut, number: int, ids: NDArray[np.int64], codes_of: Any) -> NDArray[np.bool_]:
    """Which rows lie in a piece."""
    if cut.by == "whole":
        return np.full(len(ids), number == 0)
    mixed = ids if cut.by == "row" else reduce(lambda a, c: a * 31 + codes_of(c), cut.columns, np.zeros_like(ids))
    return np.asarray(mixed % PIECES == number)


def part(table: Table, cut: Cut, number: int) -> Table:
    """The table in which only the rows of a piece are alive."""
    ids = table.living_ids()
    kept = ids[inside(cut, number, ids, table.column_codes)]
    alive = tuple(np.isin(shard.id_array(), kept) for shard in table.shards)
    return replace(table, alive=alive, rows=len(kept))


def part_of_rows(rows: Rows, cut: Cut, number: int) -> Rows:
    there = inside(cut, number, rows.ids, lambda column: rows.codes(column).astype(np.int64))
    return rows.some(np.flatnonzero(there))


def look_at_part(world: World, piece: Piece, change: Change, cut: Cut, number: int) -> Answer:
    born, dead = (part_of_rows(rows, cut, number) for rows in (change.come, change.gone))
    before, after = (part(table, cut, number) for table in (change.before, change.after))
    own = Change(before, after, change.born, dead.ids)
    return piece.look(own, born, dead, change if world.readied_whole else own)


def answered(chance: np.random.Generator) -> Answer:
    """Any answer about two rules, of which pairs no other has."""
    return [effect(chance), effect(chance)]


def effect(chance: np.random.Generator) -> Effect:
    added, resolved = (chance.integers(0, 1 << 40, (int(chance.integers(0, 4)), 2)) for _ in "ab")
    example = [(), (2,), (1,), tuple(chance.integers(0, 3, 2).tolist())][int(chance.integers(0, 4))]
    figures = Effect._fields[2:7]
    numbers = dict(zip(figures, chance.integers(0, 9, len(figures)).tolist(), strict=True))
    return Effect(added, resolved, **numbers, listed=bool(chance.integers(0, 2)), example=example)


def plain_with_example(answer: Answer) -> list[Any]:
    return [*plain(answer), [each.example for each in answer]]
