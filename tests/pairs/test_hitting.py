"""Minimal hitting sets and maximal sets against their definitions, on tiny families."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from holdfast.pairs import bitsets, hitting
from holdfast.pairs.blocks import Blocks
from holdfast.pairs.hitting import all_minimal_hitting_sets, mended
from holdfast.pairs.maximal import Maximal, Shift

Sets = set[frozenset[int]]
# Elements on both sides of a word's end, so that sets of one and of two words are tried.
elements = st.sampled_from([0, 1, 2, 5, 62, 63, 64, 70])
families = st.sets(st.frozensets(elements, max_size=6), max_size=9)


def matrix(family: Sets, words: int = 2) -> NDArray[np.uint64]:
    rows = [bitsets.of(one, words) for one in sorted(family, key=sorted)]
    return np.array(rows, np.uint64).reshape(-1, words)


def plain(rows: NDArray[np.uint64]) -> Sets:
    listed = [frozenset(bitsets.elements(row)) for row in rows]
    assert len(listed) == len(set(listed)), "no result comes twice"
    return set(listed)


def by_definition(family: Sets, most: int | None = None) -> Sets:
    """All sets of elements that meet every edge, the smallest first; those that contain none found before."""
    known = sorted(frozenset().union(*family))
    found: list[frozenset[int]] = []
    for size in range(len(known) + 1 if most is None else most + 1):
        for chosen in map(frozenset, combinations(known, size)):
            if all(chosen & edge for edge in family) and not any(less <= chosen for less in found):
                found.append(chosen)
    return set(found)


@given(families)
def test_all_are_found(family: Sets) -> None:
    assert plain(all_minimal_hitting_sets(matrix(family))) == by_definition(family)


@given(families, st.integers(0, 4))
def test_a_bound_on_their_size(family: Sets, most: int) -> None:
    assert plain(all_minimal_hitting_sets(matrix(family), max_size=most)) == by_definition(family, most)


@given(families, st.frozensets(elements))
def test_within_some_elements(family: Sets, allowed: frozenset[int]) -> None:
    inside = all_minimal_hitting_sets(matrix(family), within=bitsets.of(allowed, 2))
    assert plain(inside) == {one for one in by_definition(family) if one <= allowed}


def test_nothing_to_hit_and_nothing_that_hits() -> None:
    assert plain(all_minimal_hitting_sets(matrix(set()))) == {frozenset()}
    assert plain(all_minimal_hitting_sets(matrix({frozenset()}))) == set()


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


def test_five_hundred_elements() -> None:
    family = {frozenset([0, 511]), frozenset([1, 300, 511]), frozenset([77])}
    expected = {frozenset([77, 511]), frozenset([0, 1, 77]), frozenset([0, 77, 300])}
    assert plain(all_minimal_hitting_sets(matrix(family, 8))) == expected


def test_blocks_move_to_a_file_when_they_are_many() -> None:
    rows = np.arange(60, dtype=np.uint64).reshape(-1, 2)
    gathered = Blocks(2, in_memory=100)
    for begin in range(0, 30, 7):
        gathered.add(rows[begin : begin + 7])
    again = gathered.rows()
    assert isinstance(again.base, np.memmap)
    assert np.array_equal(again, rows)


@given(families, families)
def test_places_containers_and_elements(some: Sets, others: Sets) -> None:
    mine, theirs = matrix(some), matrix(others)
    assert bitsets.elements_of_each(mine) == [bitsets.elements(one) for one in mine]
    places, above = bitsets.places_among(mine, theirs), bitsets.containers(mine, theirs)
    for one, place, container in zip(mine, places, above, strict=True):
        assert (place >= 0) == (frozenset(bitsets.elements(one)) in others)
        assert place < 0 or np.array_equal(theirs[place], one)
        assert (container >= 0) == any(set(bitsets.elements(one)) <= other for other in others)
        assert container < 0 or not (one & ~theirs[container]).any()


# ---- maximal sets ---------------------------------------------------------------------------------------------------

COLUMNS = 71


def maximal_by_definition(family: Sets, target: int) -> Sets:
    lacking = {one for one in family if target not in one}
    return {one for one in lacking if not any(one < other for other in lacking)}


@given(families)
def test_maximal_sets_of_every_target(family: Sets) -> None:
    made = Maximal.of(matrix(family), COLUMNS)
    for target in [0, 1, 5, 63, 64, 70, made.key]:
        assert plain(made.family(target)) == maximal_by_definition(family, target)


@settings(max_examples=120)
@given(st.lists(families, min_size=2, max_size=4), st.booleans())
def test_maximal_sets_follow_the_family(steps: list[Sets], always_mended: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if always_mended:
            patch.setattr("holdfast.pairs.maximal._START_AGAIN", 1e9)
            patch.setattr("holdfast.pairs.maximal._AT_ONCE", 1)
        made, old = Maximal.of(matrix(steps[0]), COLUMNS), steps[0]
        for new in steps[1:]:
            changed, shift = made.changed(matrix(new - old), matrix(old - new), lambda new=new: matrix(new))  # type: ignore[misc]
            _same(changed, Maximal.of(matrix(new), COLUMNS))
            _leads(shift, made, changed)
            made, old = changed, new


def _same(one: Maximal, other: Maximal) -> None:
    described = [dict(zip(map(bytes, m.sets), map(bytes, m.targets), strict=True)) for m in (one, other)]
    assert described[0] == described[1]


def _leads(shift: Shift, old: Maximal, new: Maximal) -> None:
    for target in range(COLUMNS + 1):
        before, after = plain(old.family(target)), plain(new.family(target))
        gone, come = map(plain, shift.of(target))
        assert (gone, come) == (before - after, after - before)
        assert (target in shift.targets()) == (before != after)


def test_maximal_sets_tell_how_far_they_are_and_can_be_ended() -> None:
    """Kernels hear no Ctrl-C: so each call of one looks at some sets only."""
    family = matrix({frozenset(some) for some in combinations(range(12), 4)})
    seen: list[tuple[int, int]] = []

    def say(done: int, every: int) -> None:
        seen.append((done, every))
        if done >= 200:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("holdfast.pairs.maximal._AT_ONCE", 100)
        with pytest.raises(KeyboardInterrupt):
            Maximal.of(family, COLUMNS, say)
    assert seen == [(100, 495), (200, 495)]
