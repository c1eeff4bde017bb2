"""The alarm budget on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import Holdfast

STATES = ["new", "sent", "done"]


def test_the_command_line_takes_a_budget(tmp_path: Path, holdfast: Holdfast) -> None:
    path = tmp_path / "orders.csv"
    rows = [f"O-{number:06d},{STATES[number % 3]}\n" for number in range(900)]
    path.write_text("".join(["id,state\n", *rows]))
    lines = holdfast("suggest", path, "--alarm-budget", "0", "--format", "json").objects
    assert "error" not in {line.get("severity") for line in lines if "expected_breaks" in line}
    state = tmp_path / "state"
    assert holdfast("init", state, path, "--alarm-budget", "0").code == 0
    assert holdfast("rules", state, "budget", "0.1").code == 0
    shown = holdfast("rules", state, "show", "--format", "json").of_kind("rule")
    severities = {line["text"]: line["severity"] for line in shown}
    assert severities["t.id matches 'O-[0-9]{6}'"] == "error"
    assert holdfast("rules", state, "budget", "-1").code == 2
    assert holdfast("init", tmp_path / "other", path, "--alarm-budget", "many").code == 2
