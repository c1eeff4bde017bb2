"""Verdicts reach their targets at least once, whatever these do, and no batch waits for that."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.alerts import outbox as outbox_module
from holdfast.alerts import sender
from holdfast.alerts.outbox import Outbox
from tests.alerts.hooks import HANG, hook

TOWNS = pa.table({"id": [1, 2], "zip": ["10115", "20095"], "city": ["Berlin", "Hamburg"]})


def wrong(number: int) -> pa.Table:
    """A row that breaks the rule in its own way."""
    return pa.table({"id": [number], "zip": ["10115"], "city": [f"Brelin{number}"]})


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts and pauses take less time than they do for users."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(sender, "_ATTEMPT", 0.4)
    monkeypatch.setattr(sender, "_FIRST_PAUSE", 0.02)
    monkeypatch.setattr(sender, "_TO_NOTICE", 0.1)


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[hf.Monitor]:
    with hf.Monitor.create(tmp_path / "state", {"towns": TOWNS}, watch=[], rules="zip -> city", key="id") as made:
        yield made


def left(watch: hf.Monitor) -> list[Path]:
    """The messages in the outbox, for all targets."""
    return sorted((watch.path / "outbox").glob("*-*.json"))


def waiting(watch: hf.Monitor) -> list[str]:
    """Their verdicts."""
    return [json.loads(path.read_text())["verdict"] for path in left(watch)]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_alarms_alone_or_every_batch(watch: hf.Monitor, tmp_path: Path) -> None:
    alarms, every = tmp_path / "alarms.jsonl", tmp_path / "every.jsonl"
    fine = pa.table({"id": [3], "zip": ["20095"], "city": ["Hamburg"]})
    with hf.Notifier(watch.path, str(every), on="batch", alarms=[str(alarms)]) as notifier:
        notifier.applied(watch.apply(inserts=fine, batch_id="a"))
        notifier.applied(watch.apply(inserts=wrong(4)))
        notifier.applied(watch.apply(inserts=fine, batch_id="a"))  # nothing was done
        notifier.refused("no such file", ["x.csv"])
    assert [line["verdict"] for line in lines(every)] == [
        "Batch 1: 1 row. The rule holds.",
        "Batch 2: 1 row. 1 rule failed.",
        "Not applied (x.csv): the input was refused.",
    ]
    assert [line["kind"] for line in lines(alarms)] == ["verdict", "refused"]
    first = lines(every)[1]
    assert (first["exit_code"], first["batch"], first["state"], first["redacted"]) == (1, 2, "state", True)
    assert first["rules"] == [
        {
            "rule": "zip -> city", "table": "towns", "level": "failed", "new": 1, "violations": 1, "rows": ["row 3"],
            "explain": f'holdfast explain {watch.path} "zip -> city"',
        }
    ]  # fmt: skip


def test_fail_on_and_bad_rows_decide(watch: hf.Monitor, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    assert hf.notify(watch.apply(inserts=wrong(3)), str(file), fail_on="never") == []
    assert lines(file) == []
    (tmp_path / "in.csv").write_text("id,zip,city\nx,1,A\n4,20095,Hamburg\n")
    outcome = watch.apply(inserts=str(tmp_path / "in.csv"), quarantine=tmp_path / "aside")
    hf.notify(outcome, [str(file)])
    (line,) = lines(file)
    assert line["text"].endswith("1 of 2 rows were set aside, more than 1% (--max-bad)")
    assert line["quarantined"] == 1


def test_a_server_that_fails_is_tried_again(watch: hf.Monitor) -> None:
    with hook(500, 503, 200) as server:
        assert hf.notify(watch.apply(inserts=wrong(3)), server.address) == []
    assert [message["batch"] for message in server.messages] == [1, 1, 1]
    assert len({message["id"] for message in server.messages}) == 1
    assert waiting(watch) == []


def test_a_batch_does_not_wait_for_a_server_that_hangs(watch: hf.Monitor, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    with hook(HANG) as server, hf.Notifier(watch.path, [server.address, str(file)]) as notifier:
        notifier.applied(watch.apply(inserts=wrong(3)))
        assert server.hangs.wait(10)
        for number in (4, 5):  # while it hangs, batches and other targets go on
            notifier.applied(watch.apply(inserts=wrong(number)))
        until = time.monotonic() + 10
        while (len(lines(file)) < 3 or len(left(watch)) > 3) and time.monotonic() < until:
            time.sleep(0.01)
        assert [line["batch"] for line in lines(file)] == [1, 2, 3]
        assert len(left(watch)) == 3, "a message leaves the outbox after it was delivered"
        (trouble,) = notifier.close(0.3)
    assert trouble.startswith("--notify 127.0.0.1: no answer within ")
    assert trouble.endswith("3 messages are kept in the state, and the next command with this target sends them")


def test_what_was_not_delivered_is_sent_by_the_next_one_in_order(watch: hf.Monitor) -> None:
    with hook(500) as server:
        for number in (3, 4):
            (trouble,) = hf.notify(watch.apply(inserts=wrong(number)), server.address, seconds=0.1)
            assert "answered 500" in trouble
        ids = {message["id"] for message in server.messages}
        assert len(waiting(watch)) == 2
        server.answers[:] = [200]
        del server.messages[:]
        assert hf.notify(watch.apply(inserts=wrong(5)), f"{server.address}/other") == []
        assert [message["batch"] for message in server.messages] == [3]  # that is another target
        assert hf.notify(watch.apply(inserts=wrong(6)), server.address) == []
        assert [message["batch"] for message in server.messages] == [3, 1, 2, 4]
        assert ids < {message["id"] for message in server.messages}
    assert waiting(watch) == []


def test_old_messages_alone_are_tried_once(watch: hf.Monitor) -> None:
    with hook(500) as server:
        hf.notify(watch.apply(inserts=wrong(3)), server.address, seconds=0.1)
        tried = len(server.messages)
        quiet = pa.table({"id": [9], "zip": ["20095"], "city": ["Hamburg"]})
        (trouble,) = hf.notify(watch.apply(inserts=quiet), server.address, seconds=60)  # and does not take that long
        assert "1 message is kept" in trouble
        assert len(server.messages) == tried + 1


def test_an_answer_that_will_not_change_soon_is_waited_for_no_longer(watch: hf.Monitor) -> None:
    with hook(401) as server:
        (trouble,) = hf.notify(watch.apply(inserts=wrong(3)), server.address, seconds=60)
        assert "answered 401; 1 message is kept" in trouble
        assert len(server.messages) <= 2


def test_only_one_process_delivers_at_a_time(watch: hf.Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "PATIENCE", 0.2)
    monkeypatch.setattr(sender, "_ATTEMPT", 20.0)
    with hook(HANG) as server:
        first = hf.Notifier(watch.path, server.address)
        first.applied(watch.apply(inserts=wrong(3)))
        assert server.hangs.wait(10)
        (trouble,) = hf.notify(watch.apply(inserts=wrong(4)), server.address)
        assert "another process is delivering to it; 2 messages are kept" in trouble
        assert len(server.messages) == 1


def test_the_outbox_is_bounded(watch: hf.Monitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox_module, "MOST", 2)
    monkeypatch.setattr(sender, "MOST", 2)
    notifier = hf.Notifier(watch.path, f"file:{watch.path.parent}/none/a")
    for number in range(3, 8):
        notifier.applied(watch.apply(inserts=wrong(number)))
    (trouble,) = notifier.close(0.1)
    assert "no such file or directory; 2 messages are kept" in trouble
    assert waiting(watch) == ["Batch 4: 1 row. The rule failed.".replace("The", "1"), "Batch 5: 1 row. 1 rule failed."]


def test_an_outbox_that_can_not_be_written(watch: hf.Monitor, tmp_path: Path) -> None:
    (watch.path / "outbox").write_text("in the way")
    notifier = hf.Notifier(watch.path, f"{tmp_path}/a.jsonl")
    with notifier.following(watch.history()):
        notifier.applied(watch.apply(inserts=wrong(3)))
    assert notifier.close() == []
    assert [line["batch"] for line in lines(tmp_path / "a.jsonl")] == [1]


def test_files_of_the_outbox_that_are_no_messages_are_removed(watch: hf.Monitor, tmp_path: Path) -> None:
    hf.notify(watch.apply(inserts=wrong(3)), f"file:{tmp_path}/none/a", seconds=0.05)
    (path,) = (watch.path / "outbox").glob("*-*.json")
    path.write_text("{")
    (tmp_path / "none").mkdir()
    assert hf.notify(watch.apply(inserts=wrong(4)), f"file:{tmp_path}/none/a") == []
    assert [line["batch"] for line in lines(tmp_path / "none/a")] == [2]


def test_a_process_that_was_killed_before_its_verdict(watch: hf.Monitor, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    with hf.Notifier(watch.path, str(file)) as notifier:
        with notifier.following(watch.history()):
            notifier.applied(watch.apply(inserts=wrong(3)))
            Outbox(watch.path).begin(watch.history()[-1].seq)  # as the killed process left it,
        Outbox(watch.path).begin(watch.history()[-1].seq)
        watch.apply(inserts=wrong(4), batch_id="wednesday")  # and what it had done
        watch.add_rules("key(id)")
    with hf.Notifier(watch.path, str(file)) as notifier, notifier.following(watch.history()):
        pass
    assert Outbox(watch.path).unfinished() is None
    last = lines(file)[-1]
    assert (len(lines(file)), last["kind"], last["batch_id"]) == (2, "lost verdict", "wednesday")
    assert last["verdict"].startswith("Batch 2: applied, but its process ended before the verdict was sent; ")


def test_reasons_of_refusals_may_have_values(watch: hf.Monitor, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    for values in (False, True):
        with hf.Notifier(watch.path, str(file), values=values) as notifier:
            notifier.refused("'secret' is no number")
    watch.declare_sensitive("city")
    with hf.Notifier(watch.path, str(file), values=True) as notifier:
        notifier.refused("'secret' is no number")
    assert ["secret" in json.dumps(line) for line in lines(file)] == [False, True, False]


def test_an_error_of_ours_says_so(watch: hf.Monitor, tmp_path: Path) -> None:
    with hf.Notifier(watch.path, f"{tmp_path}/a.jsonl") as notifier:
        notifier.refused("an error of ours", ["x.csv"], 3)
    (line,) = lines(tmp_path / "a.jsonl")
    assert (line["exit_code"], line["verdict"]) == (3, "The command failed (x.csv): an error of ours.")


def test_values_and_sensitive_columns(watch: hf.Monitor, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    hf.notify(watch.apply(inserts=wrong(3)), str(file))
    hf.notify(watch.apply(inserts=wrong(4)), str(file), values=True)
    watch.declare_sensitive("city")
    hf.notify(watch.apply(inserts=wrong(5)), str(file), values=True)
    assert ["Brelin" in json.dumps(line) for line in lines(file)] == [False, True, False]


def test_targets_are_checked_before_anything_else(tmp_path: Path) -> None:
    with pytest.raises(hf.BadInput, match="this is no target"):
        hf.Notifier(tmp_path, "mail:me")
    assert hf.Notifier(tmp_path / "no state", []).close() == []
