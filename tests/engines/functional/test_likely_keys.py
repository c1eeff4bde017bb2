"""Likely keys, against all sets of up to three columns, scored by their definition."""

from __future__ import annotations

from itertools import combinations, product
from math import prod

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.functional import likely_keys
from holdfast.engines.functional.groups import Groups
from holdfast.engines.functional.key_score import key_score
from holdfast.engines.functional.likely_keys import likely
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import LIKELY, least
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.dependency import Key
from holdfast.rules.error_measures import pairs_of
from holdfast.table.nulls import NullMode
from holdfast.table.runner import Threads
from holdfast.table.table import Schema
from holdfast.table.types import Column
from tests.laws.world import COLUMNS, Batch, Row, World, null_modes, row_lists
from tests.oracle import functional as oracle

NAMES = [column.name for column in COLUMNS]
SIMPLE = [1.0, 0.95, 0.3, 0.8, 0.9]  # the types of these columns


def found_in(world: World, wanted: Wanted | None = None, progress: Progress = SILENT) -> list[Scored]:
    return likely(WatchedTable(world.table), wanted or Wanted(), Threads(), progress)


def score_of(some: list[Row], columns: tuple[int, ...], nulls: NullMode) -> float:
    """The score, from its definition."""
    count, gone = len(some), sum(oracle.to_remove_by_group(some, columns, None, nulls).values())
    empty = sum(any(row[c] is None for c in columns) for row in some)
    named = 0.6 * max(0, 1 - empty / count / 0.02) if empty else 1
    place = sum(columns) / len(columns) / (len(NAMES) - 1)
    simple = sum(SIMPLE[c] for c in columns) / len(columns)
    return 0.6 ** (len(columns) - 1) * simple * (1 - 0.1 * place) * max(0, 1 - gone / count / 0.02) * named


def candidates(some: list[Row], nulls: NullMode, longest: int) -> dict[tuple[int, ...], float]:
    """All keys worth ranking."""
    if len(some) < 2:
        return {}
    sets = [columns for size in range(1, longest + 1) for columns in combinations(range(len(NAMES)), size)]
    scores = {columns: score_of(some, columns, nulls) for columns in sets}
    agreeing, pairs = oracle.agree_sets(some, nulls), len(some) * (len(some) - 1) / 2

    def pairs_on(columns: tuple[int, ...]) -> int:
        return sum(many for agreed, many in agreeing.items() if agreed.issuperset(columns))

    def is_one(columns: tuple[int, ...]) -> bool:
        if len(columns) == 1:
            return scores[columns] > 0
        parts = [part for size in range(1, len(columns)) for part in combinations(columns, size)]
        by_chance = pairs * prod(pairs_on((c,)) / pairs for c in columns)
        shown = by_chance >= 5 * (1 + pairs_on(columns))
        return shown and scores[columns] >= 0.3 and all(scores[columns] > scores[part] for part in parts)

    return {columns: score for columns, score in scores.items() if is_one(columns)}


def grid_rows(lines: int, orders: int, twice: list[int], missing: list[int]) -> list[Row]:
    """Rows that two columns name, some of them twice and some with a null; another column numbers all."""
    made: list[Row] = [(order, "abcdef"[line], 0.5, True, line) for order, line in product(range(orders), range(lines))]
    made += [made[place % len(made)] for place in twice]
    for place in missing:
        row = made[place % len(made)]
        made[place % len(made)] = (row[0], None, *row[2:])
    return made


places = st.lists(st.integers(0, 200), max_size=2)
tables = st.one_of(row_lists, st.builds(grid_rows, st.integers(2, 6), st.integers(2, 20), places, places))


@settings(max_examples=60, deadline=None)
@given(some=tables, nulls=null_modes, longest=st.integers(1, 3))
def test_the_candidates_are_those_of_all_sets_of_columns(some: list[Row], nulls: NullMode, longest: int) -> None:
    world = World(nulls)
    world.change(Batch(some))
    found = found_in(world, Wanted(max_lhs=longest))
    scores = {tuple(map(NAMES.index, one.rule.columns)): one.score for one in found if isinstance(one.rule, Key)}
    assert scores == pytest.approx(candidates(some, nulls, longest))
    assert [one.score for one in found] == sorted(scores.values(), reverse=True)


