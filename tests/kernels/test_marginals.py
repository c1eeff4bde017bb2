"""What lies in boxes, counted one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.engines.pointwise import marginals
from holdfast.engines.pointwise.boxes import Space
from holdfast.engines.pointwise.marginals import counts_within, values_within

masks = st.sampled_from([15, 15, 1, 2, 3, 4, 5, 6, 8, 12])


@st.composite
def queries(draw: st.DrawFn) -> tuple[Space, NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]:
    """Columns of all kinds, values of pairs that may repeat, counts, and any boxes."""
    ordered = draw(st.lists(st.booleans(), min_size=1, max_size=5))
    space = Space(tuple(ordered), draw(st.booleans()))
    own = [[bit for bit in (1, 2, 4, 8) if bit & space.values(c)] for c in range(space.columns)]
    seen = draw(st.lists(st.tuples(*map(st.sampled_from, own)), max_size=20))
    counts = draw(st.lists(st.integers(0, 1 << 40), min_size=len(seen), max_size=len(seen)))
    boxes = draw(st.lists(st.tuples(*[masks] * len(ordered)), max_size=12))
    shape = (-1, len(ordered))
    return (
        space,
        np.array(seen, np.uint8).reshape(shape),
        np.array(counts, np.int64),
        np.array(boxes, np.uint8).reshape(shape),
    )


@pytest.mark.parametrize("kept", ["one by one", "lists", "tables"])
@given(given_=queries())
def test_counts_and_values(
    kept: str, given_: tuple[Space, NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8]]
) -> None:
    space, seen, counts, boxes = given_
    with pytest.MonkeyPatch.context() as patch:
        if kept != "one by one":
            patch.setattr(marginals, "_FEW", -1)
        if kept == "lists":
            patch.setattr(marginals, "_SMALL", 0)
            patch.setattr(marginals, "_DENSE", 0)
        sums, values = counts_within(seen, counts, space, boxes), values_within(seen, space, boxes)
    for box, total, bits in zip(boxes, sums, values, strict=True):
        inside = ((seen & box) != 0).all(axis=1)
        assert total == counts[inside].sum()
        assert bits.tolist() == np.bitwise_or.reduce(seen[inside], axis=0, initial=0).tolist()


def test_more_columns_than_one_number_holds() -> None:
    seen = np.full((2, 40), 2, np.uint8)
    seen[0, :20], seen[1, 20:] = 1, 4
    boxes = np.full((2, 40), 15, np.uint8)
    boxes[0, [0, 39]], boxes[1, 30] = (1, 2), 4
    space = Space((True,) * 40)
    assert values_within(seen, space, boxes).tolist() == seen.tolist()
    assert counts_within(seen, np.array([3, 4]), space, boxes).tolist() == [3, 4]
