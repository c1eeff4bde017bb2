"""Pieces in threads: what one raises ends them all, and soon; answers come in order; progress is seen."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from holdfast.errors import BadInput
from holdfast.table.threads import each


def test_an_error_in_one_piece_ends_all() -> None:
    def work(piece: int, so_far: Callable[[int], None]) -> int:
        if piece == 0:
            raise BadInput("no space")
        while True:
            so_far(0)
            time.sleep(0.01)

    with pytest.raises(BadInput, match="no space"):
        each([0, 1, 2], work, workers=3)


def test_of_several_errors_that_of_the_first_piece_is_raised() -> None:
    def work(piece: int, _: Callable[[int], None]) -> int:
        time.sleep(0.05 if piece == 1 else 0)
        raise BadInput(f"piece {piece}")

    with pytest.raises(BadInput, match="piece 1"):
        each([1, 2, 3], work, workers=2)


@pytest.mark.parametrize("workers", [0, 1, 2, None])
def test_answers_are_in_order(workers: int | None) -> None:
    def work(piece: int, so_far: Callable[[int], None]) -> int:
        so_far(1)
        time.sleep(0.01 * (3 - piece))
        return piece * piece

    assert each([0, 1, 2], work, workers) == [0, 1, 4]


def test_progress_is_seen_even_of_a_single_piece() -> None:
    seen: list[tuple[int, int]] = []

    def work(_: str, so_far: Callable[[int], None]) -> None:
        so_far(7)
        deadline = time.monotonic() + 20
        while (0, 7) not in seen and time.monotonic() < deadline:
            time.sleep(0.01)

    each(["only"], work, progress=lambda done, amount: seen.append((done, amount)))
    assert (0, 7) in seen


def test_a_progress_that_raises_ends_all() -> None:
    def work(_: int, so_far: Callable[[int], None]) -> None:
        while True:
            so_far(0)
            time.sleep(0.01)

    def stop(_: int, __: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        each([1, 2], work, workers=2, progress=stop)
