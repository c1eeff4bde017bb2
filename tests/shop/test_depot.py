"""Days of a depot, watched as a new user would: wrong rows are alarms on their day, and no other day has one."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest

import holdfast as hf
from tests.shop.depot import DAYS, PROBLEMS, Depot, Row

SEEN = 0.9  # of the problems


def _table(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist(rows)


def _days(folder: Path, seed: int) -> tuple[set[str], list[str]]:
    """The problems that were alarms on their day, and alarms of other days."""
    depot, choose = Depot(seed), random.Random(seed)
    planted = dict(zip(choose.sample(range(DAYS), len(PROBLEMS)), PROBLEMS, strict=True))
    seen, quiet = set(), []
    with hf.Monitor.create(folder / "state", {"shipments": _table(depot.first)}) as watch:
        schema = _table(depot.first).schema
        for number in range(DAYS):
            if number == DAYS // 2:
                depot.carriers.append("west")
            rows = depot.day(60 + number)
            if number in planted:
                PROBLEMS[planted[number]](choose.choice(rows))
            outcome = watch.apply(inserts=pa.Table.from_pylist(rows, schema=schema))
            alarms = [rule.text for rule in outcome.alarms()]
            if number in planted:
                seen |= {planted[number]} if alarms else set()
            else:
                quiet += alarms
                assert len(outcome.lines()) == 1, "a quiet day prints one line"
    return seen, quiet


@pytest.mark.parametrize("seed", range(5))
def test_wrong_rows_are_alarms_on_their_day(tmp_path: Path, seed: int) -> None:
    seen, quiet = _days(tmp_path, seed)
    assert not quiet
    assert len(seen) >= SEEN * len(PROBLEMS), f"not seen: {PROBLEMS.keys() - seen}"
