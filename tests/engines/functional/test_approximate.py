"""Approximate rules from counted agree-sets: both searches, against trying every left side."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.engines.found import witnesses
from holdfast.engines.functional import approximate
from holdfast.engines.functional.approximate import derive_approximate
from holdfast.pairs import bitsets
from tests.engines.functional.test_engine import test_every_batch_by_definition as every_batch

COLUMNS = 5
counted = st.dictionaries(st.frozensets(st.integers(0, COLUMNS - 1)), st.integers(1, 9), max_size=10)


def by_definition(family: dict[frozenset[int], int], target: int, limit: int) -> dict[tuple[int, ...], int]:
    found: dict[tuple[int, ...], int] = {}
    others = [c for c in range(COLUMNS) if c != target]
    for size in range(len(others) + 1):
        for lhs in combinations(others, size):
            broken = sum(n for agree, n in family.items() if agree.issuperset(lhs) and target not in agree)
            if broken <= limit and not any(set(less) <= set(lhs) for less in found):
                found[lhs] = broken
    return found


@pytest.mark.parametrize("narrow", [17, 0])
@settings(max_examples=80)
@given(family=counted, limit=st.integers(0, 20), most=st.one_of(st.none(), st.integers(0, 3)))
def test_both_ways_by_definition(narrow: int, family: dict[frozenset[int], int], limit: int, most: int | None) -> None:
    sets = np.array([bitsets.of(one, 1) for one in family], np.uint64).reshape(-1, 1)
    counts = np.array(list(family.values()), np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(approximate, "NARROW", narrow)
        parts = derive_approximate(sets, counts, COLUMNS, range(COLUMNS + 1), limit, most)
    for target, part in parts.items():
        assert part.broken is not None
        found = {tuple(bitsets.elements(lhs)): int(n) for lhs, n in zip(part.sets, part.broken, strict=True)}
        expected = by_definition(family, target, limit)
        assert found == {lhs: n for lhs, n in expected.items() if most is None or len(lhs) <= most}
        assert len(found) == len(part)


def test_batches_where_witnesses_are_searched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witnesses, "_TRIED", 0)
    monkeypatch.setattr(approximate, "NARROW", 0)
    every_batch()
