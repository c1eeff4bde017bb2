"""Minimal boxes that no pair lies in, found with lists of cells for the first columns, against a look at all boxes."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.pointwise import box_search, cells
from holdfast.engines.pointwise.boxes import Space
from tests.kernels.test_never_sets import Values, by_definition, nothing, question_on, tables


@settings(max_examples=40)
@given(tables(), st.integers(1, 4), st.sampled_from([1, 4, 20]), st.sampled_from([1, 50, 10**9]))
def test_all_minimal_boxes(table: tuple[Space, Values, bool], most: int, few: int, words: int) -> None:
    """With lists for all columns, or for some; in stretches."""
    space, values, _ = table
    with (
        patch.multiple(cells, _FEW=few, _FOR_EACH=0, _BOXES=6),
        patch.object(box_search, "_WORDS", words),
    ):
        parts = question_on(table, most).answered_by_lists(values, range(space.columns), nothing)
        found = [tuple(box) for part in parts for box in part[:, : space.columns].tolist()]
    assert sorted(found) == sorted(by_definition(space, values, most))
