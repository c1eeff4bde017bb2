"""Minimal boxes that no pair lies in, found with a bit for each cell, against a look at all boxes."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.engines.pointwise import box_search, cells
from holdfast.engines.pointwise.box_search import BoxQuestion
from holdfast.engines.pointwise.boxes import EQUAL, FREE, LESS, MIRRORED, MORE, OTHER, Space
from holdfast.engines.pointwise.cells import CellSet, WantedCoverage

Box = tuple[int, ...]
Values = NDArray[np.uint8]
ORDERED, PLAIN = (LESS, LESS | EQUAL, EQUAL, EQUAL | MORE, MORE), (EQUAL, OTHER)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Space, Values, bool]:
    """How columns compare, what pairs have there, and whether their mirror images are among them."""
    space = Space(tuple(draw(st.lists(st.booleans(), min_size=1, max_size=4))), draw(st.booleans()))
    own = [[bit for bit in (1, 2, 4, 8) if bit & space.values(c)] for c in range(space.columns)]
    rows = draw(st.lists(st.tuples(*map(st.sampled_from, own)), max_size=30))
    values, symmetric = np.array(rows, np.uint8).reshape(-1, space.columns), draw(st.booleans())
    return space, np.concatenate([values, MIRRORED[values]]) if symmetric else values, symmetric


def marks(space: Space) -> list[tuple[int, ...]]:
    return [ORDERED if ordered else PLAIN for ordered in space.ordered]


def pairs_in(box: Box, values: Values) -> NDArray[np.bool_]:
    return np.asarray((values & np.array(box, np.uint8) != 0).all(axis=1))


def by_definition(space: Space, values: Values, most: int) -> set[Box]:
    """The boxes of few marks that no pair lies in, though in all that are weaker in one column."""
    choices = [(*own, FREE) for own in marks(space)]
    never = {box for box in product(*choices) if not pairs_in(box, values).any()}
    return {
        box
        for box in never
        if sum(mark != FREE for mark in box) <= most
        and not any(
            (*box[:c], weaker, *box[c + 1 :]) in never
            for c, own in enumerate(box)
            for weaker in choices[c]
            if weaker & own == own != weaker
        )
    }


def question_on(table: tuple[Space, Values, bool], most: int) -> BoxQuestion:
    return BoxQuestion.of(table[0], marks(table[0]), most, table[2])


def nothing() -> None:
    """What is called between stretches of a search."""


@settings(max_examples=100)
@given(tables(), st.integers(1, 4), st.sampled_from([1, 6, 256]), st.sampled_from([1, 50, 10**9]), st.integers(0, 60))
def test_all_minimal_boxes(
    table: tuple[Space, Values, bool], most: int, in_a_word: int, words: int, number: int
) -> None:
    """With many or few columns in a word, in stretches; and those only that hold some pairs, of these and of others."""
    space, values, _ = table
    columns, question = range(space.columns), question_on(table, most)
    counts, seen = 1 + np.arange(len(values)) % 5, values if table[2] else values[::2]
    expected = by_definition(space, seen, most)
    held = {box: int(counts[pairs_in(box, values)].sum()) for box in expected}
    limits = [own + more for own in sorted(set(held.values()) - {0}) for more in (0, 1)] or [1]
    least = limits[number % len(limits)]
    with patch.object(cells, "_BOXES", in_a_word), patch.object(box_search, "_WORDS", words):
        some = CellSet.of(seen, space, columns)
        covered = some.counted(values, WantedCoverage(counts, least))
        found = [tuple(box) for part in question.answered(some, nothing) for box in part[:, : len(columns)].tolist()]
        wide = [tuple(box) for part in question.answered(covered, nothing) for box in part[:, : len(columns)].tolist()]
    assert sorted(found) == sorted(expected)
    if len(values):
        assert sorted(wide) == sorted(box for box in expected if held[box] >= least)
