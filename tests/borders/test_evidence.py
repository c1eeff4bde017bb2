"""Evidence against its definitions: targets that pairs break, maximal agree-sets, minimal contexts."""

from __future__ import annotations

from itertools import combinations
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holdfast.borders.evidence import Evidence, Witnesses
from holdfast.borders.targets import Targets
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words

COLUMNS = 5
TARGETS = Targets(COLUMNS, ascending_pairs=True, descending_pairs=True)
rows_of = st.lists(st.tuples(*[st.integers(0, 2)] * COLUMNS), min_size=1, max_size=7)


def _broken(one: tuple[int, ...], other: tuple[int, ...]) -> set[int]:
    sign = [(a > b) - (a < b) for a, b in zip(one, other, strict=True)]
    found = {c for c in range(COLUMNS) if sign[c]} | {TARGETS.key}
    for a, b in combinations(range(COLUMNS), 2):
        found |= {TARGETS.ascending(a, b)} if sign[a] * sign[b] < 0 else set()
        found |= {TARGETS.descending(a, b)} if sign[a] * sign[b] > 0 else set()
    return found


def _witnesses(rows: list[tuple[int, ...]]) -> Witnesses:
    pairs = list(combinations(range(len(rows)), 2))
    words = TARGETS.context_words
    sets: dict[str, list[np.ndarray]] = {"agree": [], "less": [], "more": []}
    for i, j in pairs:
        for name, holds in (("agree", int.__eq__), ("less", int.__lt__), ("more", int.__gt__)):
            sets[name].append(bitsets.of([c for c in range(COLUMNS) if holds(rows[i][c], rows[j][c])], words))
    agree, less, more = (np.array(sets[name], np.uint64).reshape(-1, words) for name in ("agree", "less", "more"))
    return Witnesses(np.array(pairs, np.int64).reshape(-1, 2), agree, TARGETS.broken_by(agree, less, more))


def _family(evidence: Evidence, target: int) -> Words:
    """The maximal agree-sets of the pairs that break a target."""
    return evidence.sets[bitsets.has(evidence.bits, target)]


def test_numbers_of_targets() -> None:
    numbers = [*range(COLUMNS + 1)]
    for number in (TARGETS.ascending, TARGETS.descending):
        for a, b in combinations(range(COLUMNS), 2):
            numbers.append(number(a, b))
            assert number(a, b) == number(b, a)
            assert TARGETS.columns_of[number(a, b)] == (a, b)
            assert TARGETS.is_descending(number(a, b)) == (number == TARGETS.descending)
    assert numbers == list(range(TARGETS.count)) == TARGETS.wanted()


@given(rows_of)
def test_targets_that_pairs_break(rows: list[tuple[int, ...]]) -> None:
    found = _witnesses(rows)
    for (i, j), broken in zip(found.rows, found.broken, strict=True):
        assert set(bitsets.elements(broken)) == _broken(rows[i], rows[j])


@given(rows_of, st.sampled_from([None, None, 0, 1, 2]))
def test_borders_are_what_the_definition_says(rows: list[tuple[int, ...]], most: int | None) -> None:
    pairs = _witnesses(rows)
    agree = [frozenset(bitsets.elements(each)) for each in pairs.agree]
    breaks = [set(bitsets.elements(each)) for each in pairs.broken]
    evidence = Evidence.of(TARGETS, pairs)
    covers = evidence.covers(TARGETS.wanted(), most)
    for target in TARGETS.wanted():
        against = {s for s, broken in zip(agree, breaks, strict=True) if target in broken}
        assert {frozenset(bitsets.elements(s)) for s in _family(evidence, target)} == {
            s for s in against if not any(s < other for other in against)
        }
        free = [c for c in range(COLUMNS) if c not in TARGETS.columns_of[target]]
        left = [
            frozenset(some)
            for size in range(len(free) + 1)
            for some in combinations(free, size)
            if not any(set(some) <= s for s in against)
        ]
        assert {frozenset(bitsets.elements(s)) for s in covers[target]} == {
            s for s in left if not any(other < s for other in left) and (most is None or len(s) <= most)
        }


def test_contexts_without_columns_take_no_search() -> None:
    """On 500 columns a search for each of a quarter of a million targets took a minute and a half."""
    evidence = Evidence.of(TARGETS, _witnesses([(0, 0, 1, 1, 0), (1, 0, 0, 1, 2)]))
    with patch("holdfast.borders.evidence.all_minimal_hitting_sets", side_effect=AssertionError):
        covers = evidence.covers(TARGETS.wanted(), 0)
        unbroken = [target for target in TARGETS.wanted() if not bitsets.has(evidence.bits, target).any()]
        assert unbroken == [target for target, own in covers.items() if len(own)]
        assert unbroken == [target for target, own in evidence.covers(unbroken).items() if len(own)]


@given(rows_of)
def test_every_set_has_a_witness_for_each_of_its_targets(rows: list[tuple[int, ...]]) -> None:
    evidence = Evidence.of(TARGETS, _witnesses(rows))
    for own, bits in zip(evidence.sets, evidence.bits, strict=True):
        same = (evidence.witnesses.agree == own).all(axis=1)
        shown = np.bitwise_or.reduce(evidence.witnesses.broken[same], axis=0)
        assert not (bits & ~shown).any()


@given(rows_of, rows_of)
def test_evidence_grows(some: list[tuple[int, ...]], more: list[tuple[int, ...]]) -> None:
    first, second = _witnesses(some), _witnesses(more)
    grown = Evidence.of(TARGETS, first).with_more(second)
    whole = Evidence.of(TARGETS, Witnesses.joined([first, second]))
    changed = grown.changed_since(Evidence.of(TARGETS, first))
    for target in TARGETS.wanted():
        assert set(map(bytes, _family(grown, target))) == set(map(bytes, _family(whole, target)))
        before = set(map(bytes, _family(Evidence.of(TARGETS, first), target)))
        assert (target in changed) == (before != set(map(bytes, _family(grown, target))))
