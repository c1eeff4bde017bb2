"""Cutting a first load into past batches: by the column that says when rows came, or not at all."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.errors import BadInput
from holdfast.expectations.cutting import cut_of, rows_by_day
from tests.expectations.tables import encoded

FIRST = datetime.date(2024, 1, 1)


def _dates(days: Any) -> pa.Array:
    return pa.array([None if day is None else FIRST + datetime.timedelta(days=int(day)) for day in days], pa.date32())


def _came(days: int, a_day: int = 10) -> Any:
    return np.repeat(np.arange(days), a_day)


def test_the_column_by_which_rows_came(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    came = _came(60)
    born = random.integers(-20_000, -5_000, len(came))
    changed = came + random.integers(0, 9, len(came))
    table = encoded(tmp_path, {"born": _dates(born), "changed": _dates(changed), "came": _dates(came)})
    cut = cut_of(table)
    assert cut is not None
    assert cut.column == "came"
    assert cut.days.tolist() == list(range(19_723 + 18, 19_723 + 59)), "the last six weeks, but for the last day"
    by_day = dict(rows_by_day(cut))
    assert list(by_day) == cut.days.tolist()
    assert all(came[rows].tolist() == [day - 19_723] * 10 for day, rows in by_day.items())


@pytest.mark.parametrize("order", ["rising", "falling", "timestamps", "weekdays", "a few nulls"])
def test_rows_that_came_in_many_ways(tmp_path: Path, order: str) -> None:
    came = [day for day in _came(60) if order != "weekdays" or day % 7 < 5]
    values: Any = _dates(came[::-1] if order == "falling" else came)
    if order == "timestamps":
        values = pa.array([datetime.datetime(2024, 1, 1, 8) + datetime.timedelta(days=int(day)) for day in came])
    if order == "a few nulls":
        values = _dates([None if place % 50 == 0 else day for place, day in enumerate(came)])
    cut = cut_of(encoded(tmp_path, {"came": values}))
    assert cut is not None
    assert len(cut.days) == (29 if order == "weekdays" else 41)


@pytest.mark.parametrize(
    "days",
    [_came(9), np.random.default_rng(1).permutation(_came(60)), np.arange(0, 6_000, 100), [None] * 400 + [1] * 4, []],
    ids=["few days", "no order", "few days have rows", "nulls", "no rows"],
)
def test_what_says_nothing_of_when_rows_came(tmp_path: Path, days: Any) -> None:
    assert cut_of(encoded(tmp_path, {"day": _dates(days), "n": range(len(days))})) is None


def test_incomplete_last_days_are_left_out(tmp_path: Path) -> None:
    came = np.concatenate([_came(30), np.repeat([30, 31, 32], [4, 2, 1])])
    cut = cut_of(encoded(tmp_path, {"day": _dates(came)}))
    assert cut is not None
    assert cut.days[-1] - 19_723 == 29
    assert cut.days[0] - 19_723 == 1


def test_a_column_that_is_named(tmp_path: Path) -> None:
    came = np.random.default_rng(2).permutation(_came(60))
    table = encoded(tmp_path, {"day": _dates(came), "n": range(len(came))})
    cut = cut_of(table, "day")
    assert cut is not None
    assert len(cut.days) == 41
    for wrong in ("n", "dy"):
        with pytest.raises(BadInput, match=f"table t: '{wrong}' is no column of dates or timestamps; .*day"):
            cut_of(table, wrong)
