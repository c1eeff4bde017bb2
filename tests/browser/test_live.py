"""The live page: a batch that arrives is shown where the reader is, and violations come page by page."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from holdfast.api.monitor import Monitor
from tests.browser.sample import EVIL
from tests.browser.state import evil_people, watched
from tests.cli.running import start


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Monitor]:
    """A state in which a rule holds."""
    with watched(tmp_path / "state") as made:
        yield made


@pytest.fixture
def server(watch: Monitor) -> Iterator[subprocess.Popen[str]]:
    process = start("serve", watch.path, "--port", "0", start_new_session=True)
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def page(browser: Browser, server: subprocess.Popen[str]) -> Iterator[Page]:
    """The served page of that rule, opened."""
    assert server.stdout is not None
    address = re.search(r"http://\S+/", server.stdout.readline())
    assert address
    context = browser.new_context()
    page = context.new_page()
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("dialog", lambda dialog: troubles.append(dialog.message))
    page.goto(f"{address[0]}#/rule/named/people/{quote('Zip -> City')}")
    yield page
    context.close()
    assert troubles == []


def test_a_batch_arrives_while_the_page_is_open(page: Page, watch: Monitor, server: subprocess.Popen[str]) -> None:
    expect(page.locator(".verdict")).to_contain_text("Holds from the start.")
    expect(page.locator("#live")).to_be_visible()
    button = page.get_by_role("button", name="Theme: auto")
    button.focus()
    watch.apply(inserts=evil_people(30))
    expect(page.locator("#notice")).to_have_text(re.compile(r"^Batch 1 arrived: \d+ rules broke"))
    expect(page.locator(".verdict")).to_contain_text("Broke with batch 1. 30 rows to remove.")
    expect(button).to_be_focused()
    expect(page.locator(".pair mark", has_text=EVIL).first).to_be_visible()

    listed = page.locator("section", has_text="All violations")
    expect(listed.get_by_text("1 to 10 of 30")).to_be_visible()
    first = listed.locator("summary").first.inner_text()
    listed.get_by_role("button", name="Next").click()
    expect(listed.get_by_text("11 to 20 of 30")).to_be_visible()
    assert listed.locator("summary").first.inner_text() != first  # it names its rows
    listed.get_by_role("button", name="Previous").click()
    expect(listed.locator("summary").first).to_have_text(first)

    server.kill()
    expect(page.locator("#notice")).to_contain_text("The connection is lost")
