"""How the page looks: light, dark, on a phone and on paper, and to those who don't see it."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.conftest import Open
from tests.browser.views import VIEWS, ZIP, follow

_SIDEWAYS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
_PAPER = "getComputedStyle(document.body).backgroundColor"


_SHORT = {"#/rules": "#/rules?q=salary&score=20"}  # a short list is looked at sooner


@pytest.mark.parametrize(
    ("scheme", "addresses", "rules"),
    [("light", [*VIEWS], {}), ("dark", ["#/", "#/rules", ZIP, "#/batches"], {"runOnly": ["color-contrast"]})],
)
def test_axe_finds_nothing(open_page: Open, scheme: str, addresses: list[str], rules: dict[str, list[str]]) -> None:
    page = open_page(color_scheme=scheme)
    for address in addresses:
        follow(page, _SHORT.get(address, address))
        found = Axe().run(page, options={"resultTypes": ["violations"], **rules})
        assert found.violations_count == 0, (address, found.generate_report())


def test_a_phone_needs_no_scrolling_sideways(open_page: Open) -> None:
    page = open_page(viewport={"width": 360, "height": 740})
    for address in VIEWS:
        follow(page, address)
        assert not page.evaluate(_SIDEWAYS), address


def test_the_theme_follows_the_system_and_the_switch(open_page: Open) -> None:
    page = open_page(color_scheme="dark")
    dark = page.evaluate(_PAPER)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(_PAPER)
    assert dark != light
    page.get_by_role("button", name="Theme: auto").click()
    page.get_by_role("button", name="Theme: light").click()
    assert page.evaluate(_PAPER) == dark
    page.reload()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert page.evaluate(_PAPER) == dark


def test_paper_has_all_and_no_buttons(open_page: Open) -> None:
    page = open_page(ZIP, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate(_PAPER) == "rgb(255, 255, 255)"
    expect(page.locator("header")).to_be_hidden()
    expect(page.get_by_role("button")).to_have_count(0)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("details:not([open])")).to_have_count(0)
    assert page.pdf().startswith(b"%PDF")
