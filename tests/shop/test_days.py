"""Thirty days of a shop, watched as a new user would: each problem is an alarm on its day, and no other day has one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import holdfast as hf
from tests.shop.generator import Row, Shop, write
from tests.shop.problems import days


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("how", [{}, {"suggest": 20}], ids=["plain", "suggest 20"])
def test_each_problem_is_an_alarm_on_its_day(tmp_path: Path, seed: int, how: dict[str, Any]) -> None:
    shop = Shop(seed)
    tables = {name: str(write(tmp_path, name, rows)) for name, rows in shop.rows.items()}
    alarms: dict[int, list[str]] = {}
    problems: dict[int, list[str]] = {}
    repeated: set[str] = set()
    with hf.Monitor.create(tmp_path / "state", tables, **how) as watch:
        for day in days(shop, seed):
            inserts, deletes = (_files(tmp_path / part, getattr(day, part)) for part in ("inserts", "deletes"))
            outcome = watch.apply(inserts=inserts, deletes=deletes)
            if not day.problems:
                assert len(outcome.lines()) == 1, "a quiet day prints one line"
            alarms |= {day.number: [rule.text for rule in outcome.alarms()]} if outcome.broken else {}
            repeated |= {*day.problems} & {name for names in problems.values() for name in names}
            problems |= {day.number: day.problems} if day.problems else {}
    assert alarms.keys() == problems.keys(), f"alarms: {alarms}\nproblems: {problems}"
    assert len(repeated) == 5


def _files(folder: Path, tables: Mapping[str, list[Row]]) -> dict[str, str] | None:
    """Rows of tables as files; None: there are none."""
    return {name: str(write(folder, name, rows)) for name, rows in tables.items() if rows} or None
