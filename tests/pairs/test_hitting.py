"""Minimal hitting sets when the family changes, and where they are many; see also `tests/kernels/test_hitting.py`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.pairs import hitting
from holdfast.pairs.hitting import all_minimal_hitting_sets, mended
from tests.kernels.test_hitting import Sets, by_definition, families, matrix, plain


@pytest.mark.parametrize("always", [True, False])
@settings(max_examples=120)
@given(before=families, after=families, most=st.one_of(st.none(), st.integers(0, 4)))
def test_mended_equals_found_from_scratch(always: bool, before: Sets, after: Sets, most: int | None) -> None:
    old, new = _minimal(before), _minimal(after)
    known = all_minimal_hitting_sets(matrix(old), max_size=most)
    with pytest.MonkeyPatch.context() as patch:
        if always:
            patch.setattr(hitting, "_search_ns", lambda *_: np.inf)
            patch.setattr(hitting, "_FEW", 99)
        now = mended(known, matrix(old), matrix(old - new), matrix(new - old), max_size=most)
    assert plain(now.sets) == by_definition(after, most)
    assert plain(now.lost) == by_definition(before, most) - by_definition(after, most)
    assert plain(now.gained) == by_definition(after, most) - by_definition(before, most)


def _minimal(family: Sets) -> Sets:
    return {one for one in family if not any(other < one for other in family)}


def test_many_results_come_in_blocks_and_can_be_stopped() -> None:
    family = {frozenset([2 * i, 2 * i + 1]) for i in range(17)}
    found: list[int] = []
    assert len(all_minimal_hitting_sets(matrix(family, 1), progress=found.append)) == found[-1] == 2**17
    assert np.diff(found).max() <= 1 << 14

    def stop(found: int) -> None:
        if found > 20_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        all_minimal_hitting_sets(matrix({frozenset([2 * i, 2 * i + 1]) for i in range(32)}, 1), progress=stop)
