"""Never-sets against their definition, on tiny tables; and how they are found where there is much of something."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.pointwise import cells
from holdfast.engines.pointwise import never_sets as module
from holdfast.engines.pointwise.boxes import Space
from holdfast.engines.pointwise.never_sets import left_sides, never_sets
from holdfast.errors import BadInput
from tests.engines.pointwise.tables import Small, named, small
from tests.oracle import pointwise as oracle

bounds = st.one_of(st.none(), st.integers(0, 4))
searches = st.sampled_from(["bits", "lists", "blocks", "blocks of lists"])


@contextmanager
def searched_by(search: str) -> Iterator[None]:
    """With a bit for each cell; with lists for the first columns; or block by block, where there is a bound."""
    with pytest.MonkeyPatch.context() as patch:
        if "lists" in search:
            patch.setattr(cells, "_FEW", 9)
            patch.setattr(cells, "_FOR_EACH", 0)
        if "blocks" in search:
            patch.setattr(module, "_EACH", 0)
            patch.setattr(module, "_work", lambda _, columns: 99.0 ** len(columns))
        yield


@settings(max_examples=120)
@given(small(nulls=["equal"]), bounds, searches)
def test_all_minimal_never_sets_with_their_mirrors(table: Small, most: int | None, search: str) -> None:
    with searched_by(search):
        found = list(map(named, never_sets(table.values, table.space, most)))
    assert len(found) == len(set(found)), "none comes twice"
    assert set(found) == {tuple(oracle.MIRROR[mark] for mark in conjunction) for conjunction in found}
    assert set(map(oracle.folded, found)) == oracle.never_sets(table.rows, table.ordered, most)


@settings(max_examples=20)
@given(small(nulls=["equal"], most=6), searches)
def test_six_columns(table: Small, search: str) -> None:
    with searched_by(search):
        found = map(named, never_sets(table.values, table.space))
    assert set(map(oracle.folded, found)) == oracle.never_sets(table.rows, table.ordered)


@given(small(), st.data(), bounds)
def test_left_sides_of_any_negation(table: Small, data: st.DataObject, most: int | None) -> None:
    """They are the left sides of rules: minimal among those that no pair meets which has one of the values."""
    column = data.draw(st.sampled_from(range(len(table.ordered))))
    negation = data.draw(st.integers(1, 15))
    pairs = oracle.Pairs(table.rows, table.ordered, table.nulls)
    signs = "".join(sign for bit, sign in ((1, "<"), (2, "="), (4, ">"), (8, "!?")) if bit & negation)
    having = sum(1 << i for i, own in enumerate(pairs.signs) if own[column] in signs)
    operators = [("<", "<=", "=", ">=", ">") if ordered else ("=",) for ordered in table.ordered]
    allowed = [own if c != column else () for c, own in enumerate(operators)]
    expected: list[oracle.Conjunction] = []
    for conjunction in oracle.weakest_first(allowed, most):
        if not pairs.meeting(conjunction) & having and not any(oracle.contains(conjunction, less) for less in expected):
            expected.append(conjunction)
    found = left_sides(table.values, table.space, column, negation, most)
    assert sorted(map(named, found)) == sorted(expected)


def test_a_table_without_pairs() -> None:
    space, nothing = Space((True, False)), np.empty((0, 2), np.uint8)
    assert never_sets(nothing, space).tolist() == left_sides(nothing, space, 1, 8).tolist() == [[15, 15]]


def test_many_results_come_in_blocks_and_can_be_stopped() -> None:
    """No two columns are equal together, and all else occurs: what is never met is any `=` twice."""
    columns = 9
    values = np.array([row for row in product((1, 2, 4), repeat=columns) if row.count(2) < 2], np.uint8)
    reports: list[int] = []
    found = never_sets(values, Space((True,) * columns), progress=reports.append)
    assert len(found) == columns * (columns - 1) // 2
    assert reports == sorted(reports)

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        never_sets(values, Space((True,) * columns), progress=stop)


def alike(columns: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Four kinds of columns that have nothing to do with each other; those of a kind always compare alike."""
    kinds = np.array(list(product((1, 2, 4), repeat=4)), np.uint8)
    return np.concatenate([kinds] * (columns // 4), axis=1)


@pytest.mark.parametrize(("columns", "most"), [(24, 2), (40, 2), (20, None)])
def test_many_columns(columns: int, most: int | None) -> None:
    """Two of a kind never compare as `<` and `>=`, `<=` and `>`, `>=` and `<`, `>` and `<=`; all else follows."""
    found = list(map(named, never_sets(alike(columns), Space((True,) * columns), most)))
    same = [(a, b) for a in range(columns) for b in range(a) if a % 4 == b % 4]
    assert len(set(found)) == len(found) == 4 * len(same)


def test_more_columns_than_a_search_without_a_bound_takes() -> None:
    with pytest.raises(BadInput, match="--max-lhs"):
        never_sets(alike(40), Space((True,) * 40))
