"""Signatures that occur among chosen pairs of rows, against comparing them one by one."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import holdfast.pairs.sightings as sightings
from holdfast.pairs.sightings import NarrowRows, Shown, Sightings
from holdfast.pairs.signature_numbers import Numbering
from holdfast.pairs.signatures import ordered_but

TOPS = (3, 254, 255, 65_534, 65_535, 2**32 - 2)
Value = tuple[int, ...]


class World:
    """Some rows, and how they are compared: drawn from few values of several widths, some of them null."""

    def __init__(self, seed: int, columns: int, count: int, distinct: bool, alone: set[int]) -> None:
        numbers = np.random.default_rng(seed)
        tops = numbers.choice(TOPS, columns)
        self.cells = np.stack([numbers.choice([0, 1, top // 2, top], count) for top in tops]).astype(np.uint32)
        self.alone, self.distinct = {c for c in alone if c < columns}, distinct
        unknown = (self.cells == 0).any(axis=1).tolist() if distinct else None
        self.seen = Sightings(Numbering.of(columns, ordered_but(self.alone), unknown))
        self.known: set[Value] = set()

    def value(self, first: int, second: int) -> Value:
        """What one row is to another, column by column: 1 less, 2 equal, 4 more, 8 differs or unknown."""
        signature = []
        for c, (a, b) in enumerate(self.cells[:, [first, second]].tolist()):
            unknown = self.distinct and (a == 0 or b == 0)
            signature.append(8 if unknown or (c in self.alone and a != b) else 1 if a < b else 2 if a == b else 4)
        return tuple(signature)

    def check(self, shown: Shown, compared: list[tuple[int, int]], places: NDArray[np.int64]) -> None:
        """Each pair shows what it has; and all that the compared pairs have, and nothing else, is known afterwards."""
        new: set[Value] = set()
        for (first, second), value in zip(shown[0].tolist(), shown[1].tolist(), strict=True):
            assert tuple(value) == self.value(places[first], places[second])
            assert (first, second) in compared
            assert tuple(value) not in self.known | new
            new |= {tuple(value), mirrored(tuple(value))}
        self.known |= new
        for first, second in compared:
            assert self.value(places[first], places[second]) in self.known


def mirrored(value: Value) -> Value:
    return tuple({1: 4, 4: 1}.get(each, each) for each in value)


def one_of_two(value: Value) -> Value:
    return max(value, mirrored(value))


worlds = st.builds(
    World, st.integers(0, 2**32), st.integers(1, 7), st.integers(2, 14), st.booleans(), st.sets(st.integers(0, 6))
)


@settings(max_examples=30)
@given(worlds, st.data())
def test_chosen_pairs(world: World, data: st.DataObject) -> None:
    count = world.cells.shape[1]
    places = np.arange(count)
    numbers = st.integers(0, count - 1)
    in_a_byte = data.draw(st.integers(1, 5))
    with patch.multiple(sightings, _ROOM=count, _IN_A_BYTE=in_a_byte, _WORTH_A_BYTE=data.draw(st.integers(0, 3))):
        for _ in range(2):
            rows, low, high = data.draw(st.tuples(st.lists(numbers, max_size=5), numbers, numbers))
            shown = world.seen.scan(NarrowRows(world.cells), np.array(rows, np.int64), low, high)
            compared = [(i, j) for i in rows for j in range(low, high) if i != j]
            world.check(shown, compared, places)


@settings(max_examples=30)
@given(worlds, st.data())
def test_rows_that_are_so_far_apart(world: World, data: st.DataObject) -> None:
    """For some of the rows, in a given order."""
    count = world.cells.shape[1]
    places = np.array(data.draw(st.lists(st.integers(0, count - 1), min_size=1, unique=True)), np.int64)
    distances = data.draw(st.lists(st.integers(1, count), max_size=3))
    with patch.object(sightings, "_ROOM", count):
        shown = world.seen.scan_apart(NarrowRows(world.cells, places), np.array(distances, np.int64))
    world.check(shown, [(i, i + d) for d in distances for i in range(len(places) - d)], places)


def test_many_rows() -> None:
    """More than a block, and more signatures than there is room for at a time: all that counting finds is seen."""
    numbers = np.random.default_rng(2)
    cells = numbers.integers(0, 5, (8, 5_000)).astype(np.uint32)
    seen = Sightings(Numbering.of(8))
    rows, few = NarrowRows(cells), np.arange(0, 5_000, 50)
    with patch.object(sightings, "_ROOM", 2_048):
        pairs, values = seen.scan(rows, few)
    first, second = cells[:, few][:, :, None], cells[:, None, :]
    all_values = np.where(first < second, 1, np.where(first == second, 2, 4)).astype(np.uint8)
    expected = {one_of_two(tuple(row)) for row in np.unique(all_values.reshape(8, -1).T, axis=0).tolist()}
    alike = {(2,) * 8}  # which rows have with themselves
    assert {one_of_two(tuple(row)) for row in values.tolist()} | alike == expected
    assert len(pairs) == len(np.unique(values, axis=0)) > 2_048
    assert not len(seen.scan(rows, few)[0])
