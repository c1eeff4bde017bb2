"""Numbers of signatures, and those of their mirrors."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holdfast.pairs.signature_numbers import Numbering
from holdfast.pairs.signatures import ORDERED, both_ways, ordered_but
from tests.kernels.test_tally import signatures


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=12))
def test_numbers_and_their_mirrors(columns: list[tuple[bool, bool]]) -> None:
    alone = [c for c, (equal_only, _) in enumerate(columns) if equal_only]
    numbering = Numbering.of(len(columns), ordered_but(alone), [unknown for _, unknown in columns])
    numbers = np.unique(np.random.default_rng(0).integers(0, numbering.size, 50))
    counts = np.zeros(numbering.size, np.int32)
    counts[numbers] = 1 + np.arange(len(numbers))
    seen, back = numbering.signed(counts), numbering.signed(numbering.mirrored(counts))
    assert signatures(both_ways([seen], ORDERED)[1], len(columns)) == signatures(back, len(columns))
    assert len(np.unique(seen[0], axis=0)) == len(numbers)
