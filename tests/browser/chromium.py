"""The browser: the one that HOLDFAST_CHROMIUM names, one of the system, or what `make browser` fetched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

NONE = "no browser: set HOLDFAST_CHROMIUM, install chromium-headless-shell, or say `make browser`"
_NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
_FETCHED = Path(__file__).parents[2] / ".browser" / "chromium"
_OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def executable() -> str | None:
    """Where it is, if there is one."""
    if named := os.environ.get("HOLDFAST_CHROMIUM"):
        return shutil.which(named)
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    return found or (str(_FETCHED) if _FETCHED.exists() else None)


@contextmanager
def running(path: str) -> Iterator[Browser]:
    """The browser, without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_OPTIONS)
        try:
            yield browser
        finally:
            browser.close()
