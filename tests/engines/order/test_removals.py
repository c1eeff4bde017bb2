"""The rows that must go so that an order dependency holds, against trying every choice of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.borders.rows import RankedColumns
from holdfast.borders.targets import Targets
from holdfast.engines.order import removals
from holdfast.engines.order.removals import Context, Contexts, Scratch, counter_of
from holdfast.table.nulls import NullMode
from tests.laws.world import Batch, Row, World, null_modes, numbers, reals, texts
from tests.oracle.order import splits, swaps
from tests.oracle.order_error import fewest_to_remove

NUMBER, TEXT, REAL, FLAG = range(4)
tables = st.lists(st.tuples(numbers, texts, reals, st.booleans(), st.just(1)), max_size=8)
ENOUGH = 1000
TARGETS = Targets(5, keys=False, ascending_pairs=True, descending_pairs=True)


def ranked(rows: list[Row], nulls: NullMode) -> RankedColumns:
    world = World(nulls)
    world.change(Batch(rows))
    return RankedColumns(world.table)


def bits(columns: Iterable[int]) -> Context:
    return sum(1 << column for column in columns)


def counted(contexts: Contexts, context: Sequence[int], pair: tuple[int, int], direction: str, most: int) -> int:
    target = (TARGETS.descending if direction == "desc" else TARGETS.ascending)(*pair)
    return counter_of(contexts.rows, TARGETS, target, Scratch())(contexts.of(bits(context)), most)


@settings(max_examples=80)
@given(tables, null_modes, st.sampled_from([(), (FLAG,)]), st.sampled_from([0, 10**6]))
def test_pairs_by_definition(rows: list[Row], nulls: NullMode, context: tuple[int, ...], small: int) -> None:
    before, removals._SMALL = removals._SMALL, small  # either all partitions are small, or none is
    try:
        contexts = Contexts(ranked(rows, nulls))
        for pair in combinations((NUMBER, TEXT, REAL), 2):
            for direction in ("asc", "desc"):
                breaks = partial(swaps, a=pair[0], b=pair[1], direction=direction, nulls=nulls)
                fewest = fewest_to_remove(rows, context, breaks, nulls)
                assert fewest is not None
                assert counted(contexts, context, pair, direction, ENOUGH) == fewest
                if fewest:
                    assert counted(contexts, context, pair, direction, fewest - 1) == fewest
    finally:
        removals._SMALL = before


@settings(max_examples=80)
@given(tables, null_modes, st.sampled_from([(), (FLAG,), (NUMBER, FLAG)]))
def test_constants_by_definition(rows: list[Row], nulls: NullMode, context: tuple[int, ...]) -> None:
    contexts = Contexts(ranked(rows, nulls))
    for column in (TEXT, REAL):
        count, grouped = counter_of(contexts.rows, TARGETS, column, Scratch()), contexts.of(bits(context))
        fewest = fewest_to_remove(rows, context, partial(splits, column=column, nulls=nulls), nulls)
        assert count(grouped, ENOUGH) == fewest
        assert fewest is not None
        assert count(grouped, 0) >= min(fewest, 1)
        assert count(grouped, ENOUGH) == fewest, "a count that ended early leaves nothing behind"


def test_two_rows_where_greedy_removal_takes_three() -> None:
    rows = [(a, None, float(b), True, 1) for a, b in [(0, 2), (2, 1), (1, 2), (0, 1), (1, 0)]]
    assert counted(Contexts(ranked(rows, "equal")), (), (NUMBER, REAL), "asc", ENOUGH) == 2


def test_partitions_are_dropped_where_there_is_no_room() -> None:
    rows = [(i % 5, "ab"[i % 2], float(i % 3), i % 4 == 0, i % 3) for i in range(60)]
    roomy, tight = (Contexts(ranked(rows, "equal"), room=room) for room in (1 << 20, 1))
    for size in range(4):
        for context in map(bits, combinations((TEXT, REAL, FLAG), size)):
            one, other = (each.of(context).partition for each in (roomy, tight))
            assert sorted(one.rows) == sorted(other.rows)
            assert one.groups == other.groups
