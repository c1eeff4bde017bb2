"""The paper's example (Table 1, its three constraints and both changes), and the known faults of its program."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.engines.given.keeper import Answer
from holdfast.rules.denial import DenialConstraint
from holdfast.table.table import Schema
from holdfast.table.types import Column
from tests.engines.denial.streams import Stream, Watching, detect, discover, listed, wanted

PACKAGES = Schema(
    "packages",
    (
        Column("code", pa.int64()),
        Column("origin", pa.string()),
        Column("destination", pa.string()),
        Column("distance", pa.int64()),
        Column("volume", pa.int64()),
        Column("postage", pa.int64()),
    ),
)
TABLE_1 = [
    (0, "London", "Cape Town", 9700, 8, 100),
    (1, "Cape Town", "Lima", 9700, 18, 50),
    (2, "London", "New Delhi", 6600, 30, 25),
    (3, "Cape Town", "London", 9700, 45, 200),
    (4, "New Delhi", "London", 6700, 45, 50),
]
T5 = (5, "Mexico City", "Monaco", 9700, 18, 10)
PHI = [
    DenialConstraint.parse("not(t.code = s.code)"),
    DenialConstraint.parse("not(t.origin = s.destination and t.destination = s.origin and t.distance != s.distance)"),
    DenialConstraint.parse("not(t.distance = s.distance and t.volume < s.volume and t.postage > s.postage)"),
]


def pairs_of(answer: Answer, side: str) -> list[list[list[int]]]:
    return [getattr(effect, side).tolist() for effect in answer]


def test_table_1() -> None:
    stream = Stream.of(PACKAGES, TABLE_1)
    state = discover(stream.table, PHI)
    # The second is symmetric: (2, 4) stands for (4, 2) too.
    assert [listed(found) for found in state.found()] == [set(), {(2, 4)}, {(0, 1)}]

    inserted = state.follow(stream.change([T5], []))
    assert pairs_of(inserted, "added") == [[], [], [[0, 5]]]
    assert pairs_of(inserted, "resolved") == [[], [], []]

    deleted = state.follow(stream.change([], [4]))
    assert pairs_of(deleted, "added") == [[], [], []]
    assert pairs_of(deleted, "resolved") == [[], [[2, 4]], []]
    assert [listed(found) for found in state.found()] == [set(), set(), {(0, 1), (0, 5)}]
    assert [listed(found) for found in detect(stream.table, PHI)] == [set(), set(), {(0, 1), (0, 5)}]


def test_an_update_resolves_and_adds_in_one_batch() -> None:
    stream = Stream.of(PACKAGES, TABLE_1)
    state = discover(stream.table, PHI)
    answer = state.follow(stream.change([(4, "New Delhi", "London", 6800, 45, 50)], [4]))
    assert pairs_of(answer, "resolved")[1] == [[2, 4]]
    assert pairs_of(answer, "added")[1] == [[2, 5]]


# ---- known faults of the paper's program ----------------------------------------------------------------------------

POINTS = Schema("points", (Column("a", pa.int64()), Column("b", pa.int64()), Column("x", pa.string())))


def follow(schema: Schema, rule: DenialConstraint, steps: list[tuple[list[Any], list[int]]]) -> Watching:
    stream = Stream.of(schema)
    state = discover(stream.table, [rule])
    for inserts, dead in steps:
        state.follow(stream.change(inserts, dead))
        assert listed(state.found()[0]) == wanted(stream, rule)
    return state


def test_deleted_rows_stay_deleted_without_an_equality() -> None:
    """Its tree kept ids of deleted rows where a node was replaced by its successor: inner values go one by one."""
    rule = DenialConstraint.parse("not(t.a < s.a and t.b > s.b)")
    rng = np.random.default_rng(0)
    rows = [(int(a), int(a + rng.integers(-3, 4)), None) for a in rng.permutation(150)]
    order = [int(i) for i in rng.permutation(150)]
    deletes: list[tuple[list[Any], list[int]]] = [([], [row]) for row in order[:140:4]]
    follow(POINTS, rule, [(rows, []), *deletes, ([(75, 0, None), (3, 200, None)], order[1:100:4])])


def test_violations_can_be_read_while_they_change() -> None:
    rule = DenialConstraint.parse("not(t.a = s.a and t.b != s.b)")
    stream = Stream.of(POINTS, [(0, i, None) for i in range(50)])
    state = discover(stream.table, [rule])
    before = state.found()[0]
    assert before.pairs is not None
    kept = before.pairs.copy()
    stop, failures = threading.Event(), list[BaseException]()

    def read() -> None:
        while not stop.is_set():
            try:
                found = state.found()[0]
                assert found.pairs is not None
                assert (found.pairs[:, 0] < found.pairs[:, 1]).all()
            except BaseException as error:
                failures.append(error)
                return

    reader = threading.Thread(target=read)
    reader.start()
    for step in range(30):
        state.follow(stream.change([(0, 100 + step, None)], [step]))
    stop.set()
    reader.join()
    assert not failures
    assert before.pairs.tolist() == kept.tolist()


def test_texts_compare_by_their_letters_not_by_their_arrival() -> None:
    rule = DenialConstraint.parse("not(t.a = s.a and t.x < s.x)")
    follow(POINTS, rule, [([(1, 0, "m")], []), ([(1, 0, "z")], []), ([(1, 0, "a")], []), ([(1, 0, "mm")], [1])])


def test_texts_that_crowd_into_one_gap_keep_their_order() -> None:
    """Labels between two texts run out and change: the index must follow."""
    rule = DenialConstraint.parse("not(t.x < s.x and t.b > s.b)")
    steps: list[tuple[list[Any], list[int]]] = [([(0, 0, "a"), (0, 1, "b")], [])]
    steps += [([(0, -i, "a" * (40 - i) + "b")], []) for i in range(1, 39)]
    follow(POINTS, rule, steps)


def test_floats_keep_all_their_bits() -> None:
    schema = Schema("floats", (Column("f", pa.float64()),))
    near = [1.0, 1.0 + 2**-52, 1.0 - 2**-53, 16777216.0, 16777217.0]
    follow(schema, DenialConstraint.parse("not(t.f = s.f)"), [([(value,) for value in [*near, 16777217.0]], [])])
    follow(schema, DenialConstraint.parse("not(t.f < s.f)"), [([(value,) for value in near], []), ([], [2])])


# ---- larger tables, counted by other code ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule",
    [
        "not(t.a = s.a and t.b != s.b)",
        "not(t.a < s.a and t.b > s.b)",
        "not(t.a = s.a and t.b < s.b)",
        "not(t.a != s.a and t.b = s.b)",
        "not(t.b = s.a and t.a != s.b)",
        "not(t.a <= s.b and t.a > s.a and t.b >= s.b)",
    ],
)
def test_a_long_stream_equals_detection_from_scratch(rule: str) -> None:
    """Enough rows for many leaves, with batches that split, join and outgrow them, counted and listed."""
    rng = np.random.default_rng(5)
    constraint = DenialConstraint.parse(rule)

    def draw(size: int) -> list[tuple[int, int, None]]:
        a = rng.integers(0, 400, size)
        return [(int(x), int(x // 7 + (rng.random() < 0.02)), None) for x in a]

    stream = Stream.of(POINTS, draw(1500))
    state, counting = (
        discover(stream.table, [constraint], limit=10**7),
        discover(stream.table, [constraint], limit=0),
    )
    for inserts, share in ((700, 0.1), (5000, 0.0), (10, 0.7), (300, 0.3)):
        dead = [row for row in stream.rows if rng.random() < share]
        change = stream.change(draw(inserts), dead)
        state.follow(change)
        counting.follow(change)
        (fresh,) = detect(stream.table, [constraint], limit=10**7)
        (found,) = state.found()
        assert found.pairs is not None
        assert fresh.pairs is not None
        assert np.array_equal(found.pairs, fresh.pairs)
        assert counting.found()[0].count == fresh.count


def test_packed_codes_that_outgrow_their_bits_make_a_new_index() -> None:
    schema = Schema("wide", tuple(Column(f"c{i}", pa.int64()) for i in range(12)))
    rule = DenialConstraint.parse(f"not({' and '.join(f't.c{i} = s.c{i}' for i in range(12))})")
    stream = Stream.of(schema, [(i % 3,) * 12 for i in range(6)])
    state = discover(stream.table, [rule])
    for start in (10, 100, 1000):
        rows = [tuple((start + i * (1 + c % 2)) % (start * 2) for c in range(12)) for i in range(start)]
        state.follow(stream.change([*rows, rows[0]], []))
        (fresh,) = detect(stream.table, [rule])
        assert listed(state.found()[0]) == listed(fresh)
        assert fresh.count > 0
