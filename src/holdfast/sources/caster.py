"""Casting the texts of one column, with a sentence for a text that doesn't fit. Travels into tasks."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from holdfast.errors import BadInput
from holdfast.sources.infer import BadValue, cast_text


@dataclass(frozen=True)
class TextCaster:
    """Turns texts of a column into values of its type."""

    source: str
    column: str
    target: pa.DataType
    nulls: tuple[str, ...]

    def __call__(self, values: pa.Array) -> pa.Array:
        """The typed values, null where a text stands for null."""
        try:
            return cast_text(values, self.target, self.nulls)
        except BadValue as bad:
            shown = bad.value if len(bad.value) <= 60 else bad.value[:57] + "…"
            raise BadInput(
                f"{self.source}: column {self.column!r}: {shown!r} is no value of type {self.target}; "
                "mend the value, or declare the column as text"
            ) from None
