"""Names in the texts of rules: written and read back."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.quotes import NAME, between, in_quotes, quoted, unquoted


@given(st.text() | st.text("\"'`ab"))
def test_names_read_back(name: str) -> None:
    written = quoted(name)
    assert re.fullmatch(NAME, written)
    assert unquoted(written) == name
    for quote in "\"'`":
        assert re.fullmatch(between(quote), in_quotes(name, quote))
        assert unquoted(in_quotes(name, quote)) == name


def test_plain_words_stand_as_they_are() -> None:
    assert [quoted(name) for name in ("Zip", "größe", "_a1")] == ["Zip", "größe", "_a1"]
    assert [quoted(name) for name in ("", "1a", "a b", 'a"b', "a-b")] == ['""', '"1a"', '"a b"', '"a""b"', '"a-b"']
