"""The page in a browser: what each view shows, finding rules, permalinks, keys, copying; values are never code."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from holdfast.report.bundle import html_page, html_shell
from tests.browser.conftest import Open
from tests.browser.sample import EVIL, many, sample
from tests.browser.views import ODD, VIEWS, ZIP, expect_address, follow


def test_every_view_opens_by_its_address(open_page: Open) -> None:
    page = open_page("#/nowhere")
    for address, heading in VIEWS.items():
        follow(page, address)
        expect(page.locator("main h1")).to_contain_text(heading)
        expect(page.locator("main h1")).to_be_focused()
    expect(page.locator("nav [aria-current=page]")).to_have_text("Tables")
    for address in ("#/nonsense", "#/batch/99", "#/rule/fd/tax/none", "#/column/tax/none", "#/between/1/99"):
        follow(page, address)
        expect(page.locator("main h1")).to_have_text("Not here")


def test_the_overview_tells_what_broke_and_because_of_what(open_page: Open) -> None:
    page = open_page()
    first = page.locator("section", has_text="What broke last").locator("li").first
    expect(first).to_contain_text("fair: not(t.State = s.State")
    expect(first).to_contain_text("Id 17 has more Salary")
    expect(first.locator("svg.hf-strip .hf-broken")).to_have_count(1)
    expect(page.locator("section", has_text="Rows to look at first").locator("mark").first).to_have_text("Salem")
    page.get_by_role("link", name="1 functional dependencies don't hold").click()
    expect(page.locator(".hits")).to_have_text("1 rule of 71")


def test_rules_are_searched_as_one_types(open_page: Open) -> None:
    page = open_page()
    hits = page.locator(".hits")
    page.locator("#query").press_sequentially("zip state")
    expect(page.locator("main h1")).to_have_text("Rules")
    together = hits.inner_text()
    page.fill("#query", "zip -> state")
    expect_address(page, "#/rules?q=zip%20-%3E%20state")
    texts = page.locator(".item .rule").all_inner_texts()
    assert texts[0] == "Zip -> State"
    assert all("Zip" in left and right == "State" for left, right in (text.split(" -> ") for text in texts))
    assert hits.inner_text() != together
    for words, count in {"phone:": 1, "it''s": 1, "key": 3, '"full': 1, "orders.cust": 1, "zzz": 0}.items():
        page.fill("#query", words.strip(":"))
        if words == "phone:":  # a column, and the name of a rule about other words
            expect(page.locator(".item", has_text="phone: key(AreaCode, Phone)")).to_have_count(1)
        else:
            expect(hits).to_have_text(re.compile(f"^{count} rules? of 71$"))
    page.go_back()
    expect(page.locator("main h1")).to_contain_text("2 of your 4 rules")


def test_filters_stand_in_the_address(open_page: Open) -> None:
    page = open_page("#/rules")
    page.select_option("#filter-class", "fd")
    page.focus("#filter-column")
    page.select_option("#filter-column", "tax.Zip")
    expect(page.locator("#filter-column")).to_be_focused()
    page.select_option("#filter-side", "right")
    page.select_option("#filter-score", "60")
    page.select_option("#filter-state", "holds")
    expect_address(page, "#/rules?class=fd&column=tax.Zip&side=right&state=holds&score=60")
    expect(page.locator(".hits")).to_have_text("0 rules of 71")
    page.select_option("#filter-side", "left")
    found = page.locator(".item .rule").all_inner_texts()
    assert found[0] == "Zip -> State"
    assert all("Zip" in text for text in found)
    page.reload()
    expect(page.locator(".item .rule")).to_have_text(found)
    page.go_back()
    expect(page.locator(".hits")).to_have_text("0 rules of 71")


def test_a_million_rules_come_some_at_a_time(open_page: Open, tmp_path: Path) -> None:
    path = tmp_path / "many.html"
    path.write_text(html_page(many(5000, 40)), encoding="utf-8")
    page = open_page("#/rules", path)
    expect(page.locator(".hits")).to_have_text("5,000 rules")
    expect(page.locator(".item")).to_have_count(60)
    page.get_by_role("button", name="Show more (4,940 left)").click()
    expect(page.locator(".item")).to_have_count(120)
    expect(page.get_by_role("link", name="Batches")).to_have_count(0)  # a single look has none
    page.fill("#query", "column9 -> column39")
    expect(page.locator(".hits")).to_contain_text("of 5,000")
    last = page.locator(".item a.open").last
    text = last.inner_text()
    last.click()
    expect(page.locator("main h1")).to_have_text(text)
    expect(page.locator(".verdict")).to_contain_text("Holds.")


def test_a_rule_shows_the_rows_that_broke_it(open_page: Open) -> None:
    page = open_page(ZIP)
    expect(page.locator(".verdict")).to_contain_text("Broke with batch 7. 3 rows to remove.")
    pair = page.locator(".pair table").first
    assert pair.locator("tbody th").all_inner_texts() == ["Zip", "City"]
    expect(pair.locator("tr.marked")).to_contain_text("City")
    assert pair.locator("mark").all_inner_texts() == ["Salem", "Montgomery"]
    expect(page.get_by_text("7 other columns").first).to_be_visible()
    expect(page.get_by_text("Remove these 3 rows, and it holds.")).to_be_visible()
    page.locator(".history a[href='#/batch/7'] rect").click()
    expect(page.locator("main h1")).to_have_text("Batch 7 on tax")
    follow(page, f"#/rule/fd/tax/{quote('Zip, City -> State')}")
    expect(page.locator(".verdict")).to_have_text("↳ Still holds: it follows from Zip -> State, which holds.")


def test_a_batch_and_the_difference_between_two(open_page: Open) -> None:
    page = open_page("#/batch/5")
    expect(page.locator("section", has_text="Came to hold")).to_contain_text("Zip -> City")
    expect(page.locator("section", has_text="Came to follow")).to_contain_text("follows from Zip -> State")
    expect(page.get_by_text("Not listed here: 1 more event")).to_be_visible()
    page.get_by_role("link", name="batch 6 →").click()
    expect(page.get_by_text("No rule broke or came.")).to_be_visible()
    page.select_option("#from-batch", "2")
    page.select_option("#to-batch", "9")
    page.get_by_role("button", name="Show the difference").click()
    expect_address(page, "#/between/2/9")
    expect(page.locator("main h1")).to_have_text("From batch 2 to batch 9")
    parts = {heading.split(" ")[0]: part for heading, part in _parts(page).items()}
    assert "Zip -> City" in parts["Broke"]
    assert "key(AreaCode, Phone)" in parts["Broke,"]  # and hold again
    follow(page, "#/between/4/5")
    assert "Zip -> City" in _parts(page)["Hold again 2"]


def _parts(page: Page) -> dict[str, str]:
    parts = page.locator("main section").all()
    return {part.locator("h2").inner_text(): part.inner_text() for part in parts}


def test_the_column_lens(open_page: Open) -> None:
    page = open_page("#/columns")
    page.get_by_role("link", name="City", exact=True).click()
    expect(page.locator("main h1")).to_have_text("City")
    parts = _parts(page)
    assert "Phone, AreaCode -> City" in next(part for title, part in parts.items() if "What determines it" in title)
    assert "City, Salary -> State" in next(part for title, part in parts.items() if "What it determines" in title)
    assert "zip: Zip -> City" in next(part for title, part in parts.items() if "Given" in title)
    assert "keys" in parts["No rule"]
    page.locator("section", has_text="What it determines").get_by_role("link", name=re.compile("^All")).click()
    expect_address(page, "#/rules?class=fd&column=tax.City&side=left")
    follow(page, "#/rules?class=named%2Cdc")
    expect(page.locator(".hits")).to_have_text("4 rules of 71")


def test_everything_goes_by_keys(open_page: Open) -> None:
    page = open_page()
    keys = page.keyboard
    keys.press("Tab")
    expect(page.locator("#skip")).to_be_focused()
    page.locator("main").focus()
    keys.press("/")
    expect(page.locator("#query")).to_be_focused()
    keys.type("zip")
    keys.press("Escape")
    for _ in range(3):
        keys.press("j")
    keys.press("k")
    expect(page.locator(".item a.open").nth(1)).to_be_focused()
    keys.press("Enter")
    expect(page.locator("main h1")).to_contain_text("->")
    for letter, heading in {"r": "Rules", "b": "Batches", "c": "Columns", "t": "Tables", "o": "2 of your"}.items():
        keys.press("g")
        keys.press(letter)
        expect(page.locator("main h1")).to_contain_text(heading)
    keys.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_copying(open_page: Open) -> None:
    record = "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { copied = text }}})"
    page = open_page(f"#/rule/fd/tax/{quote('Phone, AreaCode -> City')}", script=record)
    copies = {}
    for name in ("text", "SQL", "rule file"):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator(".said")).to_have_text(f"copied as {name}")
        copies[name] = page.evaluate("copied")
    assert copies["text"] == "Phone, AreaCode -> City"
    assert copies["rule file"] == '- {table: "tax", rule: "Phone, AreaCode -> City"}'
    assert copies["SQL"].startswith('SELECT "Phone", "AreaCode", COUNT(*) FROM "tax" GROUP BY "Phone", "AreaCode"')


def test_copying_where_the_browser_refuses(open_page: Open) -> None:
    refuse = "Object.defineProperty(navigator, 'clipboard', {value: undefined}); document.execCommand = () => false"
    page = open_page(ZIP, script=refuse)
    page.get_by_role("button", name="text", exact=True).click()
    expect(page.locator("textarea")).to_have_value("Zip -> City")
    expect(page.locator("textarea")).to_be_focused()


def test_values_and_names_are_text(open_page: Open) -> None:
    page = open_page(ZIP)
    page.get_by_text("7 other columns").first.click()
    expect(page.locator("td", has_text=EVIL).first).to_be_visible()
    for address in VIEWS:
        follow(page, address)
    expect(page.locator("main script, main b b")).to_have_count(0)
    follow(page, ODD)
    page.get_by_role("link", name='"<b>bold</b>"').first.click()
    expect(page.locator("main h1")).to_have_text("<b>bold</b>")


def test_an_old_browser_gets_a_sentence(open_page: Open) -> None:
    page = open_page(script="delete window.DecompressionStream")
    expect(page.locator("main")).to_contain_text("This browser is too old")


@pytest.mark.parametrize("made", [html_page(sample() | {"title": "</title>{{data}}<script>"}), html_shell("<script>")])
def test_a_page_is_one_document_with_a_policy(made: str) -> None:
    assert made.count("<script") == 2
    assert made.count("<title") == 1
    assert "default-src 'none'; script-src 'sha256-" in made
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", made)
