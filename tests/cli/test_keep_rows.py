"""How long rows that broke rules are kept: at the start, and later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import holdfast as hf
from tests.api.clock import Clock
from tests.api.test_keep_rows import SECRETS, made
from tests.cli.running import Holdfast, refused


def test_the_time_can_be_set_later(tmp_path: Path, holdfast: Holdfast, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, None).close()
    Clock(monkeypatch).days = 31
    ran = holdfast("vacuum", tmp_path / "state", "--keep-rows", "30d", "--keep-events")
    assert (ran.code, "expired" in ran.out) == (0, True), ran.err
    assert holdfast("vacuum", tmp_path / "state", "--keep-rows", "always").code == 0
    refused(holdfast("vacuum", tmp_path / "state", "--keep-rows", "x"), "'x' is no duration")
    with hf.View.open(tmp_path / "state") as view:
        assert not any(secret in json.dumps(view.document()) for secret in SECRETS)


def test_init_takes_it_and_refuses_what_is_no_time(tmp_path: Path, holdfast: Holdfast) -> None:
    (tmp_path / "a.csv").write_text("id,zip\n1,2\n")
    refused(holdfast("init", tmp_path / "s", tmp_path / "a.csv", "--keep-rows", "30"), "'30' is no duration")
    assert not (tmp_path / "s").exists()
    assert holdfast("init", tmp_path / "s", tmp_path / "a.csv", "--keep-rows", "30d").code == 0
