"""Batches are a commutative group; rows are grouped rightly even where every hash is the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.changes import batch as module
from holdfast.changes.batch import Batch, group_rows, hash_rows

WIDTH = 2
SignedRow = tuple[tuple[int, int], int]


def batch_of(signed: list[SignedRow]) -> Batch:
    codes = np.array([row for row, _ in signed], np.uint32).reshape(len(signed), WIDTH).T
    return Batch(codes, np.array([weight for _, weight in signed], np.int64))


def weights_of(batch: Batch) -> dict[tuple[int, ...], int]:
    """The sum of each row's weights, by plain counting."""
    counted: Counter[tuple[int, ...]] = Counter()
    for row, weight in zip(batch.codes.T.tolist(), batch.weights.tolist(), strict=True):
        counted[tuple(row)] += weight
    return {row: weight for row, weight in counted.items() if weight}


# 2**32 - 1 and 65536 differ from 0 only in the high bytes.
codes = st.sampled_from([0, 1, 2, 65536, 2**32 - 1])
signed_rows = st.lists(st.tuples(st.tuples(codes, codes), st.integers(-2, 2)), max_size=10)
batches = signed_rows.map(batch_of)


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
@given(batches, batches, batches)
def test_plus_is_associative_and_commutative(a: Batch, b: Batch, c: Batch) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert weights_of((a + b) + c) == weights_of(a + (b + c))


@settings(deadline=None, max_examples=50)
@given(batches)
def test_zero_is_neutral_and_every_batch_has_an_inverse(a: Batch) -> None:
    zero = Batch.zero(WIDTH)
    assert a + zero == a == zero + a
    assert a + -a == zero
    negative = -a
    assert -negative == a
    assert len((a + -a).consolidate()) == 0


@settings(deadline=None, max_examples=50)
@given(batches)
def test_consolidate_is_the_normal_form(a: Batch) -> None:
    normal = a.consolidate()
    rows = [tuple(row) for row in normal.codes.T.tolist()]
    assert len(set(rows)) == len(rows) == len(normal)
    assert (normal.weights != 0).all()
    assert dict(zip(rows, normal.weights.tolist(), strict=True)) == weights_of(a)
    first_seen = list(dict.fromkeys(tuple(row) for row in a.codes.T.tolist()))
    assert rows == [row for row in first_seen if row in weights_of(a)]
    again = normal.consolidate()
    assert np.array_equal(again.codes, normal.codes)
    assert np.array_equal(again.weights, normal.weights)


@settings(deadline=None, max_examples=50)
@given(batches, batches)
def test_consolidate_keeps_sums_and_inverses(a: Batch, b: Batch) -> None:
    assert (a + b).consolidate() == a.consolidate() + b.consolidate()
    assert (-a).consolidate() == -(a.consolidate())


@settings(deadline=None, max_examples=50)
@given(batches, batches)
def test_equality_is_equality_of_sums(a: Batch, b: Batch) -> None:
    assert (a == b) == (weights_of(a) == weights_of(b))
    assert (a == 0) is False


@settings(deadline=None, max_examples=50)
@given(signed_rows)
def test_groups_are_the_equal_rows_in_order_of_appearance(signed: list[SignedRow]) -> None:
    rows = [row for row, _ in signed]
    groups = group_rows(batch_of(signed).codes)
    distinct = list(dict.fromkeys(rows))
    assert groups.count == len(distinct)
    assert groups.of_row.tolist() == [distinct.index(row) for row in rows]
    assert groups.first.tolist() == [rows.index(row) for row in distinct]


def test_adding_and_negating_leave_their_operands_alone() -> None:
    a = batch_of([((1, 2), 1), ((1, 2), 1)])
    total = a + a
    negative = -a
    total.weights[:] = 9
    assert a.weights.tolist() == [1, 1]
    assert negative.weights.tolist() == [-1, -1]


def test_a_batch_cannot_be_hashed() -> None:
    with pytest.raises(TypeError):
        hash(Batch.zero(1))


def test_a_row_hashes_the_same_however_narrow_its_codes_are() -> None:
    columns = [np.array([0, 1, 255]), np.array([3, 3, 4])]
    by_width = [hash_rows([c.astype(t) for c in columns]) for t in (np.uint8, np.uint16, np.uint32, np.uint64)]
    assert all(np.array_equal(by_width[0], other) for other in by_width)
    assert len(set(by_width[0].tolist())) == 3


def test_hashes_depend_on_the_column() -> None:
    one, two = np.array([1], np.uint8), np.array([2], np.uint8)
    assert hash_rows([one, two]) != hash_rows([two, one])
    assert len(hash_rows([], rows=3)) == 3
