"""Dictionaries: a dense code for each distinct value of a column, given once and never changed by a batch.

Code 0 is null. Values live in **runs**: the first run holds the values the table started with, each later one those
that some batches brought. A run keeps its values in code order, so decoding is an index, and the permutation that sorts
them (see `runs`).

A dictionary is a value: `extended` gives a new one that shares the runs, so a batch that fails leaves nothing behind.
Small runs are merged as they come, and equals meet equals, so there are O(log n) runs.
Cost: a look-up of m values is O(m log n) per run; decoding is O(1) a value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.table import arrow, images
from holdfast.table.images import Images
from holdfast.table.runs import ValueRun, joined

NULL_CODE = 0
_SMALL = 1 << 16


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The values of one column and their codes."""

    kept: pa.DataType
    runs: tuple[ValueRun, ...] = ()

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
        return self.appended(ValueRun(len(self), fresh)) if len(fresh) else self

    def appended(self, *more: ValueRun) -> Dictionary:
        """A dictionary with some more runs, whose codes follow on."""
        runs = [*self.runs, *more]
        start, size = len(runs) - 1, len(runs[-1]) if runs else 0
        while start > 0 and _worth_merging(runs[start - 1], size):
            start -= 1
            size += len(runs[start])
        return replace(self, runs=(*runs[:start], joined(runs[start:]))) if more else self

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
        return replace(self, runs=tuple(_without_order_if_sorted(run) for run in runs))

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
        found, places = self._found(codes.astype(np.int64))
        plain = images.from_images(found, self.kept)
        return plain if places is None else plain.take(arrow.from_numpy(places, null=places < 0))

    def images(self, codes: NDArray[np.int64]) -> Images:
        """The images of some codes, null's not among them."""
        found, places = self._found(codes)
        return found if places is None else images.take(found, places)

    def _found(self, codes: NDArray[np.int64]) -> tuple[Images, NDArray[np.int64] | None]:
        """The images of some codes run by run, and the place of each code's among them, -1 for null. None: they stand
        as the codes do, as one run holds them all, which is much less to do.
        """
        least, greatest = (int(codes.min()), int(codes.max())) if len(codes) else (NULL_CODE, NULL_CODE)
        parts, places, count = [images.none_of(self.kept)], np.full(len(codes), -1, np.int64), 0
        for run in self.runs:
            end = run.first + len(run)
            if run.first <= least and greatest < end:
                return run.take(codes - run.first), None
            inside = np.flatnonzero((codes >= run.first) & (codes < end))
            if len(inside):
                parts.append(run.take(codes[inside] - run.first))
                places[inside] = np.arange(count, count + len(inside))
                count += len(inside)
        return images.concat(parts), places

    def image_range(self, first: int, count: int) -> Images:
        """The images of `count` codes from `first` on, in code order."""
        parts = [
            run.between(max(first - run.first, 0), max(first + count - run.first, 0))
            for run in self.runs
            if run.first < first + count and first < run.first + len(run)
        ]
        return images.concat(parts) if parts else images.none_of(self.kept)


def _without_order_if_sorted(run: ValueRun) -> ValueRun:
    """The same run, which need not keep an order that sorts nothing."""
    return ValueRun(run.first, run.values) if np.array_equal(run.order, np.arange(len(run))) else run


def _worth_merging(earlier: ValueRun, later: int) -> bool:
    """Small runs always, larger ones once half as many values follow; the values a table started with only once as many
    follow.
    """
    if earlier.first == 1 and len(earlier) > _SMALL:
        return len(earlier) <= later
    return len(earlier) <= _SMALL or len(earlier) <= 2 * later


def encode(dictionary: Dictionary, distinct: Images) -> tuple[NDArray[np.int64], Dictionary]:
    """The codes of sorted distinct images, and the dictionary with those that were new."""
    codes = dictionary.lookup(distinct)
    new = np.flatnonzero(codes < 0)
    codes[new] = len(dictionary) + np.arange(len(new))
    fresh = distinct if len(new) == len(distinct) else images.take(distinct, new)
    return codes, dictionary.extended(fresh)
