"""Which wanted signatures chosen pairs of rows have, against comparing them one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.kernels.agree import BLOCK
from holdfast.kernels.scanning import scan
from holdfast.pairs.narrow import narrow_rows
from holdfast.pairs.numbers import Numbering
from holdfast.pairs.signatures import values_of

TOPS = (3, 254, 255, 65_534, 65_535, 2**32 - 2)  # the most that fits one, two and four bytes, and one more
Value = tuple[int, ...]
Places = NDArray[np.int64]


class World:
    """Some rows, and how they are compared: few values of several widths, some of them null."""

    def __init__(self, seed: int, columns: int, count: int, distinct: bool, alone: set[int]) -> None:
        numbers = np.random.default_rng(seed)
        self.tops = numbers.choice(TOPS, columns).tolist()
        self.cells = np.stack([numbers.choice([0, 1, top // 2, top], count) for top in self.tops]).astype(np.uint32)
        self.alone, self.distinct = {c for c in alone if c < columns}, distinct
        unknown = (self.cells == 0).any(axis=1).tolist() if distinct else None
        self.numbering = Numbering.of(columns, sorted(self.alone), unknown)

    def value(self, first: int, second: int) -> Value:
        """What one row is to another, column by column: 1 less, 2 equal, 4 more, 8 differs or unknown."""
        told = []
        for c, (a, b) in enumerate(self.cells[:, [first, second]].tolist()):
            unknown = self.distinct and (a == 0 or b == 0)
            told.append(8 if unknown or (c in self.alone and a != b) else 1 if a < b else 2 if a == b else 4)
        return tuple(told)

    def values(self, numbers: NDArray[np.integer]) -> set[Value]:
        """What the row of a stretch is to the one it is compared with, by number: words say it from the latter."""
        mirrored = {1: 4, 4: 1}
        told = values_of(self.numbering.words(numbers), self.numbering.columns).tolist()
        return {tuple(mirrored.get(value, value) for value in row) for row in told}


worlds = st.builds(
    World, st.integers(0, 2**32), st.integers(1, 7), st.integers(2, 14), st.booleans(), st.sets(st.integers(0, 6))
)


@settings(max_examples=80)
@given(worlds, st.data())
def test_chosen_pairs(world: World, data: st.DataObject) -> None:
    """Of some of the rows, in an order that is asked for. Half of the numbers are wanted, and each is found once."""
    count = world.cells.shape[1]
    places = np.array(data.draw(st.lists(st.integers(0, count - 1), min_size=2, unique=True)), np.int64)
    within = st.integers(0, len(places))
    asked = data.draw(st.lists(st.tuples(st.integers(0, len(places) - 1), within, within), max_size=6))
    firsts, begins, ends = (np.array([each[i] for each in asked], np.int64) for i in range(3))
    marks = np.random.default_rng(count).random(world.numbering.size) < 0.5
    wanted, known = np.packbits(marks, bitorder="little"), world.values(np.flatnonzero(marks))
    rows, pairs = narrow_rows(list(world.cells), world.tops, places), np.empty((BLOCK, 2), np.int64)

    found = scan(rows, firsts, begins, ends, world.numbering.digits, wanted, pairs)
    shown = [world.value(int(places[one]), int(places[other])) for one, other in pairs[:found].tolist()]
    compared = {(j, i) for i, low, high in asked for j in range(low, high) if i != j}
    assert {tuple(pair) for pair in pairs[:found].tolist()} <= compared
    assert len(set(shown)) == found
    assert set(shown) == {world.value(int(places[one]), int(places[other])) for one, other in compared} & known
    left = np.flatnonzero(np.unpackbits(wanted, bitorder="little", count=world.numbering.size))
    assert world.values(left) == known - set(shown)


def test_long_stretches_and_little_room() -> None:
    numbers = np.random.default_rng(2)
    cells = numbers.integers(0, 5, (8, 5_000)).astype(np.uint32)
    numbering, places = Numbering.of(8), np.arange(5_000)
    rows, few = narrow_rows(list(cells), [4] * 8, places), np.arange(0, 5_000, 50)
    wanted, pairs = np.full(-(-numbering.size // 8), 255, np.uint8), np.empty((BLOCK, 2), np.int64)
    asked = few, np.zeros(100, np.int64), np.full(100, 5_000)
    found, ended = [], False
    while not ended:
        count = scan(rows, *asked, numbering.digits, wanted, pairs)
        found.append(pairs[: abs(count)].copy())
        ended = count >= 0
    assert len(found) > 1
    one, other = cells[:, np.concatenate(found)].transpose(2, 0, 1)
    shown = np.where(one < other, 1, np.where(one == other, 2, 4))
    all_of_them = np.where(
        cells[:, None] < cells[:, few, None], 1, np.where(cells[:, None] == cells[:, few, None], 2, 4)
    )
    all_of_them[:, np.arange(100), few] = 1  # in place of each row with itself: a value that other pairs have
    assert {tuple(row) for row in shown.T.tolist()} == {tuple(row) for row in all_of_them.reshape(8, -1).T.tolist()}
    assert len(np.unique(shown, axis=1).T) == sum(map(len, found))
