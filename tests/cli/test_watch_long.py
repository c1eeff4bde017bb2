"""A watch that runs for long: several tables, its log, its pace, and how SIGTERM ends it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast.store.records import Commit
from holdfast.store.store import Store
from tests.cli.running import HEADER, Holdfast, Picture, finish, start, untouched, write

FILES = r"(?P<batch>\d+)-(?P<table>\w+)\.csv"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.fixture
def shop(tmp_path: Path, holdfast: Holdfast) -> Path:
    """A state of orders and their customers, whose reference is a given rule."""
    orders = write(tmp_path / "orders.csv", ["id,cust", "1,1"])
    customers = write(tmp_path / "customers.csv", ["id,name", "1,Ann"])
    rules = write(tmp_path / "rules.yaml", ["rules:", "  - {name: payer, rule: orders.cust in customers.id}"])
    assert holdfast("init", tmp_path / "shop", orders, customers, "--rules", rules).code == 0
    return tmp_path / "shop"


# ---- several tables --------------------------------------------------------------------------------------------------


def test_files_of_one_moment_are_one_batch(holdfast: Holdfast, shop: Path, folder: Path) -> None:
    write(folder / "01-orders.csv", ["id,cust", "2,2"])
    write(folder / "01-customers.csv", ["id,name", "2,Bob"])
    write(folder / "02-orders.csv", ["id,cust", "3,3"])
    write(folder / "notes.txt", ["hello"])
    command = ["watch", shop, "--from", folder, "--files", FILES, "--once", "--settle", "1ms"]
    ran = holdfast(*command)
    assert ran.code == 1, "the order of batch 2 has no customer"
    assert "Batch 1 (01-customers.csv, 01-orders.csv) on customers, orders: 2 rows. The rule holds.\n" in ran.out
    assert "Failed: payer has 1 new violation (orders, 02-orders.csv)\n" in ran.out
    assert f"{folder}: 1 file doesn't match --files, and is left: notes.txt\n" in ran.err
    write(folder / "02-customers.csv", ["id,name", "3,Cid"])
    late = holdfast(*command, "--format", "json")
    assert late.code == 0
    assert "02-customers.csv: came after batch 02 was applied; it is a batch of its own\n" in late.err
    assert {line["file"] for line in late.objects} == {str(folder / "02-customers.csv")}
    write(folder / "03-orders.csv", ["id,cust", "4,4"])
    write(folder / "03-customers.csv", ["id,name", "4,Di"])
    both = holdfast(*command, "--format", "json").of_kind("batch")
    assert [Path(path).name for path in both[0]["files"]] == ["03-customers.csv", "03-orders.csv"]
    assert "file" not in both[0]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--files", "("], ["--files (: this is no regular expression (missing ), unterminated"]),
        (["--files", r"(?P<bach>\d+)"], ["the group 'bach' means nothing; name groups batch and table only"]),
        (["--files", FILES, "--table", "orders"], ["leave out the table 'orders'"]),
        (["--files", FILES, "--every", "10"], ["'10' is no duration"]),
        (["--files", FILES, "--settle", "soon"], ["'soon' is no duration"]),
        (["--files", FILES, "--log-format", "xml"], ["--log-format", "xml"]),
    ],
)
def test_what_is_refused(holdfast: Holdfast, shop: Path, folder: Path, more: list[str], words: list[str]) -> None:
    ran = holdfast("watch", shop, "--from", folder, "--once", *more)
    assert ran.code == 2
    assert ran.out == ""
    for word in words:
        assert word in ran.err.splitlines()[-1]


def test_a_name_with_an_unknown_table(holdfast: Holdfast, shop: Path, folder: Path, tmp_path: Path) -> None:
    write(folder / "01-order.csv", ["id,cust", "2,2"])
    ran = holdfast("watch", shop, "--from", folder, "--once", "--files", FILES, "--settle", "1ms")
    assert ran.code == 2
    sentence = (
        f"{folder / '01-order.csv'}: its name says the table 'order', which is not watched; did you mean 'orders'?"
    )
    assert ran.err.splitlines()[-1] == f"holdfast: {sentence}"
    aside = ["--quarantine", tmp_path / "aside"]
    assert holdfast("watch", shop, "--from", folder, "--once", "--files", FILES, "--settle", "1ms", *aside).code == 2
    assert (tmp_path / "aside" / "01-order.csv.reason").read_text().splitlines()[1] == sentence


# ---- the log ---------------------------------------------------------------------------------------------------------


def logged(err: str) -> list[dict[str, Any]]:
    """The events of a log in JSON: each with its time and level."""
    lines: list[dict[str, Any]] = [json.loads(line) for line in err.splitlines()]
    for line in lines:
        assert datetime.fromisoformat(line["time"]).utcoffset() is not None
        assert line["level"] in ("info", "warning", "error")
        assert line["message"]
    return lines


def test_a_log_for_machines(holdfast: Holdfast, shop: Path, folder: Path, tmp_path: Path) -> None:
    write(folder / "01-orders.csv", ["id,cust", "2,1"])
    write(folder / "02-orders.csv", ["id,cust", "3,7", "x,y"])
    write(folder / "03-orders.csv", ["other,columns", "3,7"])
    command = ["watch", shop, "--from", folder, "--files", FILES, "--once", "--settle", "1ms", "--log-format", "json"]
    ran = holdfast(*command, "--quarantine", tmp_path / "aside", "--max-bad", "100%")
    assert ran.code == 2
    first, *notes, last = logged(ran.err)
    assert (first["event"], first["folder"]) == ("started", str(folder))
    batches = [line for line in notes if line["event"] == "batch"]
    verdicts = [(line["batch"], line["level"], line["verdict"], line["failed"]) for line in batches]
    rule = "orders.cust in customers.id"
    assert verdicts == [(1, "info", "ok", []), (2, "warning", "alarm", [rule])]
    assert batches[1]["message"] == f"Batch 2 (02-orders.csv): 1 row. 1 rule failed: {rule}"
    assert (batches[1]["inserted"], batches[1]["quarantined"], batches[1]["tables"]) == (1, 1, ["orders"])
    assert batches[1]["files"] == [str(folder / "02-orders.csv")]
    assert (last["event"], last["level"], last["file"]) == ("refused", "error", str(folder / "03-orders.csv"))
    assert "Batch 1 (01-orders.csv): 1 row. The rule holds.\n" in ran.out, "results go to standard output as ever"


def test_the_log_has_the_error_that_ends_a_watch(holdfast: Holdfast, state: Path, folder: Path) -> None:
    write(folder / "a.csv", [HEADER, "1,Ann"])
    ran = holdfast("watch", state, "--from", folder, "--once", "--log-format", "json")
    assert (ran.code, ran.out) == (2, "")
    last = logged(ran.err)[-1]
    assert (last["event"], last["level"], last["exit_code"]) == ("failed", "error", 2)
    assert last["message"].startswith(f"{folder / 'a.csv'}, line 2: 2 fields where 4")


def test_a_log_for_people(holdfast: Holdfast, state: Path, folder: Path) -> None:
    write(folder / "a\nb.csv", [HEADER, "8,Eve,0.5,2024-02-01"])
    ran = holdfast("watch", state, "--from", folder, "--once", "--log-format", "text")
    assert ran.code == 0
    at = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
    lines = ran.err.splitlines()
    assert re.fullmatch(rf"{at} INFO    started: Watching .*", lines[0])
    assert re.fullmatch(rf"{at} INFO    batch: Batch 2 \(a b\.csv\): 1 row\. .*", lines[-1])
    assert all(re.match(at, line) for line in lines)


# ---- SIGTERM ---------------------------------------------------------------------------------------------------------


def ended_by(process: subprocess.Popen[str], number: int, when: Callable[[], bool]) -> None:
    """Send a signal to a process at some moment."""
    until = time.monotonic() + 100
    while not when():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(number)


def batches_in(state: Path) -> int:
    return len(Picture.of(state).history)


def test_sigterm_ends_a_watch_after_the_batch(state: Path, folder: Path) -> None:
    write(folder / "one.csv", [HEADER, "8,Eve,0.5,2024-02-01"])
    watching = start("watch", state, "--from", folder, "--every", "1h", "--log-format", "json")
    ended_by(watching, signal.SIGTERM, lambda: batches_in(state) == 2)
    ran = finish(watching)
    assert ran.code == 0
    assert "Batch 2 (one.csv): 1 row." in ran.out
    assert logged(ran.err)[-1]["message"] == "Stopped. The batches shown so far are applied."


def in_a_batch(monkeypatch: pytest.MonkeyPatch, signals: int) -> None:
    """Send SIGTERM to this process whenever a batch is about to be committed."""
    commit = Store.commit

    def signalled(store: Store, given: Commit) -> None:
        for _ in range(signals):
            os.kill(os.getpid(), signal.SIGTERM)
        commit(store, given)

    monkeypatch.setattr(Store, "commit", signalled)


def test_sigterm_in_the_middle_of_a_batch(
    holdfast: Holdfast, state: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The batch that had begun is applied and shown, and none after it."""
    for number in (8, 9):
        write(folder / f"{number}.csv", [HEADER, f"{number},Eve,0.5,2024-02-01"])
    before = signal.getsignal(signal.SIGTERM)
    in_a_batch(monkeypatch, 1)
    ran = holdfast("watch", state, "--from", folder)
    assert (ran.code, batches_in(state)) == (0, 2)
    assert "Batch 2 (8.csv): 1 row." in ran.out
    assert "Batch 3" not in ran.out
    assert ran.err.splitlines()[-1] == "Stopped. The batches shown so far are applied."
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_second_sigterm_ends_it_at_once(
    holdfast: Holdfast, state: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Ctrl-C does: the batch that had begun is not applied."""
    write(folder / "8.csv", [HEADER, "8,Eve,0.5,2024-02-01"])
    in_a_batch(monkeypatch, 2)
    with untouched(state):
        ran = holdfast("watch", state, "--from", folder)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.splitlines()[-1] == "Stopped. The batches shown so far are applied."
