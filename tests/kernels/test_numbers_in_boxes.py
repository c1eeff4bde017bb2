"""Which numbers lie in boxes, against a look at all digits of all numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.kernels.numbers_in_boxes import clear_boxed
from holdfast.pairs import bitsets

MOST = 4  # digits of a column


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[int], list[list[set[int]]]]:
    """How many digits columns have, the one with the highest digits first; and the digits that boxes allow."""
    radixes = draw(st.lists(st.integers(2, MOST), min_size=2, max_size=4))
    allowed = [st.sets(st.integers(0, radix - 1)) | st.just(set(range(radix))) for radix in radixes]
    return radixes, draw(st.lists(st.tuples(*allowed).map(list), max_size=5) | st.just([[{1}] * len(radixes)] * 70))


@settings(max_examples=60)
@given(questions(), st.integers(0, 2**32))
def test_numbers_in_boxes_are_cleared(question: tuple[list[int], list[list[set[int]]]], seed: int) -> None:
    radixes, boxes = question
    columns, words = len(radixes), bitsets.words_for(len(boxes))
    allowed = np.zeros((columns, MOST, words), np.uint64)
    certain = np.zeros((columns, words), np.uint64)
    for c, radix in enumerate(radixes):
        for digit in range(radix):
            allowed[c, digit] = bitsets.of([b for b, box in enumerate(boxes) if digit in box[c]], words)
        free = [all(len(box[d]) == radixes[d] for d in range(c + 1, columns)) for box in boxes]
        certain[c] = bitsets.of(np.flatnonzero(free).tolist(), words)
    strides = np.cumprod([1, *radixes[::-1]])[-2::-1]
    before = np.random.default_rng(seed).integers(0, 2, int(np.prod(radixes))).astype(np.uint8)
    seen = before.copy()
    clear_boxed(allowed, certain, np.array(radixes), strides, seen)
    for number, digits in enumerate(product(*map(range, radixes))):
        boxed = any(all(digit in own for digit, own in zip(digits, box, strict=True)) for box in boxes)
        assert seen[number] == (0 if boxed else before[number])
