"""Sets of row ids compared with Python's own."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.given.row_set import RowSet

STEPS = st.lists(st.tuples(st.integers(0, 90), st.sets(st.integers(0, 300))), max_size=8)


@settings(max_examples=200)
@given(first=st.integers(0, 100), steps=STEPS)
def test_rows_come_and_go(first: int, steps: list[tuple[int, set[int]]]) -> None:
    given_ids = np.arange(0, 2 * first, 2)
    given_ids.flags.writeable = False
    rows, plain, last = RowSet(given_ids), set(range(0, 2 * first, 2)), 2 * first
    for born, dead in steps:
        removed = rows.remove(np.array(sorted(dead), np.int64))
        assert removed.tolist() == sorted(dead & plain)
        ids = np.arange(last, last + born)
        rows.add(ids)
        plain = (plain - dead) | set(ids.tolist())
        last += born
        assert rows.ids().tolist() == sorted(plain)
        assert len(rows) == len(plain)
