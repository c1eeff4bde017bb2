"""The grammar in docs/rules.md and the reader of rules say the same of every text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.rules.registry import given_types, parse
from holdfast.rules.rule import Rule
from tests.rules import some
from tests.rules.grammar import Grammar, tokens_of
from tests.rules.some import with_where

_DOCS = (Path(__file__).parents[2] / "docs" / "rules.md").read_text(encoding="utf-8")
_EBNF = re.search(r"```ebnf\n(.*?)```", _DOCS, re.DOTALL)
assert _EBNF is not None
GRAMMAR = Grammar.of(_EBNF[1])

# What the docs list below the grammar: a sentence of it may be refused for one of these reasons, and for no other.
_BESIDES = [
    "there is no column in this comparison",
    "both sides are constants",
    "needs a column before it",
    "expected a number",  # a quantity that is one; and a sign before true, or before a text
    "is no time; now compares with",
    "expected a share from 0 to 1",
    "escape takes one character",
    "in the pattern, .* may stand only before",
    "is not a (date|time|timestamp)",
    "this number is too large or too small",
    "stands on both sides, so the rule always holds",
    "is there twice; leave one out",
    "the two sides differ in their number of columns",
    "the rows .* and .* don't go together",
    "expected a number of batches from 1 to 1,000",
    "there are more than 100 operators of arithmetic",
    "nested too deep|too many nested parentheses",
]
_FIRST = ("not", "key", "rows", "rows_in_batch", "share", "count", "quantile", "t")  # words that begin rules
many = settings(max_examples=200, deadline=None)

NAMES = ["a", "Zip", "first name", "where", "t", "key", "not", "", 'a "b"', "->", "é"]
CLASSES = [each for each in some.CLASSES if each not in (some.pairs, some.pointwise_rules)]
RULES = st.one_of(*(with_where(each(NAMES), NAMES, texts=True) for each in CLASSES), some.row_rules(NAMES, texts=True))


def _refusal(text: str) -> str:
    """Why the reader refuses a text; nothing where it takes it."""
    try:
        rule = parse(text)
    except BadInput as error:
        return str(error)
    return "" if rule.given_as else f"{text} can only be found"


@st.composite
def _sentences(draw: st.DrawFn) -> str:
    return " ".join(GRAMMAR.sentence(draw, "rule"))


@many
@given(text=_sentences())
def test_the_reader_takes_what_the_grammar_makes(text: str) -> None:
    assert GRAMMAR.accepts(text, "rule")
    refusal = _refusal(text)
    assert not refusal or any(re.search(reason, refusal) for reason in _BESIDES), refusal


@many
@given(rule=RULES)
def test_the_grammar_takes_what_rules_print(rule: Rule) -> None:
    assume(rule.given_as)
    assert GRAMMAR.accepts(rule.text, "rule"), rule.text


@pytest.mark.parametrize("each", given_types(), ids=lambda each: each.__name__)
def test_the_grammar_takes_the_example_of_each_class(each: type[Rule]) -> None:
    assert GRAMMAR.accepts(each.example, "rule")


@pytest.mark.parametrize(
    "text",
    [
        "t . where + t . t <= 0",
        "! t . where + t . key = 49 hours or t.a = 1",
        "t.a = 5. where t.b = 1",
        "not (t.a = -t.b)",
        "not (length(t.a) = 3)",
        "not ((t.a) = 1)",
        "KEY(a) where(t.a = 1)",
        "key(a) in u(b)",
        "not(t.a = true, t.c = 1 and - - 5 = t.b)",
        "t(a)in u(b)",
        "a -> where where t.b = 1",
        "t.a = 1 where + 5 < t.b",
    ],
)
def test_texts_that_one_of_them_once_refused(text: str) -> None:
    assert GRAMMAR.accepts(text, "rule")
    parse(text)


_WORDS = sorted(set(re.findall(r'"([^"]+)"', _EBNF[1])))
_VOCABULARY = [*_WORDS, "a", '"b c"', "5", "1.5", "'x'", "t", ".", "where"]


@st.composite
def _mutated(draw: st.DrawFn) -> str:
    """A sentence, or the text of a rule, with a token or two changed, left out or put in."""
    text = draw(st.one_of(_sentences(), RULES.filter(lambda rule: bool(rule.given_as)).map(lambda rule: rule.text)))
    tokens = [token.text for token in tokens_of(text) or ()]
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(tokens)))
        new = draw(st.sampled_from(_VOCABULARY))
        tokens[at : at + draw(st.integers(0, 1))] = draw(st.sampled_from([[], [new]]))
    return " ".join(tokens)


@settings(max_examples=600, deadline=None)
@given(text=_mutated())
def test_both_refuse_and_take_the_same(text: str) -> None:
    refusal = _refusal(text)
    if not refusal:
        assert GRAMMAR.accepts(text, "rule"), text
    elif GRAMMAR.accepts(text, "rule") and not text.lower().startswith(_FIRST):
        assert any(re.search(reason, refusal) for reason in _BESIDES), refusal
