"""Order keys: a 64-bit integer for each code of a column; keys compare as the values do.

For numbers, dates and the like the key is the value's image. For text it is a **label**: labels leave gaps, a value
that arrives between two others gets a label between theirs, and where a gap is full the labels around it are spread
again. Labels are made from the dictionary when needed and never stored, so nothing on disk depends on them;
`generation` counts the spreads, after which an index that holds old labels must be translated.

The values that the dictionary started with need no label of their own: theirs follow from their places in its order. So
a process that opens a table and asks for a few keys makes a few keys; one that asks for many makes all, and keeps them.

Cost: a key of a text is O(log n), or O(1) once all are kept; following a batch of m new values is O(m log n); a spread
is one pass over the labels, and as it makes room in proportion to the values it moves, spreads are rare.
"""

from __future__ import annotations

import threading
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from holdfast.table import images
from holdfast.table.dictionary import Dictionary
from holdfast.table.images import NULL_KEY
from holdfast.table.runs import ValueRun

_LIMIT = 1 << 62
_FEW = 16  # keys are made one by one while fewer than one in 16 is needed


class OrderKeys:
    """The order keys of one column, kept current with its dictionary.

    Promises: for codes a, b of the dictionary it followed last, `of(a) < of(b)` iff value(a) < value(b); null has the
    lowest key. An older version of the dictionary changes nothing. One that has parted ways with the last (a batch
    failed after its values had got codes, and the next one gives these codes to others) costs new keys for all.
    Threads may share it: all that readers see is one `_Keys`, which is replaced whole, under a lock.
    """

    def __init__(self, dictionary: Dictionary, gap: int = 1 << 32) -> None:
        self._keys = _Keys(dictionary, gap)
        self._lock = threading.Lock()  # of those who replace them

    @property
    def generation(self) -> int:
        """How often keys were replaced."""
        return self._keys.generation

    def of(self, codes: NDArray[np.unsignedinteger] | NDArray[np.int64]) -> NDArray[np.int64]:
        """The keys of some codes."""
        keys = self._keys
        if keys.are_worth_keeping(len(codes)):
            with self._lock:
                keys = self._keys = self._keys.all_kept()
        return keys.of(codes)

    def follow(self, dictionary: Dictionary) -> None:
        """Take in the values that a newer version of the dictionary has added."""
        if not self._keys.are_those_of(dictionary):
            with self._lock:
                self._keys = self._keys.following(dictionary)


