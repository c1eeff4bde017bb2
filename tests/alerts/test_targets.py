"""Targets of notifications: real files, commands and servers; and no secret in what they are called."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from holdfast.alerts.targets import UndeliveredError, default_targets, target
from holdfast.errors import BadInput
from tests.alerts.hooks import HANG, hook

MESSAGE: dict[str, Any] = {
    "id": "one",
    "state": "shop",
    "verdict": "Batch 1: 1 row.",
    "text": "Batch 1: 1 row.\n  a < b",
}


@pytest.fixture(autouse=True)
def without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def test_a_file_gets_a_line_for_each_message(tmp_path: Path) -> None:
    for written in (f"{tmp_path}/alerts.jsonl", f"file:{tmp_path}/alerts.log"):
        for name in ("a\nb", "ü"):
            target(written).send({**MESSAGE, "state": name}, 1.0)
        lines = Path(written.removeprefix("file:")).read_text().splitlines()
        assert [json.loads(line)["state"] for line in lines] == ["a\nb", "ü"]
    with pytest.raises(UndeliveredError, match="no such file or directory"):
        target(f"{tmp_path}/none/alerts.jsonl").send(MESSAGE, 1.0)


def test_a_command_reads_the_message_and_finds_the_verdict(tmp_path: Path) -> None:
    evil = "Batch 1: $(touch evil) `touch evil`; touch evil '\" \\"
    written = f'command:cd {tmp_path} && cat > got.json && printf %s "$HOLDFAST_VERDICT" > verdict'
    target(written).send({**MESSAGE, "verdict": evil}, 10.0)
    assert json.loads((tmp_path / "got.json").read_text())["verdict"] == evil
    assert (tmp_path / "verdict").read_text() == evil
    assert not (tmp_path / "evil").exists()


def test_a_command_that_fails_or_hangs(tmp_path: Path) -> None:
    with pytest.raises(UndeliveredError, match="ended with exit code 7"):
        target("command:exit 7").send(MESSAGE, 10.0)
    with pytest.raises(UndeliveredError, match=r"ended with exit code 127"):
        target("command:there-is-no-such-command 2> /dev/null").send(MESSAGE, 10.0)
    with pytest.raises(UndeliveredError, match="was ended"):
        target(f"command:echo $$ > {tmp_path}/number; sleep 60; true").send(MESSAGE, 0.5)
    number = (tmp_path / "number").read_text().strip()
    about = Path(f"/proc/{number}/stat")
    assert not about.exists() or about.read_text().split()[2] == "Z"
    target("command:true").send({**MESSAGE, "text": "x" * 1_000_000}, 10.0)  # it need not read all


def test_a_webhook_gets_json_and_says_who_sends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with hook(200) as server:
        monkeypatch.setenv("HOOK_PATH", "a secret?token=b".replace(" ", "-"))
        target(f"{server.address}/${{HOOK_PATH}}").send(MESSAGE, 5.0)
        target(f"http://me:p%40ss@127.0.0.1:{server.port}/x").send(MESSAGE, 5.0)
    assert server.messages == [MESSAGE, MESSAGE]
    assert server.paths == ["/a-secret?token=b", "/x"]
    assert server.headers[0]["content-type"] == "application/json; charset=utf-8"
    assert server.headers[0]["idempotency-key"] == "one"
    assert "authorization" not in server.headers[0]
    assert server.headers[1]["authorization"] == "Basic bWU6cEBzcw=="


def test_slack_gets_its_form() -> None:
    with hook(200) as server:
        target(f"slack:{server.address}/hook").send({**MESSAGE, "state": "a&b"}, 5.0)
    assert server.messages == [{"text": "*a&amp;b*: Batch 1: 1 row.\n```\n  a &lt; b\n```"}]


@pytest.mark.parametrize(("answer", "why"), [(500, "answered 500"), (404, "answered 404"), (307, "answered 307")])
def test_an_answer_that_is_no_yes(answer: int, why: str) -> None:
    with hook(answer) as server:
        with pytest.raises(UndeliveredError, match=why):
            target(server.address).send(MESSAGE, 5.0)
        assert server.paths == ["/"] or server.paths == [""]


def test_no_answer_and_no_server() -> None:
    with hook(HANG) as server, pytest.raises(UndeliveredError, match="no answer within 1 second"):
        target(server.address).send(MESSAGE, 0.6)
    with pytest.raises(UndeliveredError, match="refused the connection"):
        target(f"slack:{server.address}/T/B/secret").send(MESSAGE, 1.0)


# ---- what they are called --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("file:/tmp/a.txt", "/tmp/a.txt"),
        ("a.jsonl", "a.jsonl"),
        ("command:curl -H 'Token: s3cret' example.org", "command curl …"),
        ("command:/usr/bin/notify", "command notify"),
        ("command:echo 's3cret", "command echo …"),
        ("https://me:s3cret@example.org/s3cret?token=s3cret#s3cret", "example.org"),
        ("slack:https://hooks.slack.com/services/T/B/s3cret", "slack (hooks.slack.com)"),
        ("https://${HOOK}", "${HOOK}"),
        ("slack:${HOOK}", "slack (${HOOK})"),
        ("https://me:${HOOK}@example.org/", "${HOOK}"),
    ],
)
def test_names_have_no_secrets(monkeypatch: pytest.MonkeyPatch, written: str, shown: str) -> None:
    monkeypatch.setenv("HOOK", "example.org" if written.startswith("https") else "https://example.org/s3cret")
    found = target(written)
    assert found.shown == shown
    assert re.fullmatch("[0-9a-f]{16}", found.fingerprint)


def test_a_password_does_not_change_the_fingerprint() -> None:
    one, other = (target(f"https://me:{word}@example.org/a").fingerprint for word in ("s3cret", "other"))
    assert one == other != target("https://example.org/b").fingerprint


@pytest.mark.parametrize(
    "written",
    ["", "s3cret", "mailto:s3cret", "slack:hooks/s3cret", "https://", "https://a:b@h:99999/s3cret", "http://a b/s3cret",
     "file:", "command: ", "s3cret://x.jsonl", "slack:${HOOK_UNSET}", "https:///s3cret.jsonl"],
)  # fmt: skip
def test_what_is_no_target_is_refused_without_repeating_it(written: str) -> None:
    with pytest.raises(BadInput, match="--notify") as refused:
        target(written)
    assert "s3cret" not in str(refused.value)


def test_files_that_can_not_be_one(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="this is a folder; name a file"):
        target(f"file:{tmp_path}")
    (tmp_path / "holdfast.db").touch()
    with pytest.raises(BadInput, match="belongs to the state"):
        target(f"{tmp_path}/outbox/x.jsonl")


def test_targets_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_NOTIFY", "a.jsonl 'command:mail -s alarm'")
    assert default_targets() == ["a.jsonl", "command:mail -s alarm"]
    monkeypatch.setenv("HOLDFAST_NOTIFY", "'command:s3cret")
    with pytest.raises(BadInput, match="HOLDFAST_NOTIFY: a quote is not closed; close it") as refused:
        default_targets()
    assert "s3cret" not in str(refused.value)
