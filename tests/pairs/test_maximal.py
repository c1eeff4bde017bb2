"""Maximal sets of every target against their definition, found and followed, on tiny families."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.pairs.maximal import Maximal, Shift
from tests.kernels.test_hitting import Sets, families, matrix, plain

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
