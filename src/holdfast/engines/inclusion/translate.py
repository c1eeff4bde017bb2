"""From the codes of one column to the codes of another that stand for the same values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.inclusion import values
from holdfast.engines.inclusion.state import Attribute, INDState
from holdfast.table import images
from holdfast.table.dictionary import NULL_CODE

Codes = NDArray[np.int64]
_FEW = 16


def translate(state: INDState, a: Attribute, b: Attribute, codes: Codes) -> Codes:
    """For some non-null codes of column a the codes of the same values in column b, -1 where it never had them."""
    found = np.full(len(codes), -1, np.int64)
    if a.kind != b.kind or not len(codes):
        return found
    own = state.dictionary(a)
    for lane, keys, places in values.split(own.images(codes), own.kept):
        distinct, of_key = images.sorted_distinct(keys)
        found[places] = values.find(lane, distinct, state.dictionary(b))[of_key]
    return found


class Translations:
    """Translations between columns, whole ones kept where many codes were translated. Lives as long as the dictionaries
    stay as they are.
    """

    def __init__(self, state: INDState) -> None:
        self._state = state
        self._maps: dict[tuple[int, int], Codes] = {}
        self._asked: Counter[tuple[int, int]] = Counter()

    def of(self, a: Attribute, b: Attribute, codes: NDArray[Any]) -> Codes:
        """The codes in column b for some codes of column a, -1 for null and for values that b never had."""
        if a.number == b.number:
            own = codes.astype(np.int64)
            own[own == NULL_CODE] = -1
            return own
        size = len(self._state.tables[a.table].dictionaries[a.column])
        if (a.number, b.number) not in self._maps:
            self._asked[a.number, b.number] += len(codes)
            if _FEW * self._asked[a.number, b.number] < size:
                distinct, places = np.unique(codes.astype(np.int64), return_inverse=True)
                return self._translated(a, b, distinct)[places]
            self._maps[a.number, b.number] = self._translated(a, b, np.arange(size))
        return np.asarray(self._maps[a.number, b.number][codes])

    def tuples(self, own: Sequence[Attribute], others: Sequence[Attribute], codes: Iterable[NDArray[Any]]) -> Codes:
        """The same of some columns each, `[column, row]`."""
        return np.stack([self.of(a, b, some) for a, b, some in zip(own, others, codes, strict=True)])

    def _translated(self, a: Attribute, b: Attribute, codes: Codes) -> Codes:
        found = np.full(len(codes), -1, np.int64)
        given = codes != NULL_CODE
        found[given] = translate(self._state, a, b, codes[given])
        return found
