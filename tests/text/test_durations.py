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


@pytest.mark.parametrize("text", ["", "30", "d", "0d", "-1d", "30 days", "1y", "1e3d", "9" * 30 + "d", "nand"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is no duration: give a number and ms, s, m, h, d or w"):
        duration(text)
