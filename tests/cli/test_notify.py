"""`--notify` and `--on-alarm`: who hears of what, exit codes that do not change, and secrets that stay secret."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.alerts import sender
from tests.alerts.hooks import HANG, hook
from tests.cli.running import COMMAND, Holdfast, refused, write

ROWS = ["id,mail,zip,city", "1,a@example.org,10115,Berlin", "2,b@example.org,20095,Hamburg"]
RULES = ["rules:", "- {rule: zip -> city}", "- {rule: \"t.city in ('Berlin', 'Hamburg')\"}"]
WRONG = [ROWS[0], "3,leaked@example.org,10115,Leakdorf"]


@pytest.fixture
def shop(holdfast: Holdfast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state with two rules, and files beside it."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("HOLDFAST_NOTIFY", raising=False)
    files = {"people.csv": ROWS, "rules.yaml": RULES, "wrong.csv": WRONG, "bad.csv": [ROWS[0], "x,leaked,1,2"]}
    for name, lines in files.items():
        write(tmp_path / name, lines)
    write(tmp_path / "fine.csv", [ROWS[0], "4,d@example.org,10115,Berlin"])
    state = tmp_path / "shop"
    made = holdfast("init", state, tmp_path / "people.csv", "--rules", tmp_path / "rules.yaml", "--key", "id")
    assert made.code == 0, made.err
    return state


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_apply_sends_alarms_and_refusals(holdfast: Holdfast, shop: Path, tmp_path: Path) -> None:
    file, every = tmp_path / "alerts.jsonl", tmp_path / "every.jsonl"
    assert holdfast("apply", shop, "--insert", tmp_path / "fine.csv", "--notify", file).code == 0
    assert lines(file) == []
    ran = holdfast("apply", shop, "--insert", tmp_path / "wrong.csv", "--notify", file, "--notify", f"file:{every}x")
    assert (ran.code, "--notify" in ran.err) == (1, False)
    (line,) = lines(file)
    assert line["verdict"] == ran.out.splitlines()[0] == "Batch 2: 1 row. 2 of 2 rules failed."
    assert line["files"] == ["wrong.csv"]
    assert "Leak" not in json.dumps(line)
    assert "row 3" in line["text"]
    refused(holdfast("apply", shop, "--insert", tmp_path / "bad.csv", "--notify", file))
    assert lines(file)[1]["verdict"] == "Not applied (bad.csv): the input was refused."
    assert "leaked" not in json.dumps(lines(file)[1])
    holdfast("apply", shop, "--delete", tmp_path / "fine.csv", "--notify", every, "--notify-on", "batch")
    assert [line["exit_code"] for line in lines(every)] == [0]
    with_values = holdfast("apply", shop, "--upsert", tmp_path / "wrong.csv", "--notify", every, "--notify-values")
    assert (with_values.code, len(lines(every))) == (0, 1)  # nothing new broke


def test_values_are_sent_where_they_are_wanted(holdfast: Holdfast, shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "alerts.jsonl"
    holdfast("apply", shop, "--insert", tmp_path / "wrong.csv", "--notify", file, "--notify-values")
    refused(holdfast("apply", shop, "--insert", tmp_path / "bad.csv", "--notify", file, "--notify-values"))
    assert ["Leakdorf" in lines(file)[0]["text"], "'x' is not" in lines(file)[1]["text"]] == [True, True]


def test_targets_come_from_the_environment(
    holdfast: Holdfast, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_NOTIFY", f"{tmp_path}/a.jsonl 'command:cat > {tmp_path}/b.json'")
    holdfast("apply", shop, "--insert", tmp_path / "wrong.csv")
    assert lines(tmp_path / "a.jsonl") == lines(tmp_path / "b.json")
    assert len(lines(tmp_path / "a.jsonl")) == 1


def test_a_watch_sends_and_runs_a_command_on_alarms(holdfast: Holdfast, shop: Path, tmp_path: Path) -> None:
    incoming, log = tmp_path / "incoming", tmp_path / "log"
    incoming.mkdir()
    for at, name in enumerate(("fine", "wrong", "bad")):
        (tmp_path / f"{name}.csv").rename(incoming / f"{name}.csv")
        os.utime(incoming / f"{name}.csv", (at, at))
    ran = holdfast(
        "watch", shop, "--from", incoming, "--once", "--quarantine", tmp_path / "aside", "--as", "snapshot",
        "--on-alarm", f'echo "$HOLDFAST_VERDICT" >> {log}', "--notify", tmp_path / "all.jsonl", "--notify-on", "batch",
    )  # fmt: skip
    assert ran.code == 2, ran.err
    assert [line["kind"] for line in lines(tmp_path / "all.jsonl")] == ["verdict", "verdict", "refused"]
    assert log.read_text().splitlines() == [line["verdict"] for line in lines(tmp_path / "all.jsonl")][1:]
    assert not list((shop / "outbox").glob("*.json"))


def test_a_watch_that_ends_says_so(holdfast: Holdfast, shop: Path, tmp_path: Path) -> None:
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    (tmp_path / "bad.csv").rename(incoming / "bad.csv")
    words = ["--from", incoming, "--once", "--notify", tmp_path / "a.jsonl", "--log-format", "json"]
    assert holdfast("watch", shop, *words).code == 2
    assert [line["verdict"] for line in lines(tmp_path / "a.jsonl")] == [
        "Not applied (incoming): the input was refused."
    ]


def test_options_that_make_no_sense(holdfast: Holdfast, shop: Path, tmp_path: Path) -> None:
    fine = tmp_path / "fine.csv"
    refused(holdfast("apply", shop, "--insert", fine, "--notify", "smtp:me"), "--notify", "this is no target")
    refused(holdfast("apply", shop, "--insert", fine, "--notify-values"), "--notify-values is about --notify")
    refused(holdfast("apply", shop, "--insert", fine, "--notify", "slack:${NOPE}"), "NOPE is not set")
    assert holdfast("history", shop, "--format", "json").objects == []


@pytest.mark.parametrize("answer", [500, HANG])
def test_a_server_that_does_not_answer_changes_nothing_but_a_line(
    holdfast: Holdfast, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: int
) -> None:
    monkeypatch.setattr(sender, "PATIENCE", 0.3)
    with hook(answer) as server:
        ran = holdfast("apply", shop, "--insert", tmp_path / "wrong.csv", "--notify", f"slack:{server.address}")
        assert ran.code == 1
        assert ran.out.startswith("Batch 1: 1 row. 2 of 2 rules failed.")
        (said,) = (line for line in ran.err.splitlines() if "--notify" in line)
        assert "1 message is kept in the state, and the next command with this target sends it" in said
        server.ends.set()
        server.answers[:] = [200]
        monkeypatch.setattr(sender, "PATIENCE", 10.0)
        del server.messages[:]
        again = holdfast("apply", shop, "--insert", tmp_path / "fine.csv", "--notify", f"slack:{server.address}")
        assert (again.code, len(server.messages)) == (0, 1)
        assert "Batch 1" in server.messages[0]["text"]


def test_secrets_are_in_no_file_of_the_state_no_output_and_no_process_list(shop: Path, tmp_path: Path) -> None:
    secrets = {"HOOK_PATH": "T0/B0/s3cretpath", "HOOK_WORD": "s3cretword"}
    command = f"command:cat /proc/[0-9]*/cmdline > {tmp_path}/processes 2> /dev/null; true"
    with hook(401) as server:
        targets = [
            f"slack:{server.address}/${{HOOK_PATH}}",
            f"http://me:${{HOOK_WORD}}@127.0.0.1:{server.port}/x?token=${{HOOK_WORD}}",
            command,
        ]
        words = [word for each in targets for word in ("--notify", each)]
        ran = subprocess.run(
            [COMMAND, "apply", shop, "--insert", tmp_path / "wrong.csv", *words],
            capture_output=True, text=True, check=False, env={**os.environ, **secrets},
        )  # fmt: skip
        assert ran.returncode == 1, ran.stderr
        assert {path.partition("?")[0] for path in server.paths} == {"/T0/B0/s3cretpath", "/x"}  # it was used
    kept = [path for path in shop.rglob("*") if path.is_file()]
    assert sum(".json" in path.name for path in kept) == 2
    texts = [path.read_bytes() + str(path).encode() for path in (*kept, tmp_path / "processes")]
    for text in (*texts, ran.stdout.encode(), ran.stderr.encode()):
        assert b"s3cret" not in text
    assert b"HOOK_WORD" in texts[-1]  # the command line of this process was among them


def test_a_killed_command_leaves_its_message_to_the_next_one(holdfast: Holdfast, shop: Path, tmp_path: Path) -> None:
    with hook(HANG, 200) as server:
        words: list[str | Path] = [shop, "--notify", server.address, "--insert"]
        with subprocess.Popen([COMMAND, "apply", *words, tmp_path / "wrong.csv"], stdout=subprocess.PIPE) as running:
            assert server.hangs.wait(60)
            running.kill()
        assert holdfast("apply", *words, tmp_path / "fine.csv").code == 0
        assert [message["batch"] for message in server.messages] == [1, 1]
        assert len({message["id"] for message in server.messages}) == 1


def test_a_batch_whose_process_was_killed_before_its_verdict(holdfast: Holdfast, shop: Path, tmp_path: Path) -> None:
    script = f"""
import os, holdfast as hf
from holdfast.api.upkeep import Upkeep
Upkeep.expire_rows = lambda self: os._exit(9)  # the batch is stored, and nothing was said of it
with hf.Monitor.open({str(shop)!r}) as watch, hf.Notifier({str(shop)!r}, "x.jsonl") as send, send.following([]):
    watch.apply(inserts={str(tmp_path / "wrong.csv")!r}, batch_id="monday")
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    holdfast("apply", shop, "--insert", tmp_path / "fine.csv", "--notify", tmp_path / "a.jsonl")
    (line,) = lines(tmp_path / "a.jsonl")
    assert (line["kind"], line["batch_id"], line["exit_code"]) == ("lost verdict", "monday", 1)
    assert line["verdict"].endswith("before the verdict was sent; 2 rules broke.")
