"""Runners: the same function over many items, in threads here or in tasks elsewhere, with equal results.

A function given to a runner is importable by name, or a `partial` of one that is; its items and answers are small and
picklable, and big inputs go by path, unless the runner `is_local`. Answers come back in the order of the items.

Spark may run a function twice for an item (speculation, lost machines), and the second time after the answer of the
first was used. So whatever a function writes has a name that it makes up itself (`files.new_path`) and answers with:
only files whose names came back count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from holdfast.table.threads import each

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Runner(Protocol):
    """Runs a function over items."""

    @property
    def is_local(self) -> bool:
        """Whether functions run in this process and share its memory: then they may be given what it has open."""

    def map(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """The answers, in the order of the items."""


class Threads:
    """Runs in threads of this process: NumPy, Arrow and our kernels release the GIL."""

    is_local = True

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers

    def map(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """The answers, in the order of the items."""
        return each(items, lambda item, _: function(item), self._workers)
