"""Rows of a batch that can't be applied: which they are and why, and the sentences that refuse them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.changes.equal_rows import Codes
from holdfast.errors import BadInput
from holdfast.table.resolve import WRONG, OnMissing, Wrong
from holdfast.table.table import Table

_EXAMPLES = 3
_REASONS: dict[Wrong, str] = {
    "missing": "the row to delete or update is not there",
    "duplicate": "the declared key is taken",
    "unkeyed": "the declared key is null",
    "repeated": "another upsert of the batch has the same key",
}


@dataclass(frozen=True)
class WrongRows:
    """Rows by their places in the batch, in order; what is wrong with each (a place in WRONG); their operations and
    their codes.
    """

    places: NDArray[np.int64]
    why: NDArray[np.int8]
    operations: NDArray[np.int8]
    codes: Codes

    def __len__(self) -> int:
        return len(self.places)

    def of(self, why: Wrong) -> WrongRows:
        """Those with which one thing is wrong."""
        return self._some(self.why == WRONG.index(why))

    def without_ignored(self, on_missing: OnMissing) -> tuple[WrongRows, int]:
        """Without operations on rows that are not there, where these are ignored; and how many are."""
        missing = self.why == WRONG.index("missing")
        if on_missing == "error" or not missing.any():
            return self, 0
        return self._some(~missing), int(missing.sum())

    def between(self, first: int, end: int) -> WrongRows:
        """Those at places from `first` to before `end`, counted from there."""
        some = self._some((self.places >= first) & (self.places < end))
        return replace(some, places=some.places - first)

    def reasons(self, table: Table) -> list[str]:
        """What is wrong with each row, in words: `the declared key is taken (id=1)`."""
        named = _in_words(table, self.codes) if len(self) else []
        return [f"{_REASONS[WRONG[why]]} {row}" for why, row in zip(self.why.tolist(), named, strict=True)]

    def _some(self, which: NDArray[np.bool_]) -> WrongRows:
        return WrongRows(self.places[which], self.why[which], self.operations[which], self.codes[:, which])


NO_ROWS = WrongRows(np.empty(0, np.int64), np.empty(0, np.int8), np.empty(0, np.int8), np.empty((0, 0), np.uint32))


def refuse_null_keys(table: Table, nulls: int) -> None:
    """Refuse rows whose key is null in some places."""
    if nulls:
        names = ", ".join(table.schema.names[c] for c in table.schema.key)
        raise BadInput(
            f"table {table.schema.name}: the declared key ({names}) is null in {nulls:,} place{'s' * (nulls > 1)}; "
            "give every row its key, or declare another one"
        )


def refuse(table: Table, wrong: WrongRows, before: int = 0) -> None:
    """Refuse rows that can't be applied; `before` rows of the batch come before its upserts."""
    if len(repeated := wrong.of("repeated")):
        raise _repeated(table, repeated, before)
    if len(duplicate := wrong.of("duplicate")):
        some = f"{len(duplicate):,} rows repeat" if len(duplicate) > 1 else "a row repeats"
        raise BadInput(
            f"table {table.schema.name}: {some} a declared key that is taken: {_examples(table, duplicate)}; "
            "send an update instead, or delete the old row first"
        )
    if len(missing := wrong.of("missing")):
        some = f"{len(missing):,} rows to delete or update are" if len(missing) > 1 else "a row to delete or update is"
        raise BadInput(
            f"table {table.schema.name}: {some} not there: {_examples(table, missing)}; "
            "use --on-missing ignore to skip such rows"
        )


def _repeated(table: Table, repeated: WrongRows, before: int) -> BadInput:
    keys = repeated.codes[list(table.schema.key)]
    same = np.flatnonzero((keys == keys[:, :1]).all(axis=0))
    rows = [f"{1 + place - before:,}" for place in repeated.places[same].tolist()]
    some = ", ".join([*rows[:-1][:_EXAMPLES], *(["…"] if len(rows) > _EXAMPLES + 1 else [])])
    return BadInput(
        f"table {table.schema.name}: rows {some} and {rows[-1]} of the upserts have the same key "
        f"{_show(table, repeated.codes[:, :1])}; leave one of them, or send them in order as --changes, where the last "
        "one counts"
    )


def _examples(table: Table, wrong: WrongRows) -> str:
    return _show(table, wrong.codes[:, :_EXAMPLES])


def _show(table: Table, codes: Codes) -> str:
    """A few rows in words."""
    return "; ".join(_in_words(table, codes))


def _in_words(table: Table, codes: Codes, most: int = 4) -> list[str]:
    """Rows in words: their key, or their first columns."""
    by = table.schema.found_by
    values = table.decode(codes)
    columns = [_python_values(values.column(c)) for c in by[:most]]
    names = [table.schema.names[c] for c in by[:most]]
    more = ", …" if len(by) > most else ""
    return [
        "(" + ", ".join(f"{n}={_brief(v)}" for n, v in zip(names, row, strict=True)) + more + ")"
        for row in zip(*columns, strict=True)
    ]


def _python_values(values: pa.ChunkedArray) -> list[object]:
    try:
        return list(values.to_pylist())
    except (OverflowError, ValueError):  # Python's calendar ends with the year 9999
        return list(values.cast(pa.string()).to_pylist())


def _brief(value: object, most: int = 40) -> str:
    text = "null" if value is None else str(value)
    return text if len(text) <= most else text[: most - 1] + "…"
