"""Maximal agree-sets and the first pair that breaks a rule, against a look at all."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holdfast.kernels import evidence
from holdfast.pairs import bitsets

COLUMNS = 70  # more than a word has bits
columns = st.frozensets(st.sampled_from([0, 1, 2, 63, 64, 69]))
targets = st.frozensets(st.integers(0, 3))
pairs = st.dictionaries(columns, targets, max_size=12)


@given(pairs)
def test_each_target_is_left_to_the_maximal_sets_that_break_it(broken: dict[frozenset[int], frozenset[int]]) -> None:
    order = sorted(broken, key=len, reverse=True)
    sets = np.array([bitsets.of(own, 2) for own in order], np.uint64).reshape(-1, 2)
    bits = np.array([bitsets.of(broken[own], 1) for own in order], np.uint64).reshape(-1, 1)
    stay = evidence.sift(sets, bits, COLUMNS, np.empty((COLUMNS + 1, 1), np.uint64))
    found = {
        frozenset(bitsets.elements(own)): set(bitsets.elements(left))
        for own, left in zip(sets[:stay], bits, strict=False)
    }
    expected = {own: {t for t in broken[own] if not any(own < o and t in broken[o] for o in broken)} for own in broken}
    assert found == {own: left for own, left in expected.items() if left}


@given(st.lists(st.tuples(columns, st.integers(0, 3)), max_size=6), st.lists(st.tuples(columns, targets), max_size=6))
def test_the_first_pair_that_breaks_a_rule(
    rules: list[tuple[frozenset[int], int]], shown: list[tuple[frozenset[int], frozenset[int]]]
) -> None:
    contexts = np.array([bitsets.of(context, 2) for context, _ in rules], np.uint64).reshape(-1, 2)
    agree = np.array([bitsets.of(own, 2) for own, _ in shown], np.uint64).reshape(-1, 2)
    broken = np.array([bitsets.of(own, 1) for _, own in shown], np.uint64).reshape(-1, 1)
    places = np.empty(len(rules), np.int64)
    evidence.first_breaking(contexts, np.array([target for _, target in rules], np.int64), agree, broken, places)
    assert places.tolist() == [
        next((j for j, (own, breaks) in enumerate(shown) if context <= own and target in breaks), -1)
        for context, target in rules
    ]
