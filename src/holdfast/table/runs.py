"""Runs: the values of neighbouring codes, in code order, with the order that sorts them.

A run lies in memory, or in a segment file that is mapped. Of a file no more is read than is needed: a few values are
found by halving, and looked up by their places, so that a small batch costs the same however many values there are.
Where many are needed, the whole run is checked once, and searched by a kernel.

Cost: a few values among n take O(log n) steps of Python each; many take O(log n) steps of a kernel each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import frozen
from holdfast.kernels.strings import lower_bound
from holdfast.table import images
from holdfast.table.checks import CheckedArrays
from holdfast.table.images import Images

SORTED: NDArray[np.int64] = np.empty(0, np.int64)  # the order of values that lie in order
_FEW = 64  # values, which are found by halving; a kernel takes longer to load
_SORTED_AGAIN = 1 << 17  # values of runs that are joined by sorting them
_SEVERAL = 1024  # values, after which a file is checked whole all the same


class ValueRun:
    """Values of codes `first …`, in code order, with the order that sorts them (empty: already sorted)."""

    def __init__(self, first: int, values: Images, order: NDArray[np.int64] = SORTED) -> None:
        self.first, self.values, self.order = first, values, order

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def nbytes(self) -> int:
        """The bytes of values and order, as a file keeps them."""
        return int(self.values.nbytes) + int(self.order.nbytes)

    def search(self, wanted: Images) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """For each image: how many of the run's are below it, and whether it is among them."""
        if isinstance(wanted, np.ndarray):
            numbers = self._sorted_numbers
            at = np.searchsorted(numbers, wanted)
            inside = np.minimum(at, max(len(numbers) - 1, 0))
            return at, numbers[inside] == wanted if len(numbers) else np.zeros(len(wanted), np.bool_)
        at, found = np.empty(len(wanted), np.int64), np.empty(len(wanted), np.bool_)
        offsets, data = images.bytes_of(self.values)
        offsets_wanted, data_wanted = images.bytes_of(wanted)
        lower_bound(
            frozen(offsets), frozen(data), frozen(self.order), frozen(offsets_wanted), frozen(data_wanted), at, found
        )
        return at, found

    @cached_property
    def _sorted_numbers(self) -> NDArray[np.int64]:
        """Numbers are searched with NumPy, which wants them in order."""
        numbers: NDArray[np.int64] = self.values
        return numbers[self.order] if len(self.order) else numbers

    def codes_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The codes at some places of the sorted order."""
        return self.first + self._places(places)

    def _places(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places in code order of some places of the sorted order."""
        return self.order[at] if len(self.order) else at

    def ranks(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places in the sorted order of the values at some places of the code order."""
        return self._ranks[places] if len(self.order) else places

    @cached_property
    def _ranks(self) -> NDArray[np.int64]:
        """The place in the sorted order of each value."""
        ranks = np.empty(len(self), np.int64)
        ranks[self.order] = np.arange(len(self))
        return ranks

    def take(self, places: NDArray[np.int64]) -> Images:
        """The values at some places of the code order."""
        return images.take(self.values, places)

    def between(self, start: int, stop: int) -> Images:
        """The values from one place of the code order to another."""
        return self.values[start:stop]

    def merged(self, later: ValueRun) -> ValueRun:
        """This run and the one whose codes follow, as one. O(n) moves and O(m log n) comparisons."""
        sorted_later = later.values if not len(later.order) else images.take(later.values, later.order)
        at, _ = self.search(sorted_later)
        mine = self.order if len(self.order) else np.arange(len(self))
        theirs = len(self) + (later.order if len(later.order) else np.arange(len(later)))
        values = images.concat([self.values, later.values])
        return ValueRun(self.first, values, np.insert(mine, at, theirs))

    def only(self, first: int, places: NDArray[np.int64]) -> ValueRun:
        """The values at some places, ascending, as a run of their own. O(n), without a comparison."""
        order = SORTED
        if len(self.order):
            rank = np.full(len(self), -1, np.int64)
            rank[places] = np.arange(len(places))
            order = rank[self.order]
            order = order[order >= 0]
        return ValueRun(first, images.take(self.values, places), order)


class FileRun(ValueRun):
    """A run in a segment file."""

    def __init__(self, first: int, arrays: CheckedArrays, column: int) -> None:
        self.first = first
        self._arrays, self._value, self._place = arrays, f"value/{column}", f"order/{column}"
        self._ordered = self._place in arrays and len(arrays.unchecked(self._place)) > 0
        self._length = len(arrays.unchecked(self._value))
        self._asked = 0

    @cached_property
    def values(self) -> Images:
        """All values."""
        return self._arrays[self._value]

    @cached_property
    def order(self) -> NDArray[np.int64]:  # type: ignore[override]  # read when it is needed
        """The places of the values, in the order of the values; empty where they lie in order."""
        return np.asarray(self._arrays[self._place]) if self._ordered else SORTED

    def __len__(self) -> int:
        return self._length

    @cached_property
    def nbytes(self) -> int:
        """The bytes of values and order, as a file keeps them."""
        names = [self._value, *([self._place] if self._ordered else ())]
        return sum(int(self._arrays.unchecked(name).nbytes) for name in names)

    def search(self, wanted: Images) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """For each image: how many of the run's are below it, and whether it is among them."""
        self._asked += len(wanted)
        if self._is_whole or len(wanted) > _FEW or self._asked > _SEVERAL or not len(self):
            return super().search(wanted)
        try:
            return self._halved(wanted.tolist())
        except IndexError:  # an order that leads beyond the values: the check says where
            return super().search(wanted)

    @property
    def _is_whole(self) -> bool:
        """Whether all of it has been checked."""
        return "values" in vars(self) and (not self._ordered or "order" in vars(self))

    def _halved(self, wanted: list[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The same for a few images, in steps of Python. What the search compared last is checked: bits that turned
        elsewhere can't have led it astray.
        """
        at = np.array([bisect_left(range(len(self)), each, key=self._value_at) for each in wanted], np.int64)
        inside = np.minimum(at, len(self) - 1)
        self.take(self._places(np.maximum(at - 1, 0)))
        met = self.take(self._places(inside)).tolist()
        return at, np.array([a == b for a, b in zip(met, wanted, strict=True)], np.bool_) & (at == inside)

    @cached_property
    def _value_at(self) -> Callable[[int], Any]:
        """Gives the value at a place of the sorted order, without a check."""
        values = self._arrays.unchecked(self._value)
        order = self._arrays.unchecked(self._place) if self._ordered else SORTED
        read: Callable[[int], Any] = values.__getitem__
        if not isinstance(values, np.ndarray):
            offsets, data = images.bytes_of(values)

            def read(place: int) -> bytes:
                return data[offsets[place] : offsets[place + 1]].tobytes()

        return (lambda place: read(order[place])) if len(order) else read

    def ranks(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places in the sorted order of the values at some places of the code order."""
        if self._ordered and len(places) <= _FEW and not self._is_whole:
            return self.search(self.take(places))[0]
        return super().ranks(places) if self._ordered else places

    def _places(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places in code order of some places of the sorted order."""
        return self._arrays.some(self._place, at).astype(np.int64) if self._ordered else at

    def take(self, places: NDArray[np.int64]) -> Images:
        """The values at some places of the code order."""
        return self._arrays.some(self._value, places)

    def between(self, start: int, stop: int) -> Images:
        """The values from one place of the code order to another."""
        return self._arrays.some(self._value, slice(start, stop))


def joined(runs: Sequence[ValueRun]) -> ValueRun:
    """Runs whose codes follow each other as one: few values are sorted again, many are merged, the later ones first."""
    if len(runs) == 1:
        return runs[0]
    if sum(map(len, runs)) <= _SORTED_AGAIN and len(runs) > 2:
        values = images.concat([run.values for run in runs])
        return ValueRun(runs[0].first, values, images.sorting_order(values))
    whole = runs[-1]
    for earlier in reversed(runs[:-1]):
        whole = earlier.merged(whole)
    return whole
