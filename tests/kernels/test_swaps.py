"""Which keys, constants and orders hold in contexts, and pairs that break the others, against a look at all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, combinations
from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.kernels.partitions import PartitionScratch
from holdfast.kernels.swaps import ContextSpec, Path, prove

COLUMNS, VALUES = 4, 3
Row = tuple[int, ...]
Order = tuple[int, int, bool]  # two columns, and whether one falls as the other rises
Target = int | Order | None  # a constant, an order, or the key
Context = tuple[tuple[int, ...], list[Target]]
columns = st.integers(0, COLUMNS - 1)
orders = st.tuples(columns, columns, st.booleans()).filter(lambda own: own[0] != own[1])
targets = st.lists(columns | orders | st.none(), unique=True, min_size=1, max_size=4)
contexts = st.dictionaries(st.lists(columns, unique=True, max_size=3).map(tuple), targets, min_size=1, max_size=4)
tables = st.lists(st.tuples(*[st.sampled_from([0, 0, 1, 2])] * COLUMNS), max_size=9)


def are_together(a: Row, b: Row, context: tuple[int, ...], skip_null: bool) -> bool:
    return all(a[c] == b[c] and not (skip_null and a[c] == 0) for c in context)


def at(table: list[Row], pair: Sequence[int]) -> tuple[Row, Row]:
    return table[pair[0]], table[pair[1]]


def breaks(a: Row, b: Row, target: Target, skip_null: bool) -> bool:
    """Whether two rows of a group break a target."""
    if target is None:
        return True
    if isinstance(target, int):
        return a[target] != b[target] or (skip_null and a[target] == 0)
    one, other, falling = target
    if skip_null and 0 in (a[one], b[one], a[other], b[other]):
        return False
    return (a[one] - b[one]) * (a[other] - b[other]) * (-1 if falling else 1) < 0


def spec_of(own: list[Context]) -> ContextSpec:
    constants = [[target for target in aims if isinstance(target, int)] for _, aims in own]
    orders = [[target for target in aims if isinstance(target, tuple)] for _, aims in own]
    one, other, falling = np.array(end_to_end(orders), np.int64).reshape(-1, 3).T.copy()
    added, key = [context for context, _ in own], np.array([None in aims for _, aims in own])
    fixed = np.array(end_to_end(constants), np.int64)
    prefixes = begins(added), np.array(end_to_end(added), np.int64)
    return ContextSpec(*prefixes, begins(constants), fixed, begins(orders), one, other, falling.astype(np.bool_), key)


def begins(lists: Sequence[Sequence[Any]]) -> NDArray[np.int64]:
    """Where each list begins when they stand end to end; and the end."""
    return np.array([0, *accumulate(map(len, lists))], np.int64)


def end_to_end(lists: Sequence[Sequence[Any]]) -> list[Any]:
    return [each for own in lists for each in own]


@settings(max_examples=150)
@given(tables, contexts, st.booleans(), st.integers(0, 6), st.integers(1, 2))
@example([(0, 0, 0, 0)] * 2, {(): [1]}, True, 0, 1)  # nulls alone, which differ
def test_each_target_that_is_broken_gets_a_pair(
    table: list[Row], wanted: dict[tuple[int, ...], list[Target]], skip_null: bool, fresh: int, most: int
) -> None:
    """Of pairs of which one row at least is new; then come up to `most` neighbours for each broken context."""
    own, count, size = sorted(wanted.items()), len(table), max(map(len, wanted))
    rows = np.arange(count if 1 < count > fresh else 0, dtype=np.int32)
    starts = np.array([0, len(rows)] if len(rows) else [0], np.int32)
    (keys, spare), (before, behind) = np.empty((2, count + 1), np.uint64), np.empty((2, count + 1), np.int64)
    scratch = PartitionScratch(keys, spare, before, behind, np.empty(count + 1, np.uint32), np.zeros(VALUES, np.int32))
    path = Path(np.empty(size * count, np.int32), np.empty(size * (count // 2 + 1), np.int32))
    cells = np.array(table, np.uint32).reshape(-1, COLUMNS).T.copy()
    pairs, within = np.empty((len(own) * (6 + most), 2), np.int64), np.empty(len(own), np.int64)
    values = np.full(COLUMNS, VALUES)
    found = prove(rows, starts, cells, values, skip_null, fresh, spec_of(own), most, path, scratch, pairs, within)
    left = pairs[:found].tolist()
    for (context, aims), together in zip(own, within.tolist(), strict=True):
        alike = [pair for pair in combinations(range(count), 2) if are_together(*at(table, pair), context, skip_null)]
        new = {row for pair in alike if pair[1] >= fresh for row in pair}
        assert together == 2 * sum(one in new for one, _ in alike)
        fresh_pairs = [at(table, pair) for pair in alike if pair[1] >= fresh]
        broken = [target for target in aims if any(breaks(*pair, target, skip_null) for pair in fresh_pairs)]
        shown, left = left[: len(broken)], left[len(broken) :]
        assert all(tuple(sorted(pair)) in alike for pair in shown)
        for target in broken:
            assert any(breaks(*at(table, pair), target, skip_null) for pair in shown)
        groups = len({tuple(table[row][c] for c in context) for row in new})
        near = min(most, len(new) - groups) if broken else 0
        assert all(tuple(pair) in alike for pair in left[:near])
        left = left[near:]
    assert not left
