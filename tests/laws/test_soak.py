"""A few of the streams that `soak.py` runs by the thousand, so that it is known to work."""

from __future__ import annotations

import pytest

from tests.laws.soak import main, run


@pytest.mark.parametrize("number", range(8))
def test_a_stream(number: int) -> None:
    wrong = run(2026, number)
    assert wrong is None, wrong


def test_what_is_printed_reproduces(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--streams", "1", "--seed", "5", "--first", "3"]) == 0
    assert capsys.readouterr().out == "seed 5: streams 3 to 3\nseed 5: 1 streams, 0 failed\n"
