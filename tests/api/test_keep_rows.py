"""Rows that broke rules long ago expire: of them stay their numbers; newer ones and all else stay as they were."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.alerts.outbox import Outbox
from tests.api.clock import Clock

RULES = [
    "people: not(t.zip = s.zip and t.name != s.name)",
    "people: zip -> city",
    "people: key(zip)",
    "orders.zip in people.zip",
]
SECRETS = ("Quagmire", "Brelin", "Zz9")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def people(name: str, zip_code: str, city: str) -> pa.Table:
    return pa.table({"name": [name], "zip": [zip_code], "city": [city]})


def made(folder: Path, keep_rows: str | None) -> hf.Monitor:
    """A state in which rows broke rules of all kinds, and were deleted again."""
    tables = {"people": people("Ann", "1", "Ulm"), "orders": pa.table({"zip": ["1"]})}
    watch = hf.Monitor.create(
        folder / "state", tables, watch="column,fd,ucc,ind", rules=RULES, keep_rows=keep_rows, suggest=None
    )
    wrong, order = people("Quagmire", "1", "Brelin"), pa.table({"zip": ["Zz9"]})
    watch.apply(inserts={"people": wrong, "orders": order})
    watch.apply(deletes={"people": wrong, "orders": order})
    return watch


def fine(number: int) -> dict[str, pa.Table]:
    return {"people": people("Bob", f"{number}", "Bonn")}


def said(watch: hf.Monitor) -> str:
    """All that the state remembers of rows."""
    return json.dumps([None if event.witness is None else event.witness.to_json() for event in watch.memory().events()])


def known(watch: hf.Monitor) -> set[str]:
    return {secret for secret in SECRETS if secret in said(watch)}


def test_old_rows_lose_their_values_with_the_next_batch(tmp_path: Path, clock: Clock) -> None:
    with made(tmp_path, "30d") as watch:
        before = [(event.seq, event.event, event.text) for event in watch.memory().events()]
        assert known(watch) == set(SECRETS)
        clock.days = 31
        watch.apply(inserts=fine(2))
        assert known(watch) == set()
        after = watch.memory().events()
        assert [(event.seq, event.event, event.text) for event in after][-len(before) :] == before
        broken = [event.witness for event in after if event.event == "lost" and event.text == "zip -> city"]
        assert {(each.rows, each.values) for each in broken if each} == {((0, 1), (None, None))}
    with hf.View.open(tmp_path / "state") as view:
        assert "zip -> city" in str(view.rule_history())


def test_no_file_holds_them_after_a_vacuum(tmp_path: Path, clock: Clock) -> None:
    with made(tmp_path, "30d") as watch:
        clock.days = 31
        done = watch.vacuum(keep_events=True)
        assert done.expired > 0
        assert f"values of rows in {done.expired} events expired" in str(done)
        assert watch.vacuum().expired == 0
        assert not any(secret in json.dumps(watch.document()) for secret in SECRETS)
    for path in (tmp_path / "state").rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert not any(secret.encode() in content for secret in SECRETS), path


def test_the_database_has_none_even_without_a_vacuum(tmp_path: Path, clock: Clock) -> None:
    with made(tmp_path, "30d") as watch:
        clock.days = 31
        watch.apply(inserts=fine(2))
    content = (tmp_path / "state" / "holdfast.db").read_bytes()
    assert not any(secret.encode() in content for secret in SECRETS)
    assert not (tmp_path / "state" / "holdfast.db-wal").exists()
    assert hf.verify(tmp_path / "state").problems == ()


@pytest.mark.parametrize("keep_rows", [None, "32d", "5w"])
def test_rows_that_are_not_old_stay(tmp_path: Path, clock: Clock, keep_rows: str | None) -> None:
    with made(tmp_path, keep_rows) as watch:
        clock.days = 31
        watch.apply(inserts=fine(2))
        assert known(watch) == set(SECRETS)
        assert watch.vacuum(keep_events=True).expired == 0
        assert known(watch) == set(SECRETS)


def test_each_batch_expires_in_its_turn(tmp_path: Path, clock: Clock) -> None:
    with made(tmp_path, "30d") as watch:
        for number in range(3, 8):
            clock.days += 31
            watch.apply(inserts={"people": people(f"Quagmire{number}", "1", "Ulm")})
            assert f"Quagmire{number}" in said(watch)
            assert f"Quagmire{number - 1}" not in said(watch)
        clock.days += 31
    with hf.Monitor.open(tmp_path / "state") as watch:
        watch.apply(inserts=fine(9))
        assert known(watch) == set()
        assert watch.violations("dc1")[0].count > 0  # of rows that live


def test_the_time_can_be_taken_back(tmp_path: Path, clock: Clock) -> None:
    with made(tmp_path, None) as watch:
        clock.days = 31
        watch.keep_rows("30d")
        watch.keep_rows(None)
        watch.apply(inserts=fine(2))
        assert known(watch) == set(SECRETS)
        with pytest.raises(hf.BadInput, match="'a month' is no duration"):
            watch.keep_rows("a month")


def test_notifications_that_wait_expire_too(tmp_path: Path, clock: Clock) -> None:
    with made(tmp_path, "30d") as watch:
        outbox = Outbox(watch.path)
        outbox.put("target", {"id": "one", "verdict": "", "text": "", "state": ""})
        watch.apply(inserts=fine(2))
        assert len(outbox.waiting("target")) == 1
        clock.days = 31
        watch.apply(inserts=fine(3))
        assert outbox.waiting("target") == []
