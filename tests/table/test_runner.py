"""Threads give the answers in the order of the items."""

from __future__ import annotations

import threading
import time

import pytest

from holdfast.table.runner import Threads


@pytest.mark.parametrize("workers", [1, 2, 8, None])
def test_answers_come_in_the_order_of_the_items(workers: int | None) -> None:
    def slow_first(item: int) -> int:
        time.sleep(0.002 * (8 - item))
        return item * item

    assert Threads(workers).map(slow_first, list(range(8))) == [n * n for n in range(8)]


@pytest.mark.parametrize("count", [0, 1])
def test_few_items_need_no_thread(count: int) -> None:
    assert Threads().map(lambda _: threading.current_thread(), [None] * count) == [threading.current_thread()] * count


def test_items_run_at_the_same_time() -> None:
    meeting = threading.Barrier(3, timeout=20)
    assert sorted(Threads(3).map(lambda _: meeting.wait(), [None] * 3)) == [0, 1, 2]


def test_an_error_comes_out() -> None:
    def fussy(item: int) -> int:
        if item == 3:
            raise KeyError(item)
        return item

    with pytest.raises(KeyError):
        Threads(2).map(fussy, list(range(6)))
