"""Rows held back from the same file raise no alarm of rules about one row: half of each table of the field is watched
as a new user would, and the other half comes in ten batches, as it stands or shuffled.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import holdfast as hf

TABLES = ["iris", "hepatitis", "abalone", "ncvoter_1k", "hospital", "hospital_dirty", "tax_10k", "tax_10k_dirty"]
BATCHES = 10


@pytest.mark.parametrize("shuffled", [False, True], ids=["as it stands", "shuffled"])
@pytest.mark.parametrize("name", TABLES)
def test_no_row_is_an_alarm(shared_data: Path, tmp_path: Path, name: str, shuffled: bool) -> None:
    with (shared_data / f"{name}.csv").open(newline="") as file:
        heading, *rows = csv.reader(file)
    if shuffled:
        np.random.default_rng(0).shuffle(rows)
    half = len(rows) // 2

    def written(called: str, some: Sequence[list[str]]) -> str:
        path = tmp_path / f"{called}.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([heading, *some])
        return str(path)

    with hf.Monitor.create(tmp_path / "state", {name: written(name, rows[:half])}) as watch:
        for number, places in enumerate(np.array_split(np.arange(half, len(rows)), BATCHES)):
            outcome = watch.apply(inserts=written(f"batch {number}", [rows[place] for place in places]))
            assert not [rule.text for rule in outcome.alarms() if rule.text.startswith("t.")]
