"""The page, its document, pages of violations: what is answered, and that it follows the state."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from holdfast.api.monitor import Monitor
from holdfast.api.view import View
from holdfast.serve import live as live_module
from holdfast.serve.live import Live
from tests.serve.asking import Client
from tests.serve.conftest import local_client, people


def ask(client: Client, address: str, status: int = 200) -> Any:
    answer = client.get(address)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_the_page_asks_for_its_data(client: Client) -> None:
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert 'id="data"></script>' in page.text
    policy = page.headers["content-security-policy"]
    assert "script-src 'sha256-" in policy
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_the_document_is_sent_once_a_change(client: Client, live: Live, state: Path) -> None:
    first = client.get("/api/document")
    assert first.headers["content-encoding"] == "gzip"
    assert (first.json()["live"], first.json()["batches"]) == (True, [])
    tag = {"If-None-Match": first.headers["etag"]}
    again = client.get("/api/document", headers=tag)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    plain = client.get("/api/document", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == first.json()
    with Monitor.open(state) as monitor:
        monitor.apply(inserts=people(100, 3))
    live.look()
    later = client.get("/api/document", headers=tag)
    assert later.status_code == 200
    assert [batch["seq"] for batch in later.json()["batches"]] == [1]


@pytest.mark.parametrize("rule", ["dc1", "fd1", "not(t.Zip = s.Zip and t.City != s.City)", "Zip -> City"])
def test_pages_of_violations_are_all_of_them(client: Client, state: Path, rule: str) -> None:
    with View.open(state) as view:
        (listing,) = view.violations(rule)
    assert listing.count > 10
    assert listing.pairs is not None
    seen = []
    for first in range(0, listing.count, 7):
        page = client.get("/api/violations", params={"rule": rule, "from": first, "count": 7}).json()
        assert (page["total"], page["from"], page["listed"]) == (listing.count, first, True)
        seen += page["violations"]
    assert [sorted(row["row"] for row in pair["rows"]) for pair in seen] == [sorted(p) for p in listing.pairs.tolist()]
    pair = seen[0]
    assert pair["rule_columns"] == pair["columns"][:2] == ["Zip", "City"]
    assert pair["marked"] == ["City"]
    values = [dict(zip(pair["columns"], row["values"], strict=True)) for row in pair["rows"]]
    assert values[0]["Zip"] == values[1]["Zip"]
    assert values[0]["Zip"] in pair["sentence"]
    assert {row["City"] for row in values} == {"Aberdeen", r"<script>alert(1)</script>\x1b[2J"}
    assert [row["name"] for row in pair["rows"]] == [f"Id {row['Id']}" for row in values]


def test_where_only_the_number_is_kept_there_are_no_pages(tmp_path: Path) -> None:
    rules = ["not(t.Zip = s.Zip and t.City != s.City)"]
    state = tmp_path / "state"
    Monitor.create(state, {"people": people(0, 40)}, rules=rules, pair_limit=3).close()
    live = Live(state)
    page = ask(local_client(live), "/api/violations?rule=dc1")
    assert (page["listed"], page["violations"]) == (False, [])
    assert page["total"] > 3
    live.close()


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/api/violations", 400, "name a rule"),
        ("/api/violations?rule=nobody", 404, "there is no rule 'nobody'"),
        ("/api/violations?rule=dc1&from=-1", 400, "from=-1: give a whole number"),
        ("/api/violations?rule=dc1&count=many", 400, "count=many: give a whole number"),
        ("/api/violations?rule=dc1&from=99999999999999999999", 400, "give a whole number"),
        ("/api/nothing", 404, "there is nothing at /api/nothing"),
        ("/etc/passwd", 404, "there is nothing at /etc/passwd"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(client: Client, address: str, status: int, words: str) -> None:
    assert words in ask(client, address, status)["error"]


def test_a_page_has_no_more_than_is_sensible(client: Client) -> None:
    assert len(ask(client, "/api/violations?rule=dc1&count=100000")["violations"]) <= 200
    assert ask(client, "/api/violations?rule=dc1&from=100000")["violations"] == []


def test_violations_follow_the_state(client: Client, live: Live, state: Path) -> None:
    before = ask(client, "/api/violations?rule=fd1")["total"]
    with Monitor.open(state) as monitor:
        monitor.apply(inserts=people(100, 10))
    assert ask(client, "/api/violations?rule=fd1")["total"] == before
    live.look()
    assert ask(client, "/api/violations?rule=fd1")["total"] == before + 5  # one of two more in each Zip


def test_who_listens_hears_of_batches_and_of_the_end(live: Live, state: Path) -> None:
    heard: list[int | None] = []
    ignore = live.listen(heard.append)
    live.look()
    assert heard == []
    with Monitor.open(state) as monitor:
        monitor.apply(inserts=people(100, 1))
        monitor.apply(inserts=people(101, 1))
    live.look()
    live.look()
    assert heard == [2]
    live.hush()
    assert heard == [2, None]
    ignore()
    live.hush()
    assert heard == [2, None]


def test_few_listings_are_kept(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "_MOST_PAIRS", 1)
    assert live.listing("fd1") is live.listing("fd1")
    first = live.listing("fd1")
    live.listing("dc1")
    assert live.listing("fd1") is not first


def test_a_state_that_goes_and_comes_back(client: Client, live: Live, state: Path, tmp_path: Path) -> None:
    live.start()
    other = tmp_path / "elsewhere"
    state.rename(other)
    live.look()
    assert "not a Holdfast state" in ask(client, "/api/document", 503)["error"]
    shutil.copytree(other, state)
    live.look()
    assert ask(client, "/api/document")["state"] is True
    with Monitor.open(state) as monitor:
        monitor.apply(inserts=people(100, 1))
    live.look()
    assert len(ask(client, "/api/document")["batches"]) == 1


def test_heads_have_no_body(client: Client) -> None:
    for address in ("/", "/api/document", "/api/violations?rule=dc1", "/api/events"):
        answer = client.request("HEAD", address)
        assert (answer.status_code, answer.content) == (200, b"")


def test_sensitive_values_are_hashed_in_the_document_and_in_pages_of_violations(
    client: Client, live: Live, state: Path
) -> None:
    with Monitor.open(state) as monitor:
        monitor.declare_sensitive("City")
    live.look()
    document = client.get("/api/document").text
    page = client.get("/api/violations", params={"rule": "fd1", "from": 0, "count": 5}).json()
    columns = page["violations"][0]["columns"]
    values = {row["values"][columns.index("City")] for pair in page["violations"] for row in pair["rows"]}
    assert all(value.startswith("#") for value in values)
    assert "Aberdeen" not in document
    assert "alert(1)" not in document
