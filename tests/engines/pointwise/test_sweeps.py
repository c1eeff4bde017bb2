"""The first pair of rows in a box, against a look at all pairs: ties, duplicates, nulls, dead rows and new ones."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise import sweeps
from holdfast.engines.pointwise.boxes import EQUAL, FREE, LESS, MORE, OTHER, Space
from holdfast.table.change import Change
from holdfast.table.nulls import NullMode, Nulls
from holdfast.table.runner import Threads
from holdfast.table.table import Schema
from holdfast.table.types import Column
from tests.table.building import Kept

Row = tuple[Any, ...]
COLUMNS = (*(Column(name, pa.int64()) for name in "abcde"), Column("f", pa.string()))
ORDERED = (True, True, True, True, True, False)
number, text = st.none() | st.integers(0, 3), st.none() | st.sampled_from(["", "a", "b"])
cells = st.tuples(number, number, number, number, number, text)
masks = st.sampled_from([FREE, FREE, LESS, LESS | EQUAL, EQUAL, EQUAL | MORE, MORE])
box = st.tuples(*[masks | st.integers(0, FREE) for _ in ORDERED])


def value(one: Any, other: Any, ordered: bool, unknown: bool) -> int:
    """What a pair of rows has in a column."""
    if unknown and (one is None or other is None):
        return OTHER
    if one == other:
        return EQUAL
    if not ordered:
        return OTHER
    return LESS if one is None or (other is not None and one < other) else MORE  # null is first


def lies_in(t: Row, s: Row, masks: Sequence[int], unknown: bool) -> bool:
    values = [value(*pair, unknown) for pair in zip(t, s, ORDERED, strict=True)]
    return all(own & mask for own, mask in zip(values, masks, strict=True))


@pytest.mark.parametrize("nulls", ["equal", "distinct"])
@pytest.mark.parametrize("most_cells", [1 << 21, 1])
@settings(max_examples=80, deadline=None)
@given(
    st.lists(cells, min_size=1, max_size=9),
    st.sets(st.integers(0, 8)),
    st.lists(cells, max_size=5),
    st.lists(box, min_size=1),
)
def test_first_pairs(
    nulls: NullMode,
    most_cells: int,
    old: list[Row],
    dead: set[int],
    new: list[Row],
    boxes: list[tuple[int, ...]],
) -> None:
    space = Space(ORDERED, nulls == "distinct")
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(sweeps, "_MOST_CELLS", most_cells),
    ):
        _, kept = Kept.empty(Schema("t", COLUMNS, (), Nulls(nulls)), folder).operate([("insert", row) for row in old])
        rows = RankedColumns(kept.table)
        gone = [("delete", old[place]) for place in sorted(dead) if place < len(old)]
        before = kept.table
        admitted, kept = kept.operate([*gone, *(("insert", row) for row in new)])
        rows.follow(Change(before, admitted.table, admitted.born, admitted.dead), Threads())
        places = np.flatnonzero(rows.alive).tolist()
        plain = dict(zip(places, _plain_rows(kept), strict=True))
        for fresh in {0, rows.fresh}:
            found = sweeps.first_pairs(rows, space, np.array(boxes, np.uint8).reshape(-1, len(ORDERED)), fresh)
            for masks, (t, s) in zip(boxes, found.tolist(), strict=True):
                if t >= 0:
                    assert t != s
                    assert max(t, s) >= fresh
                    assert lies_in(plain[t], plain[s], masks, space.unknown)
                else:
                    pairs = ((a, b) for a in places for b in places if a != b and max(a, b) >= fresh)
                    assert not any(lies_in(plain[a], plain[b], masks, space.unknown) for a, b in pairs)


def _plain_rows(kept: Kept) -> list[Row]:
    values = kept.table.values(kept.table.living_ids())
    return list(zip(*(column.to_pylist() for column in values.columns), strict=True))
