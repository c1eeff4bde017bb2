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

from holdfast.search.queries import Operator
from holdfast.table import images
from holdfast.table.dictionary import Dictionary
from holdfast.table.nulls import Nulls
from holdfast.table.shard import AnyCodes

# NumPy and Arrow call the comparisons by the same names.
_FUNCTIONS = {"=": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
COMPARE: dict[str, Callable[[Any, Any], Any]] = {sign: getattr(np, name) for sign, name in _FUNCTIONS.items()}
COMPARE_ARROW: dict[str, Callable[[Any, Any], Any]] = {sign: getattr(pc, name) for sign, name in _FUNCTIONS.items()}


class Marks:
    """The codes of one column whose values are `operator` a constant of its type."""

    def __init__(self, kept: pa.DataType, operator: Operator, constant: Any, nulls: Nulls = Nulls.SQL) -> None:
        self._operator = operator
        self._image = images.to_images(pa.array([constant], kept), kept)[0]
        below = nulls.are_equal and operator in ("<", "<=", "!=")  # null is less than every constant
        # The marks, and the dictionary whose they are: replaced together, as threads share them.
        self._known: tuple[Dictionary | None, NDArray[np.bool_]] = None, np.full(1, below, np.bool_)

    def of(self, dictionary: Dictionary, codes: AnyCodes) -> NDArray[np.bool_]:
        """Which of some codes are marked."""
        followed, marks = self._known
        if dictionary is not followed:
            marks = self._followed_by(dictionary, followed, marks)
            self._known = dictionary, marks
        return marks[codes]

    def _followed_by(
        self, dictionary: Dictionary, followed: Dictionary | None, marks: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """The marks of a dictionary, given those of the one before."""
        if followed is not None and not dictionary.extends(followed):
            marks = marks[:1]
        fresh = dictionary.image_range(len(marks), len(dictionary) - len(marks))
        if isinstance(fresh, np.ndarray):
            marked = COMPARE[self._operator](fresh, self._image)
        else:
            marked = COMPARE_ARROW[self._operator](fresh, self._image).to_numpy(zero_copy_only=False)
        return np.concatenate([marks, marked.astype(np.bool_)])
