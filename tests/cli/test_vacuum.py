"""`holdfast vacuum`: deleted values go for good, and it says what it did."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Holdfast, names_in, refused, untouched, write


@pytest.fixture
def deleted(state: Path, tmp_path: Path, holdfast: Holdfast) -> Path:
    """The state after one of its rows was deleted."""
    assert holdfast("apply", state, "--delete", write(tmp_path / "gone.csv", ["id", "4"])).code == 0
    return state


def holding(state: Path, text: bytes) -> list[str]:
    return [each.name for each in state.rglob("*") if each.is_file() and text in each.read_bytes()]


def test_it_says_what_it_did(deleted: Path, holdfast: Holdfast) -> None:
    names, facts = names_in(deleted), holdfast("status", deleted, "--format", "json").out
    ran = holdfast("vacuum", deleted)
    assert ran.code == 0
    assert ran.out.startswith(f"{deleted}: ")
    assert "4 unused values dropped\n" in ran.out
    assert (names_in(deleted), holdfast("status", deleted, "--format", "json").out) == (names, facts)
    assert holding(deleted, b"Di") == []
    assert holding(deleted, b"Bob")
    after = sum(each.stat().st_size for each in deleted.rglob("*") if each.is_file())
    done = holdfast("vacuum", deleted, "--format", "json").objects
    assert done == [
        {"kind": "vacuum", "bytes_before": after, "bytes_after": after, "values": 0, "events": 0, "expired": 0}
    ]


def test_a_state_that_is_being_written_waits(deleted: Path, holdfast: Holdfast) -> None:
    import holdfast as hf

    with hf.Monitor.open(deleted), untouched(deleted):
        refused(holdfast("vacuum", deleted), "is writing the state")


def test_what_is_no_state_is_refused(tmp_path: Path, holdfast: Holdfast) -> None:
    refused(holdfast("vacuum", tmp_path), "not a Holdfast state")
