"""Dictionaries: a dense code for each distinct value of a column, given once and never changed by a batch.

Code 0 is null. Values live in **runs**: the first run holds the values the table started with, each later one those
that some batches brought. A run keeps its values in code order (so decoding is an index) and the permutation that
sorts them (none where the code order is the sorted order, as in a fresh run).

A dictionary is a value: `extended` gives a new one that shares the runs, so a batch that fails leaves nothing behind.
Small runs are merged as they come, and equals meet equals, so there are O(log n) runs.
Cost: a look-up of m values is O(m log n) per run; decoding is O(1) a value.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.table import arrow, images
from holdfast.table.images import Images

NULL_CODE = 0
_SMALL = 1 << 16
_SORTED: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Run:
    """Values of codes `first …`, in code order, with the order that sorts them (empty: already sorted)."""

    first: int
    values: Images
    order: NDArray[np.int64] = field(default_factory=lambda: _SORTED)
    # Integers are searched with NumPy, which wants them sorted side by side.
    sorted_numbers: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def nbytes(self) -> int:
        """The bytes of values and order, as a file keeps them."""
        return int(self.values.nbytes) + self.order.nbytes

    def search(self, wanted: Images) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """For each image: how many of the run's are below it, and whether it is among them."""
        if isinstance(wanted, np.ndarray):
            numbers = self.values if self.sorted_numbers is None else self.sorted_numbers
            at = np.searchsorted(numbers, wanted)
            inside = np.minimum(at, max(len(numbers) - 1, 0))
            found = numbers[inside] == wanted if len(numbers) else np.zeros(len(wanted), np.bool_)
            return at, found
        from holdfast.kernels.strings import lower_bound

        at, found = np.empty(len(wanted), np.int64), np.empty(len(wanted), np.bool_)
        offsets, data = images.bytes_of(self.values)
        asked, asked_data = images.bytes_of(wanted)
        lower_bound(
            _frozen(offsets), _frozen(data), _frozen(self.order), _frozen(asked), _frozen(asked_data), at, found
        )
        return at, found

    def codes_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The codes at some places of the sorted order."""
        return self.first + (self.order[places] if len(self.order) else places)

    def merged(self, later: Run) -> Run:
        """This run and the one whose codes follow, as one. O(n) moves and O(m log n) comparisons."""
        sorted_later = later.values if not len(later.order) else images.take(later.values, later.order)
        at, _ = self.search(sorted_later)
        mine = self.order if len(self.order) else np.arange(len(self))
        theirs = len(self) + (later.order if len(later.order) else np.arange(len(later)))
        values = images.concat([self.values, later.values])
        order = np.insert(mine, at, theirs)
        return Run.of(self.first, values, order)

    def only(self, first: int, places: NDArray[np.int64]) -> Run:
        """The values at some places, ascending, as a run of their own. O(n), without a comparison."""
        order = _SORTED
        if len(self.order):
            rank = np.full(len(self), -1, np.int64)
            rank[places] = np.arange(len(places))
            order = rank[self.order]
            order = order[order >= 0]
        return Run.of(first, images.take(self.values, places), order)

    @staticmethod
    def of(first: int, values: Images, order: NDArray[np.int64] = _SORTED) -> Run:
        """A run from what a file holds."""
        numbers = values[order] if isinstance(values, np.ndarray) and len(order) else None
        return Run(first, values, order, numbers)


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The values of one column and their codes."""

    kept: pa.DataType
    runs: tuple[Run, ...] = ()

    def __len__(self) -> int:
        """How many codes there are, null's included: the next code to give."""
        return self.runs[-1].first + len(self.runs[-1]) if self.runs else 1

    def lookup(self, wanted: Images) -> NDArray[np.int64]:
        """The code of each image, -1 where it has none."""
        codes = np.full(len(wanted), -1, np.int64)
        missing = np.arange(len(wanted))
        for run in self.runs:
            if not len(missing):
                break
            at, found = run.search(wanted if len(missing) == len(wanted) else images.take(wanted, missing))
            codes[missing[found]] = run.codes_at(at[found])
            missing = missing[~found]
        return codes

    def extended(self, fresh: Images) -> Dictionary:
        """A dictionary that also holds some fresh images, given sorted: they get the next codes in that order."""
        return self.appended(Run(len(self), fresh)) if len(fresh) else self

    def appended(self, run: Run) -> Dictionary:
        """A dictionary with one more run, whose codes follow on."""
        runs = [*self.runs, run]
        while len(runs) > 1 and _worth_merging(runs[-2], runs[-1]):
            later = runs.pop()
            runs[-1] = runs[-1].merged(later)
        return replace(self, runs=tuple(runs))

    def only(self, codes: NDArray[np.int64]) -> Dictionary:
        """A dictionary in one run that holds the values of some codes alone: of `codes[i]`, ascending and null's first,
        the new code is i.
        """
        runs = []
        for run in self.runs:
            low, high = np.searchsorted(codes, [run.first, run.first + len(run)])
            if low < high:
                runs.append(run.only(int(low), codes[low:high] - run.first))
        while len(runs) > 1:  # the later ones are the smaller ones
            later = runs.pop()
            runs[-1] = runs[-1].merged(later)
        return replace(self, runs=tuple(_told_if_sorted(run) for run in runs))

    @property
    def nbytes(self) -> int:
        """The bytes of all runs."""
        return sum(run.nbytes for run in self.runs)

    def extends(self, older: Dictionary) -> bool:
        """Whether every code of an older dictionary stands for the same value here.

        Versions share the runs that weren't merged since, so no more is compared than merging them has moved.
        """
        shared = {id(run) for run in self.runs}
        return len(older) <= len(self) and all(
            id(run) in shared or images.same(self.image_range(run.first, len(run)), run.values) for run in older.runs
        )

    def values(self, codes: NDArray[Any]) -> pa.Array:
        """The values of some codes, null for code 0."""
        codes = codes.astype(np.int64)
        given = codes[codes != NULL_CODE]
        parts, places = [], []
        for run in self.runs:
            inside = np.flatnonzero((given >= run.first) & (given < run.first + len(run)))
            if len(inside):
                parts.append(images.take(run.values, given[inside] - run.first))
                places.append(inside)
        back = np.full(len(codes), -1, np.int64)
        if parts:
            back[np.flatnonzero(codes != NULL_CODE)[np.concatenate(places)]] = np.arange(len(given))
        plain = images.from_images(images.concat(parts or [images.none_of(self.kept)]), self.kept)
        return plain.take(arrow.from_numpy(back, null=back < 0))

    def image_range(self, first: int, count: int) -> Images:
        """The images of `count` codes from `first` on, in code order."""
        parts = [
            run.values[max(first - run.first, 0) : max(first + count - run.first, 0)]
            for run in self.runs
            if run.first < first + count and first < run.first + len(run)
        ]
        return images.concat(parts) if parts else images.none_of(self.kept)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: memory-mapped arrays are read-only, and a kernel is compiled anew for each mix of flags."""
    view = array.view()
    view.flags.writeable = False
    return view


def _told_if_sorted(run: Run) -> Run:
    """The same run, which need not keep an order that sorts nothing."""
    return Run.of(run.first, run.values) if np.array_equal(run.order, np.arange(len(run))) else run


def _worth_merging(earlier: Run, later: Run) -> bool:
    """Small runs always, larger ones with their like; the values a table started with stay where they are."""
    if earlier.first == 1 and len(earlier) > _SMALL:
        return len(earlier) <= len(later)
    return len(earlier) <= _SMALL or len(earlier) <= 2 * len(later)


def encode(dictionary: Dictionary, distinct: Images) -> tuple[NDArray[np.int64], Dictionary]:
    """The codes of sorted distinct images, and the dictionary with those that were new."""
    codes = dictionary.lookup(distinct)
    new = np.flatnonzero(codes < 0)
    codes[new] = len(dictionary) + np.arange(len(new))
    fresh = distinct if len(new) == len(distinct) else images.take(distinct, new)
    return codes, dictionary.extended(fresh)
