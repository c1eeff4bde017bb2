"""Likely dependencies, against the scores of all left sides up to three columns by their definition."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.functional import likely_fds
from holdfast.engines.functional.groups import Groups
from holdfast.engines.functional.likely_fds import likely
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import least
from holdfast.engines.watched import WatchedTable
from holdfast.progress import SILENT, Progress
from holdfast.rules.dependency import FD
from holdfast.rules.error_measures import pairs_of
from holdfast.table.nulls import NullMode
from holdfast.table.runner import Threads
from tests.engines.functional.test_group_counts import expected
from tests.laws.world import COLUMNS, Batch, Row, World, null_modes, row_lists

NAMES = [column.name for column in COLUMNS]


def found_in(world: World, wanted: Wanted | None = None) -> list[Scored]:
    return likely(WatchedTable(world.table), wanted or Wanted(), Threads(), SILENT)


def candidates(some: list[Row], nulls: NullMode, longest: int) -> dict[tuple[tuple[int, ...], int], float]:
    """All rules worth ranking, from the definition of score and candidate."""
    scores = {
        (lhs, rhs): expected(some, list(lhs), rhs, nulls).score(len(lhs))
        for size in range(1, longest + 1)
        for lhs in combinations(range(len(NAMES)), size)
        for rhs in range(len(NAMES))
        if rhs not in lhs
    }

    def is_one(lhs: tuple[int, ...], rhs: int, score: float) -> bool:
        parts = [part for size in range(1, len(lhs)) for part in combinations(lhs, size)]
        return score > 0 and (len(lhs) == 1 or score >= 0.3) and all(score > scores[part, rhs] for part in parts)

    return {rule: score for rule, score in scores.items() if is_one(*rule, score)}


def meaning_rows(seed: int, count: int, noise: float) -> list[Row]:
    """Rows in which one, two and three columns determine others, but for some errors and nulls."""
    chosen = random.Random(seed)
    made = []
    for _ in range(count):
        a, b, c = (chosen.randrange(3) for _ in range(3))
        row = [a, "xyz"[b], float((a + b) % 3), (a + b + c) % 2 == 0, c]
        if chosen.random() < noise:
            row[chosen.randrange(5)] = None
        if chosen.random() < noise:
            row[chosen.choice((0, 4))] = chosen.randrange(9)
        made.append(tuple(row))
    return made


tables = st.one_of(
    row_lists, st.builds(meaning_rows, st.integers(0, 10**6), st.integers(5, 80), st.sampled_from([0.0, 0.03, 0.2]))
)


@settings(max_examples=80, deadline=None)
@given(some=tables, nulls=null_modes, longest=st.integers(1, 3))
def test_the_candidates_are_those_of_all_left_sides(some: list[Row], nulls: NullMode, longest: int) -> None:
    world = World(nulls)
    world.change(Batch(some))
    found = found_in(world, Wanted(max_lhs=longest))
    scores = {}
    for one in found:
        assert isinstance(one.rule, FD)
        scores[tuple(map(NAMES.index, one.rule.lhs)), NAMES.index(one.rule.rhs)] = one.score
    assert scores == candidates(some, nulls, longest)
    assert [one.score for one in found] == sorted(scores.values(), reverse=True)


@settings(max_examples=50, deadline=None)
@given(some=tables, nulls=null_modes)
def test_each_tells_its_rows_to_remove(some: list[Row], nulls: NullMode) -> None:
    world = World(nulls)
    world.change(Batch(some))
    for one in found_in(world):
        assert isinstance(one.rule, FD)
        groups = Groups(world.table, [NAMES.index(name) for name in one.rule.lhs], NAMES.index(one.rule.rhs))
        assert (one.to_remove, one.g3) == (groups.to_remove, groups.to_remove / len(some))
        assert one.rule.error == groups.broken_pairs / pairs_of(len(some))
        is_listed = one.score >= least(len(one.rule.lhs))
        assert list(one.rows) == (sorted(groups.outside_pairs()[:, 0].tolist())[:10] if is_listed else [])


def test_the_best_are_listed() -> None:
    world = World()
    world.change(Batch(meaning_rows(1, 60, 0.05)))
    every = found_in(world)
    assert len(every) > 4
    assert found_in(world, Wanted(top=4)) == every[:4]


def test_a_sentence_tells_what_speaks_for_a_rule() -> None:
    world = World()
    pairs = [(number, "abcde"[number], 0.0, None, number) for number in range(5) for _ in range(4)]
    world.change(Batch([*pairs, (7, "f", 0.0, None, 7), (1, "c", 0.0, None, 1)]))
    found = {one.text: one for one in found_in(world)}
    assert found["number -> day"].sentence == "all 21 rows that share number with another have its day"
    wrong = found["number -> text"]
    assert wrong.sentence == "1 of 21 rows that share number with another have another text; by chance 18 would"
    assert (wrong.to_remove, wrong.rows, wrong.support) == (1, (21,), 21)


@pytest.mark.parametrize("limit", [{"MOST_SIDES": 9}, {"MOST_LOOKS": 10 * 5 * 80 - 1}])
def test_too_many_left_sides_are_left_out(limit: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in limit.items():
        monkeypatch.setattr(likely_fds, name, value)
    notes: list[str] = []

    class Notes(Progress):
        def note(self, text: str) -> None:
            notes.append(text)

    world = World()
    world.change(Batch(meaning_rows(1, 80, 0.0)))
    found = likely(WatchedTable(world.table), Wanted(), Threads(), Notes())
    assert found
    assert all(isinstance(one.rule, FD) and len(one.rule.lhs) == 1 for one in found)
    assert notes == [
        "Dependencies with 2 or more columns on the left are not looked for, as there are 10 such left sides in a "
        "table of this size. To have them looked for, name fewer columns."
    ]
