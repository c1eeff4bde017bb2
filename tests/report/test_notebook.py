"""In a notebook: pictures, rows side by side and the lens of a column; whatever values and names hold stays text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.api.monitor import Monitor
from holdfast.cli.printing import print_findings
from holdfast.report.document import tables
from holdfast.report.document.tables import ColumnSummary, column_summary
from holdfast.report.pictures import escape
from holdfast.report.printing import (
    print_explanation,
    print_history,
    print_listings,
    print_outcome,
    print_rows,
    print_rule_history,
)

EVIL = "<script>alert('1')</script>\x1b[2J\"&"
SHOWN = r"<script>alert('1')</script>\x1b[2J"
TABLE, ZIP, CITY = f"t{EVIL}", f"zip{EVIL}", f"city{EVIL}"
ALLOWED = {
    *("div", "style", "h3", "h4", "p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "mark"),
    *("svg", "title", "rect", "path", "text", "g"),
}


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


RULE = f"{quoted(ZIP)} -> {quoted(CITY)}"


def rows(first: int, cities: list[str]) -> pa.Table:
    return pa.table({"id": range(first, first + len(cities)), ZIP: ["1", EVIL] * (len(cities) // 2), CITY: cities})


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Monitor]:
    """A state whose table, columns and values have markup and escape sequences in them, and whose rule broke."""
    started = rows(0, [EVIL, "b"] * 3)
    with Monitor.create(tmp_path / "s", {TABLE: started}, watch="column,fd", rules=[RULE], key="id") as made:
        yield made


class Reader(HTMLParser):
    """Collects the elements of some HTML and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def everything(watch: Monitor) -> dict[str, Any]:
    outcome = watch.apply(inserts=rows(100, [EVIL, EVIL, "b", "b"]))
    return {
        "outcome": outcome,
        "monitor": watch,
        "violations": watch.violations(),
        "history": watch.rule_history(),
        "lens": watch.column(CITY),
        "explanation": watch.explanation(RULE),
        "found": hf.discover({TABLE: rows(0, [EVIL, "b"] * 3)}, "fd,ucc,column"),
        "suggestions": hf.suggest({TABLE: rows(0, [EVIL, "b"] * 300)}),
        "checked": hf.check(rows(0, [EVIL, "b", "b", "b"]), [RULE]),
    }


def test_values_and_names_of_others_are_only_text(watch: Monitor) -> None:
    for kind, shown in everything(watch).items():
        html = shown._repr_html_()
        reader = read(html)
        assert reader.tags <= ALLOWED, kind
        assert not [name for name in reader.names if name.startswith("on") or name in ("style", "href", "src")], kind
        assert "\x1b" not in html, kind
        assert SHOWN in "".join(reader.words), kind


def test_the_rows_that_broke_a_rule_stand_side_by_side(watch: Monitor) -> None:
    shown = everything(watch)
    for kind in ("outcome", "violations", "explanation", "checked"):
        html = shown[kind]._repr_html_()
        assert {"b", escape(EVIL)} <= set(re.findall("<mark>(.*?)</mark>", html)), kind


def test_each_rule_has_a_strip_with_a_cell_for_each_batch(watch: Monitor) -> None:
    watch.apply(inserts=rows(50, ["b", EVIL]))  # the wrong way round
    watch.apply(deletes=pa.table({"id": [50, 51]}))
    watch.apply(inserts=rows(60, [EVIL, "b"]))
    history = watch.rule_history()
    strips = re.findall(r'<svg[^>]*hf-strip[^>]*viewBox="0 0 (\d+) 14".*?</svg>', history._repr_html_())
    assert strips == ["36"] * len(history)
    (first, *_) = re.findall("<svg.*?</svg>", history._repr_html_())
    assert [re.findall(f"hf-{state}", first) != [] for state in ("held", "broken")] == [True, True]
    watch.close()
    assert "hf-strip" not in history._repr_html_().replace(".hf-strip", "")  # nobody can ask a closed state
    assert watch._repr_html_() is None


def test_the_lens_shows_what_determines_a_column(tmp_path: Path) -> None:
    zips = ["1", "1", "2", "3", None]
    table = pa.table({"id": range(5), "zip": zips, "city": ["A", "A", "A", "B", "A"], "n": [1, 1, 1, 1, 2]})
    with Monitor.create(tmp_path / "s", {"towns": table}, watch="column,fd,ucc", rules=["zip -> city"]) as watch:
        lens = watch.column("city")
        assert lens.to_json()["rules"]["your rules"] == ["zip -> city"]
        assert set(lens.rules["determined by"]) == {"id -> city", "zip -> city"}
        assert "determines" not in lens.rules
        assert (lens.facts["distinct"], lens.facts["nulls"]) == (2, 0)
        assert watch.column("id").rules["keys"] == ("key(id)",)
        assert str(watch.column("zip")).splitlines()[0] == "towns.zip: text, 3 distinct, 1 nulls, from 1 to 3"
        assert "hf-bars" in lens._repr_html_()
        with pytest.raises(hf.BadInput, match="there is no column 'citty' in towns; did you mean 'city'"):
            watch.column("citty")


def test_the_lens_asks_for_no_rows_and_no_other_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"zip": ["1", "1", "2"], "city": ["A", "B", "A"]})
    with Monitor.create(tmp_path / "s", {"towns": table}, watch="column", rules=["zip -> city"]) as watch:
        columns: list[int] = []

        def noting(watched: Any, column: int) -> ColumnSummary:
            columns.append(column)
            return column_summary(watched, column)

        monkeypatch.setattr(tables, "column_summary", noting)
        monkeypatch.setattr(Monitor, "listings", None)
        assert watch.column("city").rules == {"your rules": ("zip -> city",)}
        assert columns == [1]


def test_escape_sequences_never_reach_the_terminal(watch: Monitor, capsys: pytest.CaptureFixture[str]) -> None:
    shown = everything(watch)
    print_outcome(shown["outcome"])
    for listing in shown["violations"]:
        print_listings([listing], 5, with_rows=False)
        print_listings([listing], 5, with_rows=True)
    print_history(watch.history())
    print_rule_history(shown["history"])
    print_explanation(shown["explanation"])
    print_rows(watch.rows([0]), 5)
    print_findings([], "text", results=watch.found())
    for each in (*shown.values(), *shown["violations"]):
        print(each)
    printed = capsys.readouterr().out
    assert "\x1b[2J" not in printed
    assert r"\x1b[2J" in printed
