"""How often left sides come back, against a plain count."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

import holdfast as hf
from holdfast.engines.functional.group_counts import CodedRows
from holdfast.engines.functional.left_sides import tests_apart as found_apart
from tests.laws.world import Batch, World

values = st.sampled_from([None, 0, 1, 2, 5])


def apart(left: list[int | None]) -> int:
    """By the definition."""
    named = [each for each in left if each is not None]
    firsts = [each for at, each in enumerate(left) if each is not None and each not in left[:at]]
    shared = [each for each in firsts if named.count(each) > 1]
    back = sum(each is not None and each in left[:at] and left[at - 1] != each for at, each in enumerate(left))
    is_sorted = shared in (sorted(shared), sorted(shared, reverse=True))
    return sum(named.count(each) for each in shared) if back < len(shared) and is_sorted else back


@given(left=st.lists(values, max_size=12))
@example(left=[0, 0, 1, 1, 0])
@example(left=[5, 5, 2, 2, 0, 0])
@example(left=[5, 5, 0, 0, 2, 2])
def test_left_sides_that_come_back(left: list[int | None]) -> None:
    world = World()
    world.change(Batch([(each, "a", 0.0, True, 1) for each in left]))
    coded = CodedRows(world.table)
    assert found_apart(coded, coded.side((0,))) == apart(left)


def test_what_one_flight_repeats_is_no_test() -> None:
    """Each flight comes every day, at its own time."""
    days, times = range(80), [1700, 900, 1230, 815, 2200, 640]
    by_flight = [time for time in times for _ in days]
    by_day = [time for _ in days for time in times]
    assert [_severity(rows) for rows in (by_flight, sorted(by_flight), by_day)] == ["warn", "error", "error"]


def _severity(times: list[int]) -> str:
    rows = pa.table({"time": times, "block": [time // 100 for time in times]})
    return next(each.severity for each in hf.suggest(rows, "fd").ranked if each.text == "time -> block")
