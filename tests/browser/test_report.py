"""The report of a real state: every view opens, and shows what the batch broke; redacted, it shows no value."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

import holdfast as hf
from tests.api.test_batch_numbers import make
from tests.browser.conftest import Open
from tests.browser.sample import EVIL
from tests.browser.state import evil_people, watched
from tests.browser.views import follow


@pytest.mark.parametrize("redact", [False, True])
def test_every_view_of_a_real_state_opens(open_page: Open, tmp_path: Path, redact: bool) -> None:
    with watched(tmp_path / "state") as state:
        state.apply(inserts=evil_people(4))
        state.report(tmp_path / "report.html", redact=redact)
    page = open_page(path=tmp_path / "report.html")
    expect(page.locator("main h1")).to_contain_text("All 2 of your rules are violated")
    addresses = {link.get_attribute("href") or "" for link in page.locator("a[href^='#/']").all()}
    assert len(addresses) > 10
    for address in sorted(addresses):
        follow(page, address)
        expect(page.locator("main h1")).not_to_have_text("Not here")
        assert (EVIL in page.locator("main").inner_text()) <= (not redact)
    follow(page, "#/batch/1")
    expect(page.locator("section", has_text="Broke").first).to_contain_text("Zip -> City")


def test_batches_are_numbered_whatever_changes_come_between(open_page: Open, tmp_path: Path) -> None:
    make(tmp_path / "s")
    with hf.View.open(tmp_path / "s") as state:
        state.report(tmp_path / "report.html")
    page = open_page("#/batches", path=tmp_path / "report.html")
    assert page.locator("a.item").all_inner_texts() == ["–", "3", "–", "2", "–", "1", "–"]
    assert page.locator("#to-batch option").all_inner_texts() == ["the start", "batch 1", "batch 2", "batch 3"]
    page.locator("a.item", has_text="2").click()
    expect(page.locator("h1")).to_have_text("Batch 2 on towns")
    page.locator("a[rel=next]", has_text="change after batch 2 →").click()
    expect(page.locator("h1")).to_have_text("Change of the columns of towns after batch 2")
    page.locator("a[rel=next]", has_text="batch 3 →").click()
    expect(page.locator("h1")).to_have_text("Batch 3 on towns")
    follow(page, "#/change/1")
    expect(page.locator("h1")).to_have_text("Change of the rules")
    follow(page, "#/between/1/2")
    expect(page.locator("h1")).to_have_text("From batch 1 to batch 2")
    expect(page.get_by_role("heading", name="Broke 2").first).to_be_visible()
    follow(page, "#/rule/named/towns/zip%20-%3E%20town")
    expect(page.locator("p.verdict")).to_contain_text("Broke with batch 2.")
    page.locator("p.verdict a").click()
    expect(page.locator("h1")).to_have_text("Batch 2 on towns")
    follow(page, "#/batch/4")
    expect(page.locator("main")).to_contain_text("There is no batch 4 in this document.")
