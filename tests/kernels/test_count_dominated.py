"""How many rows lie below each other, against a look at all pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.kernels.count_dominated import count_below
from tests.kernels.test_dominance import SIZE, Row, is_below, swept


@settings(max_examples=150)
@given(swept, st.lists(st.booleans(), min_size=3, max_size=3), st.integers(1, 5))
def test_rows_below_others_are_counted(table: list[Row], strict: list[bool], fuel: int) -> None:
    plain = sorted((group, own[:3]) for group, own, _ in table)
    groups = np.array([group for group, _ in plain], np.uint32)
    columns = np.array([own for _, own in plain], np.int32).reshape(-1, 3).T.copy()
    tree, done, row = np.zeros(SIZE**2, np.int32), np.zeros(2, np.int64), 0
    while row < len(plain):
        row = count_below(groups, columns, np.array(strict), np.full(2, SIZE), tree, row, fuel, done)
    assert done[0] == sum(a == b and is_below(one, other, strict) for a, one in plain for b, other in plain)
    assert not tree.any()
