"""Whatever text comes from others, no raw control, override of direction or hidden character is printed."""

from __future__ import annotations

import ast
import json
import sys
import unicodedata
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf
from holdfast.changes.diff import Diff, Witness
from holdfast.engines.inclusion import picture
from holdfast.report.notebook import html_table
from holdfast.report.printing import print_history, print_listings, print_outcome
from holdfast.report.tables import text_table
from holdfast.report.terminal import Terminal, TerminalProgress, json_line, plain, say
from holdfast.results.outcome import Outcome
from holdfast.rules.dependency import FD
from holdfast.rules.inclusion import IND, Side
from holdfast.store.records import BatchRecord
from holdfast.visible import visible, visible_json, visible_lines

HIDING = ("Cc", "Cf", "Cs", "Zl", "Zp")
NASTY = "a\x1b[31m[red]b[/red]\u202ec\u2066\x9b1m\u200b:smile:\r\x07\x00\u2028d"
ANY = st.text(alphabet=st.characters(exclude_categories=()))
SOME = ANY | st.sampled_from([NASTY, "\x1b]0;title\x07", "\ud800", "\U000e0041", "[/bold]", "\\", "[b]\\", "\n"])


def hidden(text: str) -> list[str]:
    """The characters that must not be printed raw."""
    return [sign for sign in text if sign != "\n" and unicodedata.category(sign) in HIDING]


def test_every_character_that_hides_or_steers_is_spelled_out() -> None:
    raw = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in HIDING]
    assert len(raw) > 2000
    assert [sign for sign in raw if visible(sign) == sign] == []
    assert visible_lines("a\nb\x1b") == "a\nb\\x1b"
    assert visible("Zoë 東京 ½ 👍🏽 \u00a0") == "Zoë 東京 ½ 👍🏽 \u00a0", "what can be seen stays"


@given(SOME)
def test_text_is_visible(text: str) -> None:
    assert hidden(visible(text)) == []
    assert "\n" not in visible(text)
    assert hidden(visible_lines(text)) == []


@given(st.dictionaries(SOME, SOME | st.integers()))
def test_json_means_the_same(value: dict[str, str | int]) -> None:
    line = json_line(value)
    assert hidden(line) == []
    assert line.count("\n") == 1
    line.encode("utf-8")
    assert json.loads(line) == value
    assert visible_json(line[:-1]) == line[:-1]


@given(SOME, SOME)
def test_printed_text_is_visible(one: str, two: str) -> None:
    """Each function that prints texts of users."""
    with pytest.MonkeyPatch.context() as patched:
        written = _Screen()
        patched.setattr(sys, "stdout", written)
        patched.setattr(sys, "stderr", written)
        say(one)
        Terminal().print(f"[bold]{plain(one)}[/bold] {plain(two)}")
        Terminal().print(text_table([one, "rule"], [[two, one]], title=two))
        print_history([record(one, two)])
        lost = {"x -> y": FD(one, (two,), one)}
        print_outcome(
            Outcome(record(one, two), {("fd", one): Diff(lost=lost, witnesses={"x -> y": Witness((1,))})}), one
        )
        with TerminalProgress() as progress:
            progress.note(one)
            progress.step(two)
    assert hidden(written.text) == []
    written.text.encode("utf-8")


class _Screen:
    """A stream that keeps what is written; nobody looks at it."""

    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


def record(table: str, batch_id: str) -> BatchRecord:
    return BatchRecord(1, batch_id, table, "2024-01-01T00:00:00.000", "inserts", 1, 0, 0, 0.1)


@given(SOME, SOME, SOME)
def test_pictures_and_pages_are_visible(table: str, column: str, other: str) -> None:
    proposal = IND(Side("a", (column,)), Side("b", (other,)), score=1.0)
    tables = list(dict.fromkeys(["a", "b", table]))
    mermaid, graphviz = picture.mermaid(tables, [proposal]), picture.graphviz(tables, [proposal])
    assert hidden(mermaid + graphviz + html_table([column], [[other]], [column])) == []
    unescaped = graphviz.replace("\\\\", "").replace('\\"', "")
    for drawn in (mermaid, unescaped):  # a name neither adds a line nor ends its quotes
        assert [line.count('"') for line in drawn.splitlines() if '"' in line] == [2] * (len(tables) + 1)


def test_what_means_something_to_mermaid_and_graphviz_is_a_text() -> None:
    nasty = '<img src=x onerror=alert(1)> "#quot; `b` &amp; \\N'
    assert picture.mermaid([nasty], []).splitlines()[2:] == [
        '  t0["#60;img src=x onerror=alert(1)#62; #34;#35;quot; #96;b#96; #38;amp; \\N"]'
    ]
    assert picture.graphviz([nasty], []).splitlines()[3] == (
        '  t0 [label="<img src=x onerror=alert(1)> \\"#quot; `b` &amp;amp; \\\\N"];'
    )


def test_print_of_results_is_visible(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.table({NASTY: ["1", "1", NASTY.replace("\x00", "")], "x": ["a\x1b[1m", "b\u202e", "c"]})
    checked = hf.check({NASTY: table}, [f'"{NASTY}" -> x'])
    print(hf.discover({NASTY: table}, "fd,column"), checked, checked.listings[0])
    for listing in checked.listings:
        print_listings([listing], 3, True)
        print_listings([listing], 3, False)
    with hf.Monitor.create(tmp_path / "s", {"t": table}, watch="fd,column") as watch:
        print(watch, watch.rule_history(), watch.apply(inserts=table.slice(0, 1), batch_id=NASTY))
    assert hidden(capsys.readouterr().out) == []


def test_values_that_look_like_markup_or_emoji_stay_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal().print(text_table(["[b]h[/b]"], [["[red]:smile:[/red] \\"]]))
    shown = capsys.readouterr().out
    assert "[red]:smile:[/red] \\" in shown
    assert "[b]h[/b]" in shown


def test_errors_in_python_are_visible() -> None:
    with pytest.raises(hf.BadInput) as raised:
        hf.discover("no\x1b[31msuch\u202efile.csv")
    assert hidden(str(raised.value)) == []


def test_only_one_module_prints() -> None:
    """So that nothing can be printed raw: the others go through `report.terminal`."""
    source = Path(hf.__file__).parent
    for path in source.rglob("*.py"):
        if path.relative_to(source) == Path("report/terminal.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                place = f"{path}:{node.lineno}: {called}"
                raw = called in ("print", "typer.echo", "typer.secho", "Console", "rich.print")
                raw |= called.endswith((".stdout.write", ".stderr.write"))
                assert not raw or path.name == "file.py", place  # `python -m holdfast.rules.file` prints a constant
