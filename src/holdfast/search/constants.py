"""Comparisons of a column with a constant, decided once for each distinct value.

Cost: one comparison a distinct value; the answer for a row is one array access.
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


class CodeMask:
    """For each code of a column, whether its value is `operator` a constant of the column's type."""

    def __init__(self, type_: pa.DataType, operator: Operator, constant: Any, nulls: Nulls = Nulls.SQL) -> None:
        self._operator = operator
        self._image = images.to_images(pa.array([constant], type_), type_)[0]
        below = nulls.are_equal and operator in ("<", "<=", "!=")  # null is less than every constant
        # The dictionary that was followed last, and its mask. Threads share them, so they are replaced together.
        self._known: tuple[Dictionary | None, NDArray[np.bool_]] = None, np.full(1, below, np.bool_)

    def of(self, dictionary: Dictionary, codes: AnyCodes) -> NDArray[np.bool_]:
        """Which of some codes have a value that compares so."""
        followed, mask = self._known
        if dictionary is not followed:
            mask = self._followed_by(dictionary, followed, mask)
            self._known = dictionary, mask
        return mask[codes]

    def _followed_by(
        self, dictionary: Dictionary, followed: Dictionary | None, mask: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """The mask of a dictionary, given that of the one before."""
        if followed is not None and not dictionary.extends(followed):
            mask = mask[:1]
        fresh = dictionary.image_range(len(mask), len(dictionary) - len(mask))
        if isinstance(fresh, np.ndarray):
            more = COMPARE[self._operator](fresh, self._image)
        else:
            more = COMPARE_ARROW[self._operator](fresh, self._image).to_numpy(zero_copy_only=False)
        return np.concatenate([mask, more.astype(np.bool_)])