@settings(max_examples=50, deadline=None)
@given(some=tables, nulls=null_modes)
def test_each_tells_its_rows_to_remove(some: list[Row], nulls: NullMode) -> None:
    world = World(nulls)
    world.change(Batch(some))
    for one in found_in(world):
        assert isinstance(one.rule, Key)
        groups = Groups(world.table, [NAMES.index(name) for name in one.rule.columns], None)
        assert (one.to_remove, one.g3) == (groups.to_remove, groups.to_remove / len(some))
        assert one.rule.error == groups.broken_pairs / pairs_of(len(some))
        is_listed = one.score >= least(len(one.rule.columns))
        assert list(one.rows) == (sorted(groups.outside_pairs()[:, 0].tolist())[:10] if is_listed else [])


def test_the_key_of_a_grid_is_found() -> None:
    world = World()
    world.change(Batch(grid_rows(6, 100, [7], [])))
    best = found_in(world)[0]
    assert best.text == "key(number, text)"
    assert best.sentence == (
        "1 of 601 rows share number and text with an earlier one; by chance 249 pairs would; integer and text, no nulls"
    )
    assert (best.to_remove, best.rows, best.support) == (1, (600,), 601)


def test_columns_that_chance_makes_unique_are_no_key() -> None:
    """Few rows share a number, and few a text: that none shares both shows nothing."""
    world = World()
    world.change(Batch([(number // 2, str((7 * number) % 100 // 2), 0.0, True, 0) for number in range(100)]))
    assert found_in(world) == []


def test_long_texts_are_no_names() -> None:
    world = World()
    world.change(Batch([(0, f"this is what was said on day {number}", 0.0, True, number) for number in range(50)]))
    assert [one.text for one in found_in(world)] == ["key(day)"]
    world = World()
    world.change(Batch([(0, "ACGT" * 30 + str(number), 0.0, True, None) for number in range(50)]))
    assert found_in(world) == []


def test_keys_of_wide_tables_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likely_keys, "WIDEST", {2: 4})
    notes: list[str] = []

    class Notes(Progress):
        def note(self, text: str) -> None:
            notes.append(text)

    world = World()
    world.change(Batch(grid_rows(6, 20, [], [])))
    assert found_in(world, Wanted(max_lhs=2), Notes()) == []
    assert notes == [
        "Keys of 2 columns are not looked for, as the table has more than 4 columns. To have them looked for, name "
        "fewer columns."
    ]


def scored(*types: pa.DataType, nulls: int = 0, to_remove: int = 0) -> float:
    schema = Schema("t", tuple(Column(str(number), kept) for number, kept in enumerate(types)))
    return key_score(schema, range(len(types)), 1000, nulls, to_remove)


def test_simple_types_come_first() -> None:
    types = [pa.int64(), pa.string(), pa.date32(), pa.decimal128(10, 2), pa.float64()]
    scores = [scored(kept) for kept in types]
    assert scores == sorted(scores, reverse=True)
    assert scored(pa.decimal128(20, 0)) == scored(pa.int64()) == 1.0
    assert scored(pa.date32()) > LIKELY > max(scored(pa.timestamp("us")), scored(pa.decimal128(10, 2)))


def test_further_columns_nulls_and_rows_to_remove_cost() -> None:
    one, integer = scored(pa.int64()), pa.int64()
    assert one > scored(integer, integer) > least(2) > scored(integer, integer, integer) > least(3)
    assert one > scored(integer, to_remove=1) > LIKELY > scored(integer, to_remove=15) > 0
    assert scored(integer, to_remove=20) == 0.0
    assert one > scored(integer, nulls=1) > scored(integer, nulls=2) > scored(integer, nulls=20) == 0.0


def test_first_places_come_first() -> None:
    schema = Schema("t", tuple(Column(str(number), pa.int64()) for number in range(5)))
    assert [key_score(schema, [c], 10, 0, 0) for c in (0, 2, 4)] == pytest.approx([1.0, 0.95, 0.9])


def test_nothing_speaks_for_a_key_of_too_few_rows() -> None:
    schema = Schema("t", (Column("a", pa.int64()),))
    assert key_score(schema, [0], 1, 0, 0) == key_score(schema, [0], 0, 0, 0) == key_score(schema, [], 9, 0, 0) == 0.0
