"""In Markdown, nothing that comes from others is markup."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from holdfast.report.ci.markdown import code, markdown_text
from holdfast.report.ci.summary import RuleSummary, Summary
from holdfast.results.verdict import Block
from holdfast.visible import visible
from tests.report.ci.summaries import summaries, texts

PARSER = MarkdownIt("commonmark").enable("table")
BLOCKS = {"heading", "paragraph", "inline", "fence", "html_block", "table", "thead", "tbody", "tr", "th", "td"}
ALLOWED = {"text", "code_inline", "strong_open", "strong_close", "softbreak"}


def inside(tokens: list[Token]) -> list[Token]:
    """All tokens, those within lines too."""
    return [each for token in tokens for each in (token, *(token.children or ()))]


@given(summaries)
def test_texts_are_no_markup(summary: Summary) -> None:
    tokens = PARSER.parse(markdown_text(summary))
    lines = [child for token in tokens for child in token.children or ()]
    assert {token.type for token in lines} <= ALLOWED
    assert {token.type.removesuffix("_open").removesuffix("_close") for token in tokens} <= BLOCKS
    html = [token.content.strip() for token in tokens if token.type == "html_block"]
    assert all(each.startswith("<details><summary>") or each == "</details>" for each in html)
    assert len(html) == 2 * bool(summary.rules)
    headings = [token for token in tokens if token.type == "heading_open"]
    assert [heading.tag for heading in headings] == ["h3"]
    fences = [token.content for token in tokens if token.type == "fence"]
    assert fences == ["".join(f"{visible(row)}\n" for row in block.rows) for block in summary.blocks if block.rows]


@given(texts)
def test_code_is_the_text(text: str) -> None:
    (line,) = (token for token in PARSER.parse(f"x{code(text)}") if token.type == "inline")
    shown = [child.content for child in line.children or () if child.type == "code_inline"]
    assert shown == [visible(text)] or not text.strip()


@given(st.lists(texts.filter(str.strip), min_size=1, max_size=3))
def test_a_row_of_the_table_for_each_rule(names: list[str]) -> None:
    rules = [RuleSummary("t", name, name, "holds") for name in names]
    tokens = inside(PARSER.parse(markdown_text(Summary("", rules))))
    assert [token.content.strip() for token in tokens if token.type == "code_inline"] == [
        visible(name).strip() for name in names
    ]
    assert sum(token.type == "td_open" for token in tokens) == 3 * len(names)


def test_it_reads_as_the_verdict_does() -> None:
    rule = RuleSummary("t", "zip -> city", "zip -> city", "failed", count=2)
    block = Block("failed", "zip -> city has 2 violations", ["row 3: city Brelin"])
    assert markdown_text(Summary("t: 1 of 1 rule failed.", [rule], [block])) == (
        "### Holdfast: failed\n\nt: 1 of 1 rule failed.\n\n"
        "**Failed:** `zip -> city has 2 violations`\n\n```text\nrow 3: city Brelin\n```\n\n"
        "<details><summary>1 rule</summary>\n\n"
        "| rule | result | violations |\n| --- | --- | --: |\n| `zip -> city` | failed | 2 |\n\n</details>\n\n"
    )


def test_what_is_long_is_bounded() -> None:
    rules = [RuleSummary("t", "r" * 900, "r" * 900, "failed") for _ in range(2000)]
    blocks = [Block("failed", "b" * 9000, ["v" * 9000] * 4) for _ in range(2000)]
    text = markdown_text(Summary("", rules, blocks))
    assert len(text.encode()) < 1 << 20
    assert "… and 1,950 more rules" in text
    assert "… and 1,800 more rules" in text
