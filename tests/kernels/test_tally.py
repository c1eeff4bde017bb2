"""How often rows compare in each way, against comparing all pairs in NumPy: widths, weights, blocks, nulls."""

from __future__ import annotations

from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import holdfast.pairs.counting as counting
from holdfast.changes.equal_rows import Codes
from holdfast.pairs.counting import Count, all_pairs, equal_pairs, merged
from holdfast.pairs.rows import WeightedRows
from holdfast.pairs.signatures import ORDERED, SignatureKind, Signed, both_ways, ordered_but, values_of

TOPS = (3, 254, 255, 65_534, 65_535, 2**32 - 2)  # the most that fits one, two and four bytes, and one more
Weights = NDArray[np.int64]


def by_definition(codes: Codes, weights: Weights, kind: SignatureKind, distinct: bool) -> Counter[tuple[int, ...]]:
    """The ordered pairs of rows by signature, each counted as often as its rows' weights say."""
    found: Counter[tuple[int, ...]] = Counter()
    for i in range(len(weights)):
        first = codes[:, i : i + 1]
        values = np.where(first < codes, 1, np.where(first == codes, 2, 4))
        alone = list(kind.equal_only)
        values[alone] = np.where(values[alone] == 2, 2, 8)
        if distinct:
            values[(first == 0) | (codes == 0)] = 8
        for j, row in enumerate(values.T.tolist()):
            found[tuple(row)] += int(weights[i] * (weights[j] - (i == j)))
    return +found


def signatures(pairs: Signed, columns: int) -> Counter[tuple[int, ...]]:
    words, counts = merged([pairs])
    return Counter(dict(zip(map(tuple, values_of(words, columns).tolist()), counts.tolist(), strict=True)))


def some_rows(numbers: np.random.Generator, columns: int, rows: int) -> Codes:
    """Few values in each column, which are small in some and as large as fits in others; some are null."""
    tops = numbers.choice(TOPS, columns)
    return np.stack([numbers.choice([0, 1, top // 2, top - 1, top], rows) for top in tops]).astype(np.uint32)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 14), st.booleans(), st.booleans(), st.data())
def test_all_pairs_by_definition(seed: int, columns: int, distinct: bool, plain: bool, data: st.DataObject) -> None:
    numbers = np.random.default_rng(seed)
    kind = ordered_but(data.draw(st.sets(st.integers(0, columns - 1))))
    rows = WeightedRows.of(some_rows(numbers, columns, 12), numbers.integers(1, 4, 12))
    with patch.object(counting, "_PAIR_PAYS", 1 << 30 if plain and columns < 11 else 0):
        found = merged(all_pairs(rows, kind, distinct))
    assert signatures(found, columns) == by_definition(rows.codes(), rows.weights, kind, distinct)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 8), st.booleans(), st.data())
def test_batches_that_come_row_by_row(seed: int, columns: int, distinct: bool, data: st.DataObject) -> None:
    """Rows are born and die, also such as were there before and such as are there several times."""
    numbers = np.random.default_rng(seed)
    kind = ordered_but(data.draw(st.sets(st.integers(0, columns - 1))))
    rows = WeightedRows.of(some_rows(numbers, columns, 9), numbers.integers(1, 4, 9))
    before = all_pairs(rows, kind, distinct)
    dying, old = numbers.random(rows.used) < 0.3, rows.codes()
    steps = np.r_[numbers.integers(1, 3, 4), -rows.weights[dying]]
    batch = WeightedRows.of(np.concatenate([some_rows(numbers, columns, 4), old[:, dying]], axis=1), steps)
    own = rows.follow(batch)
    against = Count(batch, rows, kind, distinct, own=own).from_both_rows()
    after = merged([*before, *against, *both_ways([equal_pairs(batch, kind, distinct)], kind)])
    assert signatures(after, columns) == by_definition(rows.codes(), rows.weights, kind, distinct)


@pytest.mark.parametrize("distinct", [False, True])
def test_many_blocks_in_threads(distinct: bool) -> None:
    """Enough rows for several blocks, with weights, in a plain table by threads and in a hash table."""
    numbers = np.random.default_rng(1)
    codes = np.stack([numbers.integers(low, 9, 5_000) for low in (0, 1, 0, 1, 1, 1)]).astype(np.uint32)
    rows = WeightedRows.of(codes, numbers.integers(1, 3, 5_000))
    kind = ordered_but([1, 2])
    with patch.object(counting, "_WORTH_THREADS", 0):
        plain = signatures(merged(all_pairs(rows, kind, distinct)), 6)
    with patch.multiple(counting, _NUMBERS=0, _PAIR_PAYS=0):
        assert signatures(merged(all_pairs(rows, kind, distinct)), 6) == plain
    assert sum(plain.values()) == rows.weights.sum() * (rows.weights.sum() - 1)


def test_heavy_rows_are_counted_in_wide_cells() -> None:
    rows = WeightedRows.of(np.array([[1, 2, 3]], np.uint32), np.array([100_000, 70_000, 1]))
    assert signatures(merged(all_pairs(rows, ORDERED, False)), 1) == by_definition(
        rows.codes(), rows.weights, ORDERED, False
    )
