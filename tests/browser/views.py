"""The addresses of all views of the sample, with what their headings say."""

from __future__ import annotations

import re
from urllib.parse import quote

from playwright.sync_api import Page, expect

from tests.browser.sample import ODD_TABLE

_ODD_RULE = '"full ""name""" -> "<b>bold</b>"'
ZIP = f"#/rule/named/tax/{quote('Zip -> City')}"
ODD = f"#/rule/fd/{quote(ODD_TABLE, safe='')}/{quote(_ODD_RULE, safe='')}"
VIEWS = {
    "#/": "2 of your 4 rules are violated",
    "#/rules": "Rules",
    ZIP: "zip: Zip -> City",
    ODD: _ODD_RULE,
    "#/batches": "Batches",
    "#/batch/7": "Batch 7 on tax",
    "#/between/2/9": "From batch 2 to batch 9",
    "#/columns": "Columns",
    "#/column/tax/Zip": "Zip",
    "#/tables": "Tables",
}


def follow(page: Page, address: str) -> None:
    """Go to an address within the page, and wait until it is shown (`page` there is that of the script)."""
    page.evaluate("address => { location.hash = address }", address)
    page.wait_for_function("page.shown === location.hash")


def expect_address(page: Page, address: str) -> None:
    """The page is at an address, or comes there."""
    expect(page).to_have_url(re.compile(re.escape(address) + "$"))
