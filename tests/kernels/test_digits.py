"""How a row compares with others, in digits: planes and numbers against comparing cell by cell.

No other code calls these kernels but kernels, so that here they run as Python; see `test_tally` for machine code.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.kernels import digits as kernels
from holdfast.kernels.cells import BLOCK
from holdfast.pairs.rows import WeightedRows
from holdfast.pairs.signature_numbers import Numbering
from holdfast.pairs.signatures import ordered_but

TOPS = (1, 3, 254, 255, 65_534, 65_535, 2**32 - 2)  # the most that fits one, two and four bytes, and one more
columns = st.lists(st.tuples(st.sampled_from(TOPS), st.booleans(), st.booleans()), min_size=1, max_size=12)
compare, number_pairs = cast(Any, kernels.compare).plain, cast(Any, kernels.number_pairs).plain


def digit(cell: int, value: int, equal_only: bool, unknown: bool) -> int:
    """What a row is to the query in a column."""
    if unknown and 0 in (cell, value):
        return kernels.LESS if equal_only else kernels.UNKNOWN
    if equal_only or cell == value:
        return kernels.SAME if cell == value else kernels.LESS
    return kernels.LESS if cell < value else kernels.MORE


@settings(max_examples=60)
@given(columns, st.sampled_from([0, 1, 2, 5, 12]), st.integers(0, 2), st.integers(0, 2**32))
def test_numbers_are_made_of_digits(drawn: list[tuple[int, bool, bool]], count: int, first: int, seed: int) -> None:
    chance, tops = np.random.default_rng(seed), [top for top, _, _ in drawn]
    equal_only, unknown = [alone for _, alone, _ in drawn], [nulls for _, _, nulls in drawn]
    values = [np.array([0, 1, top // 2, top], np.uint32) for top in tops]
    few = [chance.choice(own, chance.integers(1, 5)) for own in values]  # of some columns all rows have the same
    codes = np.stack([chance.choice(own, count) for own in few])
    query = np.array([chance.choice(own) for own in values])
    rows = WeightedRows.of(codes, np.ones(count, np.int64), tops)
    numbering = Numbering.of(len(tops), ordered_but(np.flatnonzero(equal_only)), unknown)
    n, digits = max(0, rows.used - first), numbering.digits
    planes, numbers = np.empty(len(digits.scale) * BLOCK, np.uint8), np.empty(n, np.uint32)
    with np.errstate(over="ignore"):  # as in machine code
        compare(rows.cells, 0, first, n, digits, query, planes)
    number_pairs(planes, np.uint64(n), digits.scale, numbers)
    for own, number in zip(rows.codes().T[first:].tolist(), numbers.tolist(), strict=True):
        for cell, value, alone, nulls in zip(own, query.tolist(), equal_only, unknown, strict=True):
            number, found = divmod(number, 2 if alone else 4 if nulls else 3)
            assert found == digit(cell, value, alone, nulls)
        assert number == 0
