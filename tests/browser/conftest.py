"""One browser for the tests of a file; each test has a page of its own, without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from holdfast.report.bundle import html_page
from tests.browser.chromium import NONE, executable, running
from tests.browser.sample import sample

Open = Callable[..., Page]


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the processes that share a run, one has the browser."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="module")  # while it is there, nothing else in its process can run an event loop
def browser() -> Iterator[Browser]:
    path = executable()
    if path is None:
        pytest.skip(NONE)
    with running(path) as browser:
        yield browser


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample as a page."""
    path = tmp_path_factory.mktemp("page") / "sample.html"
    path.write_text(html_page(sample()), encoding="utf-8")
    return path


@pytest.fixture
def open_page(browser: Browser, written: Path) -> Iterator[Open]:
    """Opens an address of the sample, or of another page; errors in it are reported at the end."""
    troubles: list[str] = []
    contexts = []

    def opened(address: str = "#/", path: Path = written, script: str = "", **options: Any) -> Page:
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5_000)
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: troubles.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: _refuse_others(request.url, path, troubles))
        if script:
            page.add_init_script(script)
        page.goto(f"file://{path}{address}")
        page.wait_for_selector("main h1")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


def _refuse_others(url: str, path: Path, troubles: list[str]) -> None:
    if not url.startswith((f"file://{path}", "data:,")):
        troubles.append(f"request: {url}")
