"""Rows are grouped rightly even where every hash is the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.changes import equal_rows as module
from holdfast.changes.equal_rows import group_rows, hash_rows

# 2**32 - 1 and 65536 differ from 0 only in the high bytes.
codes = st.sampled_from([0, 1, 2, 65536, 2**32 - 1])


@pytest.fixture(params=["own hash", "one hash for all", "two hashes"], autouse=True, scope="module")
def _hashes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run everything with honest hashes, and with hashes that collide all the time."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "one hash for all":
            patch.setattr(module, "hash_rows", lambda columns: np.zeros(len(columns[0]), np.uint64))
        if request.param == "two hashes":
            patch.setattr(module, "hash_rows", lambda columns: columns[0].astype(np.uint64) % np.uint64(2))
        yield


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(codes, codes), max_size=10))
def test_groups_are_the_equal_rows_in_order_of_appearance(rows: list[tuple[int, int]]) -> None:
    groups = group_rows(np.array(rows, np.uint32).reshape(len(rows), 2).T)
    distinct = list(dict.fromkeys(rows))
    assert groups.count == len(distinct)
    assert groups.of_row.tolist() == [distinct.index(row) for row in rows]
    assert groups.first.tolist() == [rows.index(row) for row in distinct]


def test_a_row_hashes_the_same_however_narrow_its_codes_are() -> None:
    columns = [np.array([0, 1, 255]), np.array([3, 3, 4])]
    by_width = [hash_rows([c.astype(t) for c in columns]) for t in (np.uint8, np.uint16, np.uint32, np.uint64)]
    assert all(np.array_equal(by_width[0], other) for other in by_width)
    assert len(set(by_width[0].tolist())) == 3


def test_hashes_depend_on_the_column() -> None:
    one, two = np.array([1], np.uint8), np.array([2], np.uint8)
    assert hash_rows([one, two]) != hash_rows([two, one])
    assert len(hash_rows([], rows=3)) == 3
