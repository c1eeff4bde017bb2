"""Moving bad files aside: the reason first, and one place in the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.intake.quarantine import move_aside
from tests.intake.building import file_of

SHARED = Path("/dev/shm")


def test_a_file_and_its_reason(tmp_path: Path) -> None:
    aside = tmp_path / "far" / "aside"
    moved = move_aside(file_of(tmp_path, "a.csv.gz", "one"), aside, "it is bad")
    assert moved == aside / "a.csv.gz"
    assert (aside / "a.csv.gz.reason").read_text() == f"{tmp_path / 'a.csv.gz'}\nit is bad\n"
    assert move_aside(file_of(tmp_path, "a.csv.gz", "two"), aside, "bad, too") == aside / "a-2.csv.gz"
    again = move_aside(file_of(tmp_path, "a.csv.gz", "one"), aside, "it is bad")
    assert again == aside / "a.csv.gz", "what a crash left in both places goes where it was going"
    assert sorted(path.name for path in aside.iterdir()) == [
        "a-2.csv.gz",
        "a-2.csv.gz.reason",
        "a.csv.gz",
        "a.csv.gz.reason",
    ]
    assert not (tmp_path / "a.csv.gz").exists()


def test_files_that_are_elsewhere_or_gone_leave_their_reason(tmp_path: Path) -> None:
    for path in ("s3://bucket/in/a.csv", str(tmp_path / "gone.csv")):
        assert move_aside(path, tmp_path / "aside", "it is bad") is None
        assert path in (tmp_path / "aside" / f"{Path(path).name}.reason").read_text()


@pytest.mark.skipif(not SHARED.is_dir(), reason="there is no second file system")
def test_a_folder_on_another_disk(tmp_path: Path) -> None:
    if SHARED.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system")
    source = SHARED / f"{tmp_path.name}.csv"
    source.write_text("one")
    assert move_aside(str(source), tmp_path / "aside", "it is bad") == tmp_path / "aside" / source.name
    assert (tmp_path / "aside" / source.name).read_text() == "one"
    assert not source.exists()
