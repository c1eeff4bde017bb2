"""Upserts, rows that are set aside, and files that a watch moves aside: as people see them, and under `kill -9`."""

from __future__ import annotations

import os
import re
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

import holdfast as hf
from tests.cli.applier import Applier
from tests.cli.running import HEADER, Holdfast, names_in, refused, write

GOOD, BAD = "8,Eve,0.5,2024-02-01", "9,Flo,much,2024-02-01"


def test_upserts(holdfast: Holdfast, state: Path, people: Path, tmp_path: Path) -> None:
    new = write(tmp_path / "new.csv", [HEADER, "1,Anna,1.5,2024-01-01", GOOD, "3,Cy,2.5,2024-01-02"])
    result = holdfast("apply", state, "--upsert", new, "--delete", write(tmp_path / "old.csv", ["id", "2"]))
    assert result.code == 0, result.err
    assert "2 rows inserted, 2 deleted" in result.out
    assert set(names_in(state)) == {"Anna", "Cy", "Di", "Eve"}
    twice = write(tmp_path / "twice.csv", [HEADER, GOOD, "1,Ann,1.5,2024-01-01", "8,Eva,0.5,2024-02-01"])
    refused(holdfast("apply", state, "--upsert", twice), "rows 1 and 3 of the upserts have the same key (id=8)")
    refused(holdfast("apply", state, "--upsert", new, "--insert", new), "inserts and upserts can't be one batch")
    keyless = tmp_path / "keyless"
    assert holdfast("init", keyless, people).code == 0
    refused(holdfast("apply", keyless, "--upsert", new), "an upsert needs a declared key (init --key)")
    (tmp_path / "in").mkdir()
    new.rename(tmp_path / "in" / "new.csv")
    nokey = holdfast(
        "watch", keyless, "--from", tmp_path / "in", "--as", "upsert", "--once", "--quarantine", tmp_path / "q"
    )
    assert (nokey.code, (tmp_path / "in" / "new.csv").exists()) == (2, True), "that is no fault of the file"
    assert holdfast("watch", state, "--from", tmp_path / "in", "--as", "upsert", "--once").code == 0
    assert set(names_in(state)) == {"Anna", "Cy", "Di", "Eve"}


