"""Runners: the same function over many items, in threads here or in tasks elsewhere, with equal results.

A function given to a runner is importable by name, its items and answers are small and picklable, and big inputs go
by path. Answers come back in the order of the items.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Runner(Protocol):
    """Runs a function over items."""

    def map(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """The answers, in the order of the items."""


class Threads:
    """Runs in threads of this process: NumPy, Arrow and our kernels release the GIL."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers or os.cpu_count() or 1

    def map(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """The answers, in the order of the items."""
        if len(items) < 2:
            return [function(item) for item in items]
        with ThreadPoolExecutor(self._workers) as pool:
            return list(pool.map(function, items))
