"""Summaries of any content: texts with markup, marks of every format, and characters that hide."""

from __future__ import annotations

from hypothesis import strategies as st

from holdfast.report.ci.summary import Place, RuleSummary, Summary, Violation
from holdfast.results.verdict import Block

NASTY = [
    "a|b", "``` x", "`", "</details><script>", "]]>", "<b>&amp;", "[a](http://b)", "@team", "#1", "**x**", "\\", "\\|",
    "$x$", "--", "- a", "+ a", "1. a", "23) a", "# a", "=", "> a", "  - a", "    a",
    "\x1b[31m", "\ufffe\uffff\ud800", "line\nbreak", " ", "", "é…",
]  # fmt: skip
texts = st.sampled_from(NASTY) | st.text(alphabet="ab |`\\<&*", max_size=6)
names = texts.filter(str.strip)
places = st.builds(Place, st.sampled_from(["rules.yaml", "a b.csv", "/else/ü.csv"]), st.none() | st.integers(1, 9))
violations = st.builds(Violation, texts, texts, st.lists(places, max_size=2).map(tuple))
rules = st.builds(
    RuleSummary,
    table=st.sampled_from(["t", "a|b"]),
    rule=names,
    text=names,
    standing=st.sampled_from(["failed", "known", "warning", "holds"]),
    said=texts,
    rows=st.lists(texts, max_size=2),
    note=texts,
    place=st.none() | places,
    count=st.integers(0, 2000),
    violations=st.lists(violations, max_size=3),
)
blocks = st.builds(Block, st.sampled_from(["failed", "known", "warning"]), texts, st.lists(texts, max_size=2))
summaries = st.builds(
    Summary,
    line=texts,
    rules=st.lists(rules, max_size=4),
    blocks=st.lists(blocks, max_size=3),
    more=st.lists(texts, max_size=2),
    errors=st.lists(names, max_size=2),
    refused=st.just("") | names,
    skipped=st.just("") | names,
)
