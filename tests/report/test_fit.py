"""Tables fit the screen; in a pipe nothing is cut; and the right side of a rule is the last to go."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from holdfast.report.tables import cut_rule, fitted
from holdfast.report.terminal import Terminal
from holdfast.visible import cut


def test_a_rule_is_cut_in_its_left_side() -> None:
    rule = "Area, City, Street, Number -> Zip"
    assert cut_rule(rule, 40) == rule
    assert cut_rule(rule, 32) == "Area, City, Street, … -> Zip"
    assert cut_rule(rule, 20) == "Area, City, … -> Zip"
    assert cut_rule(rule, 10) == "… -> Zip"
    assert cut_rule(rule, 6) == "… ->…"
    assert cut_rule("orders(customer, day) in days(cust, day)", 38) == "orders(customer, … in days(cust, day)"
    assert cut_rule("orders.customer in customers.id", 20) == "… in customers.id"
    assert cut_rule("not(t.a in s.b and t.c -> s.d)", 10) == "not(t.a i…"
    assert cut_rule("key(A, B, C)", 8) == "key(A,…"


WORDS = st.text(st.sampled_from("abc, ->東\x1b\n"), max_size=60)


@given(WORDS, st.integers(1, 70))
def test_nothing_is_wider_than_its_room(text: str, room: int) -> None:
    for shorten in (cut, cut_rule):
        shown = shorten(text.replace("\x1b", "").replace("\n", ""), room)
        assert cell_len(shown) <= room


@given(st.lists(st.lists(WORDS, min_size=3, max_size=3), max_size=5), st.integers(40, 120))
def test_a_table_fits(rows: list[list[str]], screen: int) -> None:
    headings = ("rule", "count", "reasons")
    numbers = [[rule, "12", reasons] for rule, _, reasons in rows]
    cells = fitted(headings, numbers, ("count",), screen)
    widths = [max(map(cell_len, column)) for column in zip(headings, *cells, strict=True)]
    assert sum(widths) + 3 * 3 + 1 <= screen
    assert [row[1] for row in cells] == ["12"] * len(rows)


def test_what_matters_most_is_cut_last() -> None:
    rule, reasons = "A, B, C, D -> Z", "names 100%, key 100%, rows 100%"
    assert fitted(("score", "dependency", "reasons"), [["1.00", rule, reasons]], ("score",), 45)[0][1] == rule
    assert fitted(("score", "dependency", "reasons"), [["1.00", rule, reasons]], ("score",), 34)[0] == [
        "1.00", "A, … -> Z", "names 1…",
    ]  # fmt: skip


def test_a_screen_has_a_width_and_a_pipe_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    assert Terminal().width > 10_000
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert Terminal().width == 50
