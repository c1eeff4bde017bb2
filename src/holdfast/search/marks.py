"""Marks: for each code of a column, whether its value compares with a constant as asked.

Cost: one comparison a distinct value, once; a row's answer is one array access.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from holdfast.search.queries import NullMeaning, Operator
from holdfast.table import images
from holdfast.table.dictionary import Dictionary
from holdfast.table.shard import AnyCodes

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_COMPARE_BYTES: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


class Marks:
    """The codes of one column whose values are `operator` a constant of its type."""

    def __init__(self, kept: pa.DataType, operator: Operator, constant: Any, nulls: NullMeaning = "sql") -> None:
        self._operator = operator
        self._image = images.to_images(pa.array([constant], kept), kept)[0]
        self._followed: Dictionary | None = None
        below = nulls == "equal" and operator in ("<", "<=", "!=")  # null is less than every constant
        self._marks = np.full(1, below, np.bool_)

    def of(self, dictionary: Dictionary, codes: AnyCodes) -> NDArray[np.bool_]:
        """Which of some codes are marked."""
        if dictionary is not self._followed:
            self._follow(dictionary)
        return self._marks[codes]

    def _follow(self, dictionary: Dictionary) -> None:
        if self._followed is not None and not dictionary.extends(self._followed):
            self._marks = self._marks[:1]
        fresh = dictionary.image_range(len(self._marks), len(dictionary) - len(self._marks))
        if isinstance(fresh, np.ndarray):
            marked = COMPARE[self._operator](fresh, self._image)
        else:
            marked = _COMPARE_BYTES[self._operator](fresh, self._image).to_numpy(zero_copy_only=False)
        self._marks = np.concatenate([self._marks, marked.astype(np.bool_)])
        self._followed = dictionary
