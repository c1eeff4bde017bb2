"""Casts the texts of one column, with a sentence for each text that doesn't fit. Can be pickled into tasks."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from holdfast.errors import BadInput
from holdfast.sources.inference import BadNumber, BadValue, bad_values, cast_text, described
from holdfast.table.types import show_type

_IN_A_STATE = "in a state: holdfast columns STATE retype, or apply --evolve where a wider type is enough"


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
            raise BadInput(f"{self.source}: column {self.column!r}: {refusal(bad, self.target)}") from None

    def misfits(self, values: pa.Array) -> dict[int, str]:
        """What is wrong with the texts that are no values of the type, by their places."""
        found = bad_values(values, self.target, self.nulls)
        return {bad.index: f"column {self.column!r}: {refusal(bad, self.target)}" for bad in found}


def refusal(bad: BadValue, target: pa.DataType, more: str = "") -> str:
    """What is wrong with a value, and what to do about it."""
    shown = bad.value if len(bad.value) <= 60 else bad.value[:57] + "…"
    if isinstance(bad, BadNumber):
        wider = "text" if pa.types.is_decimal(target) else "decimal or text"
        reason = f"{shown} can't be held exactly by a column of type {show_type(target)}"
        return f"{reason}; mend the value, or declare the column as {wider} ({_IN_A_STATE})"
    return f"{shown!r} is not {described(target)}; mend the value, {more}or declare the column as text ({_IN_A_STATE})"