def test_bad_rows_are_refused_or_set_aside(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    new, aside = write(tmp_path / "new.csv", [HEADER, GOOD, BAD, "1,Ann,1.5,2024-01-01"]), tmp_path / "aside"
    refused(holdfast("apply", state, "--insert", new), "new.csv, record 2, column 'score': 'much' is not a number")
    result = holdfast("apply", state, "--insert", new, "--batch-id", "b", "--quarantine", aside)
    assert result.code == 1, result.err
    assert "2 of 3 rows were set aside, more than 1% (--max-bad)" in result.err
    lines = result.out.splitlines()
    assert lines[1:4] == [
        f"quarantined: 2 of 3 rows in {aside / 'b.people.inserts.csv'}",
        "  new.csv, line 3: column 'score': 'much' is not a number (double)",
        "  new.csv, line 4: the declared key is taken (id=1)",
    ]
    assert names_in(state) == ["Ann", "Bob", "Cy", "Di", "Eve"]
    again = holdfast("apply", state, "--insert", new, "--quarantine", aside, "--format", "json").objects[0]
    assert again["quarantined"]["rows"] == again["quarantined"]["of"] == 3
    assert again["quarantined"]["reasons"][0] == "new.csv, line 2: the declared key is taken (id=8)"
    assert [Path(path).exists() for path in again["quarantined"]["files"]] == [True]


def test_more_bad_rows_than_a_share_are_an_alarm(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    """One row in 100 is bad: 1% is not more than 1%."""
    rows = [f"{number},Eve,0.5,2024-02-01" for number in range(100, 199)]
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "new.csv", [HEADER, *rows, BAD])
    aside = tmp_path / "aside"
    feed = write(tmp_path / "feed.csv", [f"op,{HEADER}", *(f"delete,{number},,," for number in (100, 500, 501, 502))])
    assert holdfast("watch", state, "--from", tmp_path / "in", "--once", "--quarantine", aside).code == 0
    quarantining = ["apply", state, "--changes", feed, "--quarantine", aside, "--max-bad"]
    for wrong in ("1", "5", "101%", "few", "1%%", "-1%", ""):
        refused(holdfast(*quarantining, wrong), f"--max-bad {wrong}: give a share of the rows, such as 5% or 0.05")
    strict = holdfast(*quarantining, "0.7")
    assert (strict.code, "3 of 4 rows were set aside, more than 70% (--max-bad)" in strict.err) == (1, True)
    assert "  feed.csv, line 3: the row to delete or update is not there (id=500)" in strict.out
    again = write(tmp_path / "in" / "more.csv", [HEADER, BAD])
    lax = holdfast("watch", state, "--from", again.parent, "--once", "--quarantine", aside, "--max-bad", "100%")
    assert lax.code == 0, lax.err


def test_reasons_show_what_hides_in_values(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    new = write(tmp_path / "new.csv", [HEADER, "9,Flo,\x1b[31mred,2024-02-01", GOOD])
    result = holdfast("apply", state, "--insert", new, "--quarantine", tmp_path / "aside")
    assert "\x1b" not in result.out
    assert r"'\x1b[31mred' is not a number" in result.out


def test_a_watch_moves_bad_files_aside(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    folder, aside = tmp_path / "in", tmp_path / "in" / "aside"
    folder.mkdir()
    command = ["watch", state, "--from", folder, "--once", "--quarantine", aside]
    files = {"a.csv": ["no,such,columns", "1,2,3"], "b.csv": [HEADER, GOOD, BAD], "c.parquet": ["this is no Parquet"]}
    for number, (name, lines) in enumerate(files.items()):
        os.utime(write(folder / name, lines), (0, 1_700_000_000 + number))
    result = holdfast(*command)
    assert result.code == 2
    assert "Batch 2 (b.csv): 1 row. " in result.out
    assert f"; moved to {aside / 'a.csv'}\n" in result.err
    assert sorted(path.name for path in folder.iterdir()) == ["aside", "b.csv"]
    assert (aside / "a.csv").read_text().startswith("no,such,columns")
    place, reason = (aside / "a.csv.reason").read_text().splitlines()
    assert (place, "the columns differ" in reason) == (str(folder / "a.csv"), True)
    assert (aside / "c.parquet.reason").exists()
    assert holdfast(*command).out == ""
    shutil.copy(aside / "a.csv", folder / "a.csv")
    write(folder / "c.parquet", ["nor is this"])
    again = holdfast(*command, "--format", "json").objects
    assert [(line["kind"], Path(line["moved_to"]).name) for line in again] == [
        ("refused", "a.csv"),
        ("refused", "c-2.parquet"),
    ]
    write(folder / "a.csv", [HEADER, "10,Guy,0.5,2024-02-01"])
    assert holdfast(*command).code == 0, "mended, it is a file like any other"
    assert "Guy" in names_in(state)


def test_a_watched_snapshot_with_bad_rows_is_moved_aside(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    """What is missing in a snapshot is deleted: it is applied whole or not at all."""
    (tmp_path / "in").mkdir()
    whole = write(tmp_path / "in" / "today.csv", [HEADER, GOOD, BAD])
    aside = tmp_path / "aside"
    command = ["watch", state, "--from", tmp_path / "in", "--as", "snapshot", "--once", "--quarantine", aside]
    assert holdfast(*command).code == 2
    assert sorted(path.name for path in aside.iterdir()) == ["today.csv", "today.csv.reason"]
    assert names_in(state) == ["Ann", "Bob", "Cy", "Di"]
    refused(
        holdfast("apply", state, "--snapshot", aside / "today.csv", "--quarantine", aside),
        "can't leave out bad rows",
    )
    assert not whole.exists()


def test_what_is_no_fault_of_a_file_stops_a_watch(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    new = write(tmp_path / "in" / "new.csv", [HEADER, GOOD, BAD])
    command = ["watch", state, "--from", tmp_path / "in", "--once", "--quarantine"]
    same = holdfast(*command, tmp_path / "in")
    assert (same.code, "would arrive again" in same.err) == (2, True)
    other = holdfast(*command, tmp_path / "aside", "--table", "pets")
    assert (other.code, "there is no table 'pets'" in other.err) == (2, True)
    taken = write(tmp_path / "taken", ["a file"])
    blocked = holdfast(*command, taken / "below")
    assert (blocked.code, "Traceback" in blocked.err) == (2, False)
    assert new.exists()


# ---- kill -9 --------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A batch with bad rows, a file that is no batch, and one more batch."""
    feed = f"op,{HEADER}"
    files = {
        "a.csv": [feed, f"insert,{GOOD}", f"insert,{BAD}", "delete,77,,,", "delete,1,,,", f"insert,{BAD},7"],
        "b.csv": ["nothing,of,ours", "1,2,3"],
        "c.csv": [feed, "insert,10,Guy,0.5,2024-02-01", "update,11,Hal,0.5,2024-02-01"],
    }
    (tmp_path / "in").mkdir()
    for number, (name, lines) in enumerate(files.items()):
        os.utime(write(tmp_path / "in" / name, lines), (0, 1_700_000_000 + number))
    return tmp_path / "in"


@dataclass(frozen=True)
class Place:
    """A state, the folder that it watches, and what is set aside."""

    root: Path

    @staticmethod
    def copied(state: Path, folder: Path, root: Path) -> Place:
        shutil.copytree(state, root / "state")
        shutil.copytree(folder, root / "in")
        return Place(root)

    def watch_and_die(self, flush: int) -> int | None:
        """Watch until all is applied, or until the process kills itself; gives how it ended."""
        process = Applier(self.root / "state", self.root / "in", aside=self.root / "aside", die=flush)
        process.rest()
        return process.exit_code

    def watch(self) -> None:
        with hf.Monitor.open(self.root / "state") as monitor:
            monitor.watch_folder(self.root / "in", how="changes", once=True, quarantine=self.root / "aside")

    def names(self) -> set[object]:
        return set(names_in(self.root / "state"))

    def files(self, name: str) -> dict[str, str]:
        """What the files of a folder hold, by their names without the numbers of batches of one name."""
        found = (self.root / name).iterdir() if (self.root / name).exists() else ()
        return {re.sub(r"-[0-9a-f]{8}\.", ".", path.name): path.read_text() for path in found}


@pytest.mark.flushes(1, 2, 3, 4, 5, 6, 7, 9, 11, 13, last=14)
def test_killed_before_a_file_or_a_transaction_reaches_the_disk(
    state: Path, folder: Path, tmp_path: Path, flush: int
) -> None:
    """No row is ever lost: it is in the table or aside, or its batch is not applied; and in the end all is in place."""
    place = Place.copied(state, folder, tmp_path / "place")
    assert place.watch_and_die(flush) == -signal.SIGKILL
    check_nothing_is_lost(place)
    place.watch()
    assert place.names() == {"Bob", "Cy", "Di", "Eve", "Guy"}
    assert set(place.files("in")) == {"a.csv", "c.csv"}
    aside = place.files("aside")
    assert set(aside) == {"a.csv.people.changes.csv", "b.csv", "b.csv.reason", "c.csv.people.changes.csv"}
    assert [len(aside[f"{name}.csv.people.changes.csv"].splitlines()) for name in "ac"] == [4, 2]


def check_nothing_is_lost(place: Place) -> None:
    aside, names = place.files("aside"), place.names()
    assert ("Eve" in names) != ("Ann" in names), "a batch is applied whole, or not at all"
    if "Eve" in names:
        assert len(aside["a.csv.people.changes.csv"].splitlines()) == 4, "a header and three bad rows"
    if "Guy" in names:
        assert len(aside["c.csv.people.changes.csv"].splitlines()) == 2
    assert ("b.csv" in place.files("in")) != ("b.csv" in aside)
    assert "b.csv" not in aside or "b.csv.reason" in aside
