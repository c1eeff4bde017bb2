"""Never-sets against their definition, on tiny tables; and how they are found where there is much of something."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.pointwise import cells
from holdfast.engines.pointwise.marks import Space
from holdfast.engines.pointwise.never import left_sides, never_sets
from tests.engines.pointwise.tables import Small, named, small
from tests.oracle import pointwise as oracle

bounds = st.one_of(st.none(), st.integers(0, 4))
# All cells fit into one search; or those of some columns only, or of none.
room = st.sampled_from([1 << 26, 27, 9, 1])


@settings(max_examples=300)
@given(small(nulls=["equal"]), bounds, room)
def test_all_minimal_never_sets_with_their_mirrors(table: Small, most: int | None, fit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "_MOST", fit)
        found = list(map(named, never_sets(table.values, table.space, most)))
    assert len(found) == len(set(found)), "none comes twice"
    assert set(found) == {tuple(oracle.MIRROR[mark] for mark in marks) for marks in found}
    assert set(map(oracle.folded, found)) == oracle.never_sets(table.rows, table.ordered, most)


@settings(max_examples=20)
@given(small(nulls=["equal"], most=6))
def test_six_columns(table: Small) -> None:
    found = map(named, never_sets(table.values, table.space))
    assert set(map(oracle.folded, found)) == oracle.never_sets(table.rows, table.ordered)


def test_a_table_without_pairs() -> None:
    space, nothing = Space((True, False)), np.empty((0, 2), np.uint8)
    assert never_sets(nothing, space).tolist() == left_sides(nothing, space, 1, 8).tolist() == [[15, 15]]


def test_many_results_come_in_blocks_and_can_be_stopped() -> None:
    """No two columns are equal together, and all else occurs: what is never met is any `=` twice."""
    columns = 9
    values = np.array([row for row in product((1, 2, 4), repeat=columns) if row.count(2) < 2], np.uint8)
    told: list[int] = []
    found = never_sets(values, Space((True,) * columns), progress=told.append)
    assert len(found) == columns * (columns - 1) // 2
    assert told == sorted(told)

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        never_sets(values, Space((True,) * columns), progress=stop)


def test_many_columns_with_a_bound() -> None:
    """24 columns, six of each kind: those of a kind always compare alike, and the kinds have nothing to do with each
    other.
    """
    halves = np.array(list(product((1, 2, 4), repeat=4)), np.uint8)
    values = np.repeat(np.concatenate([halves] * 3, axis=1), 2, axis=1)
    space = Space((True,) * values.shape[1])
    whole = {named(box) for box in never_sets(values, space, 2)}
    alike = [(a, b) for a in range(24) for b in range(a) if a // 2 % 4 == b // 2 % 4]
    assert len(whole) == 4 * len(alike)  # `<` and `>=`, `<=` and `>`, `>=` and `<`, `>` and `<=`
