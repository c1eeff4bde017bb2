"""Order keys: a 64-bit integer for each code of a column; keys compare as the values do.

For numbers, dates and the like the key is the value's image. For text it is a **label**: labels leave gaps, a value
that arrives between two others gets a label between theirs, and where a gap is full the labels around it are spread
anew. Labels are made from the dictionary when first asked for and never stored, so nothing on disk depends on them;
`generation` counts the spreads, after which an index that holds old labels must be translated.

Cost: following a batch of m new values is O(m log n); a spread is one pass over the labels, and as it makes room in
proportion to the values it moves, spreads are rare.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.table import images
from holdfast.table.dictionary import Dictionary, Run
from holdfast.table.images import NULL_KEY

_LIMIT = 1 << 62


class OrderKeys:
    """The order keys of one column, kept current with its dictionary.

    Promises: for codes a, b of the dictionary it followed last, `of(a) < of(b)` iff value(a) < value(b); null has the
    lowest key. An older version of the dictionary changes nothing. One that has parted ways with the last (a batch
    failed after its values had got codes, and the next one gives these codes to others) costs new keys for all.
    """

    def __init__(self, dictionary: Dictionary, gap: int = 1 << 32) -> None:
        self.generation = 0
        self._gap = gap
        self._wide = images.is_wide(dictionary.kept)
        self._keys = np.full(max(len(dictionary), 16), NULL_KEY, np.int64)
        self._followed = Dictionary(dictionary.kept)
        self._size = 1
        self.follow(dictionary)

    def of(self, codes: NDArray[np.unsignedinteger] | NDArray[np.int64]) -> NDArray[np.int64]:
        """The keys of some codes."""
        return self._keys[codes]

    def follow(self, dictionary: Dictionary) -> None:
        """Take in the values that a newer version of the dictionary has added."""
        if dictionary is self._followed or self._followed.extends(dictionary):
            return
        if not dictionary.extends(self._followed):
            self.generation += 1
            self._size = 1
            self._keys[1:] = NULL_KEY
        self._followed = dictionary
        old, self._size = self._size, len(dictionary)
        if self._size > len(self._keys):
            grown = np.full(2 * self._size, NULL_KEY, np.int64)
            grown[:old] = self._keys[:old]
            self._keys = grown
        if not self._wide:
            self._keys[old : self._size] = dictionary.image_range(old, self._size - old)
        elif old == 1 and len(dictionary.runs) == 1:
            self._spreadevenly(dictionary.runs[0])
        else:
            self._label(dictionary, old)

    def _spreadevenly(self, run: Run) -> None:
        codes = run.codes_at(np.arange(len(run)))
        step = min(self._gap << 8, _LIMIT // (len(run) + 1))
        self._keys[codes] = (np.arange(len(run)) - len(run) // 2) * step

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
        self._keys[codes[easy]] = labels[easy]
        for group in np.flatnonzero(~roomy):
            members = codes[starts[group] : starts[group] + counts[group]]
            self._make_room(members, int(below[starts[group]]), int(above[starts[group]]))

    def _bounds(
        self, below: NDArray[np.int64], above: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The labels between which groups of new values go; beyond the ends there is as much room as they need."""
        first, last = below == 0, above < 0
        room = (counts + 1) * self._gap
        high = np.where(last, 0, self._keys[above])
        low = np.where(first, np.where(last, 0, high - room), self._keys[below])
        return low, np.where(last, low + room, high)

    def _neighbours(
        self, dictionary: Dictionary, wanted: images.Images, old: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The codes of the old values next below and next above each new one (0 and -1 where there is none)."""
        below, above = np.zeros(len(wanted), np.int64), np.full(len(wanted), -1, np.int64)
        for run in dictionary.runs:
            if run.first >= old:
                continue
            at, _ = run.search(wanted)
            ranked = run.codes_at(np.arange(len(run)))
            previous, following = _nearest(ranked < old)
            low, high = previous[at], following[at]
            candidate = np.where(low >= 0, ranked[low], 0)
            below = np.where(self._keys[candidate] > self._keys[below], candidate, below)
            candidate = np.where(high < len(ranked), ranked[np.minimum(high, len(ranked) - 1)], -1)
            nearer = (candidate >= 0) & ((above < 0) | (self._keys[candidate] < self._keys[above]))
            above = np.where(nearer, candidate, above)
        return below, above

    def _make_room(self, codes: NDArray[np.int64], below: int, above: int) -> None:
        """Give labels where the gap is full, unless a spread for another gap has widened it meanwhile."""
        ends = self._bounds(np.array([below]), np.array([above]), np.array([len(codes)]))
        low, high = int(ends[0][0]), int(ends[1][0])
        if high - low > len(codes) and low > -_LIMIT and high < _LIMIT:
            self._keys[codes] = evenly(low, high, len(codes))
        else:
            self._spread(codes, low, high)

    def _spread(self, codes: NDArray[np.int64], low: int, high: int) -> None:
        """Make room: label anew all values within a window that is wide enough for all of them."""
        self.generation += 1
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


def _nearest(marked: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each place 0…n: the last marked index before it (or -1), and the first one at or after it (or n)."""
    n = len(marked)
    if marked.all():
        return np.arange(-1, n), np.arange(n + 1)
    index = np.arange(n)
    previous = np.r_[-1, np.maximum.accumulate(np.where(marked, index, -1))]
    following = np.r_[np.minimum.accumulate(np.where(marked, index, n)[::-1])[::-1], n]
    return previous, following
