"""Durations: what they mean, and which texts are none."""

from datetime import timedelta

import pytest

from holdfast.errors import BadInput
from holdfast.text.durations import duration


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("500ms", timedelta(milliseconds=500)),
        ("90s", timedelta(seconds=90)),
        ("15m", timedelta(minutes=15)),
        ("12h", timedelta(hours=12)),
        ("30d", timedelta(days=30)),
        ("2w", timedelta(days=14)),
        ("0.5d", timedelta(hours=12)),
        (" 1 D ", timedelta(days=1)),
    ],
)
def test_a_number_and_a_unit(text: str, meant: timedelta) -> None:
    assert duration(text) == meant


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "30 days", "1y", "1e3d", "nand"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is no duration: give a number and ms, s, m, h, d or w"):
        duration(text)


@pytest.mark.parametrize(
    ("text", "wrong"), [("0s", "no time at all"), ("0d", "no time at all"), ("9" * 30 + "d", "too long")]
)
def test_what_is_too_short_or_too_long_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(BadInput, match=f"{text!r} is {wrong}; give"):
        duration(text)
