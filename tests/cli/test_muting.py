"""Muted rules at the command line."""

from __future__ import annotations

from pathlib import Path

import holdfast as hf
from tests.api.test_muting import FIRST, RULE, batches, rows
from tests.cli.running import Holdfast


def test_status_lists_muted_rules_and_one_command_has_them_speak_again(holdfast: Holdfast, tmp_path: Path) -> None:
    state = tmp_path / "state"
    with hf.Monitor.create(state, {"t": rows(0, FIRST, 0.03)}) as watch:
        for batch in batches(0.3):
            watch.apply(inserts=batch)
    assert f"muted, as chance breaks it: shop-town (rules {state} unmute RULE)" in holdfast("status", state).err
    assert "# muted: shop-town" in holdfast("rules", state).out
    assert "no longer muted" in holdfast("rules", state, "unmute", RULE).out
    assert "muted" not in holdfast("status", state).err
    again = holdfast("rules", state, "unmute", RULE)
    assert (again.code, "no rule is muted" in again.err) == (2, True)
