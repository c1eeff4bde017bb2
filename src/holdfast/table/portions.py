"""Portions of neighbouring things, each of a bounded size in all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def portions(sized: Iterable[tuple[T, int]], most: int) -> Iterator[list[T]]:
    """Things with their sizes, in order, as portions whose sizes add up to `most` at most; one that is larger is alone.

    >>> list(portions([("a", 2), ("b", 3), ("c", 1), ("d", 9)], 5))
    [['a', 'b'], ['c'], ['d']]
    """
    portion: list[T] = []
    total = 0
    for thing, size in sized:
        if portion and total + size > most:
            yield portion
            portion, total = [], 0
        portion.append(thing)
        total += size
    if portion:
        yield portion
