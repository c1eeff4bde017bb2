"""Thirty days of a shop, watched as a new user would: each problem is an alarm on its day, and no other day has one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast as hf
from tests.shop.generator import Day, Shop, write
from tests.shop.problems import days


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("how", [{}, {"suggest": 20}], ids=["plain", "suggest 20"])
def test_each_problem_is_an_alarm_on_its_day(tmp_path: Path, seed: int, how: dict[str, Any]) -> None:
    shop = Shop(seed)
    tables = {name: str(write(tmp_path, name, rows)) for name, rows in shop.rows.items()}
    alarms, problems, repeated = {}, {}, set()
    with hf.Monitor.create(tmp_path / "state", tables, **how) as watch:
        for day in days(shop, seed):
            outcome = watch.apply(**_files(tmp_path / "day", day))
            alarms |= {day.number: [rule.text for rule in outcome.alarms()]} if outcome.broken else {}
            repeated |= {*day.problems} & {name for names in problems.values() for name in names}
            problems |= {day.number: day.problems} if day.problems else {}
    assert alarms.keys() == problems.keys(), f"alarms: {alarms}\nproblems: {problems}"
    assert len(repeated) == 5


def _files(folder: Path, day: Day) -> dict[str, dict[str, str]]:
    """What is inserted and deleted on a day, as files."""
    parts = {"inserts": day.inserts, "deletes": day.deletes}
    return {
        part: {name: str(write(folder / part, name, rows)) for name, rows in tables.items() if rows}
        for part, tables in parts.items()
        if any(tables.values())
    }
