"""`verify` and `backup` on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import Holdfast, Picture, refused


def test_verify(holdfast: Holdfast, state: Path) -> None:
    ran = holdfast("verify", state)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{state}: 4 files, ")
    assert ran.out.endswith("\nall is well\n")
    (found,) = holdfast("verify", state, "--deep", "--format", "json").objects
    assert (found["kind"], found["files"], found["problems"]) == ("verify", 4, [])
    assert found["compared"] == ["column facts of people: 4"]


def test_verify_shows_what_is_damaged(holdfast: Holdfast, state: Path) -> None:
    path = min((state / "segments").iterdir())
    path.write_bytes(path.read_bytes()[:-8])
    ran = holdfast("verify", state)
    assert ran.code == 2
    assert ran.out.splitlines()[1].startswith(f"{path}: damaged (")
    result = holdfast("verify", state, "--format", "json")
    assert (result.code, len(result.objects[0]["problems"])) == (2, 1)
    refused(holdfast("verify", state.parent), "not a Holdfast state")


def test_backup(holdfast: Holdfast, state: Path, people: Path, tmp_path: Path) -> None:
    ran = holdfast("backup", state, tmp_path / "one")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{tmp_path}/one: 4 files, ")
    assert ran.out.endswith(f"as of batch 1 of {state}\n")
    before = Picture.of(state)
    assert Picture.of(tmp_path / "one") == before
    assert holdfast("apply", tmp_path / "one", "--delete", people).code == 0
    assert Picture.of(state) == before
    refused(holdfast("backup", state, tmp_path / "one"), "one: already there", "give a new folder")
    (found,) = holdfast("backup", state, tmp_path / "two", "--format", "json").objects
    assert (found["kind"], found["files"], found["batch"]) == ("backup", 4, 1)
