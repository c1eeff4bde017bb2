"""The rival indexes of pointwise rules: the paper's examples, and random tables against comparing all pairs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.incpod import choose_indexes, opt_index
from benchmarks.incpod_kernels import EQUAL, FREE, LESS, MORE, Boxes, Ranks

# Of the paper's tables I and II: Date, NUM, SAL, TXA of t0 to t9.
ROWS = [
    (20140410, 1448, 32000, 3000),
    (20140224, 1401, 50000, 1500),
    (20140413, 1486, 30000, 3400),
    (20130403, 1386, 55000, 1300),
    (20140329, 1427, 7500, 0),
    (20130404, 1386, 6500, 900),
    (20150324, 1547, 95000, 1100),
    (20130322, 1368, 40000, 3300),
    (20140218, 1478, 33000, 1400),
    (20150213, 1533, 32000, 3200),
]
TAX = np.array([np.unique(column, return_inverse=True)[1] for column in zip(*ROWS, strict=True)], np.int32)
DATE, NUM, SAL, TXA = range(4)
INEQUALITIES = (LESS, LESS | EQUAL, MORE, MORE | EQUAL)


def box_of(columns: int, masks: dict[int, int]) -> Boxes:
    box = np.full((1, columns), FREE, np.uint8)
    box[0, list(masks)] = list(masks.values())
    return box


def test_example_8_and_9() -> None:
    index = opt_index(TAX, 7, (TXA, SAL), (MORE, LESS), box_of(4, {TXA: MORE, SAL: LESS}))
    assert sorted(index.sorted_rows()) == [[4, 5], [6, 3, 1, 0, 2]]
    assert index.candidates(TAX, 8) == ({3, 6}, {0, 2})


def test_example_10_and_11() -> None:
    index = opt_index(TAX, 7, (DATE, NUM), (LESS, LESS), box_of(4, {DATE: LESS, NUM: MORE}))
    assert sorted(index.sorted_rows()) == [[3], [6, 2, 0, 4, 1, 5]]
    assert index.candidates(TAX, 8) == ({0, 1, 4}, set())


def test_example_13() -> None:
    """t9 fits into the chain that it breaks nothing in."""
    index = opt_index(TAX, 7, (DATE, NUM), (LESS, LESS), box_of(4, {DATE: LESS, NUM: MORE}))
    found = index.probe(TAX, np.array([9]))
    assert sorted(index.sorted_rows()) == [[3], [6, 9, 2, 0, 4, 1, 5]]
    assert found.tally.tolist() == [0, 0]


tables = st.integers(1, 5).flatmap(
    lambda columns: st.tuples(
        st.lists(st.lists(st.integers(0, 4), min_size=columns, max_size=columns), min_size=2, max_size=9),
        st.lists(st.lists(st.integers(0, 4), min_size=columns, max_size=columns), max_size=5),
    )
)


def of_rows(rows: list[list[int]]) -> Ranks:
    return np.array(rows, np.int32).T.copy()


def compared(ranks: Ranks, first: int, second: int) -> NDArray[np.uint8]:
    a, b = ranks[:, first], ranks[:, second]
    return np.where(a < b, LESS, np.where(a == b, EQUAL, MORE)).astype(np.uint8)


@pytest.mark.parametrize(("first", "second"), list(product(INEQUALITIES, INEQUALITIES)))
@settings(max_examples=15)
@given(tables.filter(lambda both: len(both[0][0]) > 1))
def test_chains_are_sorted_and_few(first: int, second: int, rows: tuple[list[list[int]], list[list[int]]]) -> None:
    """As few as possible: as many as the largest set of rows of which none can follow another, equal rows aside."""
    ranks, masks = of_rows(rows[0] + rows[1]), (first, second)
    box = box_of(len(ranks), {0: LESS, 1: LESS})
    index = opt_index(ranks, len(rows[0]), (0, 1), masks, box)
    index.probe(ranks, np.arange(len(rows[0]), ranks.shape[1]))
    chains = index.sorted_rows()
    assert sorted(row for chain in chains for row in chain) == list(range(ranks.shape[1]))
    for chain in chains:
        for at, before in enumerate(chain):
            for after in chain[at + 1 :]:
                value = compared(ranks, after, before)
                assert (value[0] & first and value[1] & second) or (value[:2] == EQUAL).all()
    distinct = [list(pair) for pair in {tuple(row[:2]) for row in rows[0]}]
    few = of_rows(distinct)
    assert opt_index(few, len(distinct), (0, 1), masks, box[:, :2]).rank == widest(distinct, masks)


def widest(rows: list[list[int]], masks: tuple[int, int]) -> int:
    """The largest set of rows of which no two meet both inequalities."""
    ranks, best = of_rows(rows), 0
    values = {(i, j): compared(ranks, i, j) for i in range(len(rows)) for j in range(len(rows)) if i != j}
    apart = {pair for pair, value in values.items() if not (value[0] & masks[0] and value[1] & masks[1])}
    for some in range(1 << len(rows)):
        chosen = [i for i in range(len(rows)) if some >> i & 1]
        if len(chosen) > best and all((i, j) in apart for i in chosen for j in chosen if i != j):
            best = len(chosen)
    return best


@st.composite
def some_boxes(draw: st.DrawFn, columns: int) -> Boxes:
    """Boxes of two predicates or more, of which one is an equality or two are inequalities."""
    mask = st.sampled_from([FREE, EQUAL, *INEQUALITIES])
    box = st.lists(mask, min_size=columns, max_size=columns).filter(
        lambda masks: EQUAL in masks or sum(mask in INEQUALITIES for mask in masks) > 1
    )
    return np.array(draw(st.lists(box, min_size=1, max_size=6)), np.uint8)


@settings(max_examples=80)
@given(tables, st.data())
def test_rules_that_new_rows_break(rows: tuple[list[list[int]], list[list[int]]], data: st.DataObject) -> None:
    ranks, count = of_rows(rows[0] + rows[1]), len(rows[0])
    boxes = data.draw(some_boxes(len(ranks)))
    fresh = np.arange(count, ranks.shape[1])
    pairs = [(i, j) for i in range(ranks.shape[1]) for j in range(ranks.shape[1]) if i != j and max(i, j) >= count]
    chosen = choose_indexes(ranks[:, :count], boxes)
    assert sorted(rule for choice in chosen for rule in choice.rules) == list(range(len(boxes)))
    for choice in chosen:
        own = boxes[list(choice.rules)]
        broken = [sum((compared(ranks, i, j) & box).all() for i, j in pairs) for box in own]
        found = choice.made(ranks, count, boxes).probe(ranks, fresh)
        assert found.tally[1] == sum(broken)
        assert (found.broken[:, 0] >= 0).tolist() == [number > 0 for number in broken]
        for box, (i, j) in zip(own, found.broken.tolist(), strict=True):
            assert i < 0 or (compared(ranks, i, j) & box).all()
        soon = choice.made(ranks, count, boxes).probe(ranks, fresh, patient=False)
        assert ((soon.broken[:, 0] >= 0) == (found.broken[:, 0] >= 0)).all()
