"""The list of what tests need names tests that are there: a test that is renamed would run where it should not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.needs import LISTED


@pytest.mark.parametrize("place", LISTED)
def test_what_is_listed_is_there(place: str) -> None:
    file, _, test = place.partition("::")
    assert f"def {test or 'test_'}" in (Path(__file__).parent / file).read_text(encoding="utf-8")