class _Keys:
    """The keys of one version of a dictionary. Nothing that `of` reads changes once it is made: another version has a
    copy of its own, and shares no more than the array, of which it writes only behind the last code of this one.
    """

    def __init__(self, dictionary: Dictionary, gap: int) -> None:
        self.generation = 0
        self._gap = gap
        self._wide = images.is_wide(dictionary.kept)
        self._start_with(dictionary)

    def _start_with(self, dictionary: Dictionary) -> None:
        """Take the first run as it is: its keys follow from its values, and need not be kept."""
        self._first = dictionary.runs[0] if dictionary.runs else ValueRun(1, images.none_of(dictionary.kept))
        self._kept_from = self._size = 1 + len(self._first)  # keys of codes from here on are kept, those below made
        self._keys = np.full(16, NULL_KEY, np.int64)
        self._followed = replace(dictionary, runs=dictionary.runs[:1])
        self._follow(dictionary)

    def are_worth_keeping(self, wanted: int) -> bool:
        """Whether all keys should be kept, where `wanted` of them are needed at once."""
        return bool(self._kept_from) and wanted * _FEW > self._kept_from

    def are_those_of(self, dictionary: Dictionary) -> bool:
        """Whether there is nothing to take in of a dictionary."""
        return dictionary is self._followed or self._followed.extends(dictionary)

    def all_kept(self) -> _Keys:
        """The same keys, all of them kept."""
        keys = copy(self)
        keys._keep_all()
        return keys

    def following(self, dictionary: Dictionary) -> _Keys:
        """The keys of a newer version of the dictionary."""
        keys = copy(self)
        keys._follow(dictionary)
        return keys

    def of(self, codes: NDArray[np.unsignedinteger] | NDArray[np.int64]) -> NDArray[np.int64]:
        """The keys of some codes."""
        if not self._kept_from:
            return self._keys[codes]
        codes = codes.astype(np.int64)
        made = codes < self._kept_from
        keys = np.empty(len(codes), np.int64)
        keys[~made] = self._keys[codes[~made] - self._kept_from]
        keys[made] = self._made(codes[made])
        return keys

    def _made(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The keys of some codes of the first run, or of null."""
        keys = np.full(len(codes), NULL_KEY, np.int64)
        given = codes > 0
        places = codes[given] - 1
        keys[given] = self._label_of(self._first.ranks(places)) if self._wide else self._first.take(places)
        return keys

    def _label_of(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The labels of the first run's values by their places in its order, evenly spread."""
        step = min(self._gap << 8, _LIMIT // (len(self._first) + 1))
        return (ranks - len(self._first) // 2) * step

    def _keep_all(self) -> None:
        """Keep the keys of all codes from now on."""
        if not self._kept_from:
            return
        whole = np.full(max(self._size, self._kept_from + len(self._keys)), NULL_KEY, np.int64)
        if self._wide:
            every = np.arange(len(self._first))
            whole[self._first.codes_at(every)] = self._label_of(every)
        else:
            whole[1 : self._kept_from] = self._first.values
        whole[self._kept_from : self._kept_from + len(self._keys)] = self._keys
        self._keys, self._kept_from = whole, 0

    def _put(self, codes: NDArray[np.int64], keys: NDArray[np.int64]) -> None:
        self._keys[codes - self._kept_from] = keys

    def _follow(self, dictionary: Dictionary) -> None:
        if self.are_those_of(dictionary):
            return None
        if not dictionary.extends(self._followed):
            self.generation += 1
            return self._start_with(dictionary)
        self._followed = dictionary
        old, self._size = self._size, len(dictionary)
        if self.are_worth_keeping(self._size - old):
            self._keep_all()
        if self._size > self._kept_from + len(self._keys):
            grown = np.full(2 * (self._size - self._kept_from), NULL_KEY, np.int64)
            grown[: len(self._keys)] = self._keys
            self._keys = grown
        if self._wide:
            return self._label(dictionary, old)
        return self._put(np.arange(old, self._size), dictionary.image_range(old, self._size - old))

    def _label(self, dictionary: Dictionary, old: int) -> None:
        """Give labels to the codes from `old` on, gap by gap."""
        distinct, places = images.sorted_distinct(dictionary.image_range(old, self._size - old))
        codes = np.empty(len(distinct), np.int64)
        codes[places] = np.arange(old, self._size)
        below, above = self._neighbours(dictionary, distinct, old)
        starts = np.flatnonzero(np.r_[True, below[1:] != below[:-1]])  # one gap, one group
        counts = np.diff(np.r_[starts, len(codes)])
        low, high = self._bounds(below[starts], above[starts], counts)
        step = (high - low) // (counts + 1)
        roomy = (step > 0) & (low > -_LIMIT) & (high < _LIMIT)
        rank = np.arange(len(codes)) - np.repeat(starts, counts)
        easy = np.repeat(roomy, counts)
        labels = np.repeat(low, counts) + (rank + 1) * np.repeat(step, counts)
        self._put(codes[easy], labels[easy])
        for group in np.flatnonzero(~roomy):
            members = codes[starts[group] : starts[group] + counts[group]]
            self._make_room(members, int(below[starts[group]]), int(above[starts[group]]))

    def _bounds(
        self, below: NDArray[np.int64], above: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The labels between which groups of new values go; beyond the ends there is as much room as they need."""
        first, last = below == 0, above < 0
        room = (counts + 1) * self._gap
        high = np.where(last, 0, self.of(np.maximum(above, 0)))
        low = np.where(first, np.where(last, 0, high - room), self.of(below))
        return low, np.where(last, low + room, high)

    def _neighbours(
        self, dictionary: Dictionary, wanted: images.Images, old: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The codes of the old values next below and next above each new one (0 and -1 where there is none)."""
        below, above = np.zeros(len(wanted), np.int64), np.full(len(wanted), -1, np.int64)
        for run in dictionary.runs:
            if run.first >= old:
                continue
            lower, higher = _around(run, wanted, old)
            below = np.where(self.of(lower) > self.of(below), lower, below)
            nearer = (higher >= 0) & ((above < 0) | (self.of(np.maximum(higher, 0)) < self.of(np.maximum(above, 0))))
            above = np.where(nearer, higher, above)
        return below, above

    def _make_room(self, codes: NDArray[np.int64], below: int, above: int) -> None:
        """Give labels where the gap is full, unless a spread for another gap has widened it meanwhile."""
        ends = self._bounds(np.array([below]), np.array([above]), np.array([len(codes)]))
        low, high = int(ends[0][0]), int(ends[1][0])
        if high - low > len(codes) and low > -_LIMIT and high < _LIMIT:
            self._put(codes, evenly(low, high, len(codes)))
        else:
            self._spread(codes, low, high)

    def _spread(self, codes: NDArray[np.int64], low: int, high: int) -> None:
        """Make room: give new labels to all values within a window that is wide enough for them."""
        self.generation += 1
        self._keep_all()
        self._keys = self._keys.copy()  # others may be reading the labels that move
        labels = self._keys[1 : self._size]
        labelled = labels != NULL_KEY  # codes that still wait for theirs have none
        reach = self._gap
        while True:
            left, right = max(low - reach, -_LIMIT), min(high + reach, _LIMIT)
            inside = 1 + np.flatnonzero(labelled & (labels > left) & (labels < right))
            everything = left == -_LIMIT and right == _LIMIT
            if everything or (len(inside) + len(codes)) * 256 < right - left:
                break
            reach *= 4
        inside = inside[np.argsort(self._keys[inside])]
        cut = int(np.searchsorted(self._keys[inside], low, side="right"))
        ranked = np.concatenate([inside[:cut], codes, inside[cut:]])
        self._keys[ranked] = evenly(left, right, len(ranked))


def evenly(low: int, high: int, count: int) -> NDArray[np.int64]:
    """`count` integers strictly between two others, evenly spread. Needs high - low > count."""
    step, rest = divmod(high - low, count + 1)
    places = np.arange(1, count + 1, dtype=np.int64)
    return low + places * step + places * rest // (count + 1)


def _around(run: ValueRun, wanted: images.Images, old: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The codes below `old` of a run's values next below and next above each image (0 and -1 where there is none)."""
    at, _ = run.search(wanted)
    low, high = at - 1, at
    if run.first + len(run) > old:  # newer values were merged into it, and are passed over
        previous, following = _nearest(run.codes_at(np.arange(len(run))) < old)
        low, high = previous[at], following[at]
    lower, higher = np.zeros(len(at), np.int64), np.full(len(at), -1, np.int64)
    lower[low >= 0] = run.codes_at(low[low >= 0])
    higher[high < len(run)] = run.codes_at(high[high < len(run)])
    return lower, higher


def _nearest(marked: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each place 0…n: the last marked index before it (or -1), and the first one at or after it (or n)."""
    n = len(marked)
    if marked.all():
        return np.arange(-1, n), np.arange(n + 1)
    index = np.arange(n)
    previous = np.r_[-1, np.maximum.accumulate(np.where(marked, index, -1))]
    following = np.r_[np.minimum.accumulate(np.where(marked, index, n)[::-1])[::-1], n]
    return previous, following
