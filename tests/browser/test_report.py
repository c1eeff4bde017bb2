"""The report of a real state: every view opens, and shows what the batch broke; redacted, it shows no value."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

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
