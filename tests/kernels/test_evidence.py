"""Maximal agree-sets and the first pair that breaks a rule, against a look at all."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
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


@pytest.mark.parametrize("columns", [1, 2, 5, 64, 66])
@pytest.mark.parametrize(("ascending", "descending"), [(False, False), (True, False), (True, True)])
def test_the_targets_that_pairs_break(columns: int, ascending: bool, descending: bool) -> None:
    """Constants, the key, and for each two columns the order in which both rise, and that in which one falls."""
    signs, words = np.random.default_rng(columns).choice([*"<=>?"], (3, columns)), bitsets.words_for(columns)
    agree, less, more = (bitsets.packed(signs == sign, words) for sign in "=<>")
    broken = np.zeros((3, bitsets.words_for(columns**2 + 1)), np.uint64)
    evidence.fill_broken(agree, less, more, columns, ascending, descending, broken)
    pairs = list(combinations(range(columns), 2))
    for own, found in zip(signs.tolist(), broken, strict=True):
        expected = {columns} | {c for c, sign in enumerate(own) if sign != "="}
        for place, (a, b) in enumerate(pairs, columns + 1):
            both = own[a] + own[b]
            expected |= {place} if ascending and both in ("<>", "><") else set()
            expected |= {place + len(pairs)} if descending and both in ("<<", ">>") else set()
        assert set(bitsets.elements(found)) == expected


shown = st.tuples(st.integers(-1, 2), targets, st.lists(st.integers(0, 5), min_size=2, max_size=2, unique=True))


@given(st.lists(shown, max_size=15), st.lists(targets, min_size=3, max_size=3))
def test_witnesses_are_gathered_and_chosen(
    pairs: list[tuple[int, frozenset[int], list[int]]], wanted: list[frozenset[int]]
) -> None:
    numbers, rows = np.array([own for own, _, _ in pairs], np.int64), np.array([ends for _, _, ends in pairs], np.int64)
    broken, bits = (
        bitsets.of_integers([sum(1 << t for t in own) for own in each], 1)
        for each in ([breaks for _, breaks, _ in pairs], wanted)
    )
    gathered, known = np.zeros((3, 1), np.uint64), numbers >= 0
    evidence.gather(numbers[known], broken[known], gathered)
    for number, own in enumerate(gathered):
        assert set(bitsets.elements(own)) == frozenset().union(*(b for n, b, _ in pairs if n == number))
    first, after = np.full(3, -1), np.empty(len(pairs), np.int64)
    counted = np.zeros((evidence.SPARE, 3, 1), np.uint64)
    evidence.choose(numbers, broken, bits, rows.reshape(-1, 2), counted, first, after)
    assert (after > -2).tolist() == chosen(pairs, wanted)
    for number in range(3):
        kept, at = (
            [place for place, (own, _, _) in enumerate(pairs) if own == number and after[place] > -2],
            first[number],
        )
        for place in reversed(kept):
            assert at == place
            at = after[at]
        assert at == -1


def chosen(pairs: list[tuple[int, frozenset[int], list[int]]], wanted: list[frozenset[int]]) -> list[bool]:
    """Pairs in turn: those that show what none shows yet, or share no row with others and show what few do."""
    marks, kept = list[bool](), list[tuple[int, frozenset[int], list[int]]]()
    for number, breaks, ends in pairs:
        before = [(use, rows) for own, use, rows in kept if own == number]
        counts = [sum(target in use for use, _ in before) for target in breaks & wanted[number]] if number >= 0 else []
        shared = max((len({*ends} & {*rows}) for _, rows in before), default=0)
        marks.append(
            min(counts, default=evidence.SPARE) < evidence.SPARE and shared < 2 and not (min(counts) and shared)
        )
        if marks[-1]:
            kept.append((number, breaks & wanted[number], ends))
    return marks
