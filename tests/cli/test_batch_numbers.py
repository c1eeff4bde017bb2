"""The command line calls batches 1, 2, 3, …, whatever changes of rules and columns come between."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.api.test_batch_numbers import make
from tests.cli.running import Holdfast, write


@pytest.fixture
def state(tmp_path: Path) -> Path:
    make(tmp_path / "s")
    return tmp_path / "s"


def test_apply_and_history(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    more = write(tmp_path / "more.csv", ["id,zip,town", "7,01067,Dresden"])
    assert holdfast("apply", state, "--insert", more).out.startswith("Batch 4: 1 row.")
    cells = [line.split("│")[1].strip() for line in holdfast("history", state).out.splitlines() if line[:1] == "│"]
    assert cells == ["batch", "–", "1", "–", "2", "–", "3", "–", "4"]
    lines = [json.loads(line) for line in holdfast("history", state, "--format", "json").out.splitlines()]
    assert [(each["seq"], each["batch"]) for each in lines] == list(
        zip(range(1, 9), [0, 1, 1, 2, 2, 3, 3, 4], strict=True)
    )
    assert "batch 3" in holdfast("history", state, "--rules").out, "since when the key is given"


def test_status_explain_and_agree(holdfast: Holdfast, state: Path) -> None:
    assert "last batch: 3 at " in holdfast("status", state).err
    assert "broke with batch 2 because of" in holdfast("explain", state, "zip -> town").out
    assert holdfast("agree", state, "--batch", 3).out.startswith("towns, batch 3: ")
    refused = holdfast("agree", state, "--batch", 4)
    assert (refused.code, "the last is 3" in refused.err) == (2, True)
