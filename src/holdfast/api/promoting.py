"""A rule that was found as one that is given."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from holdfast.changes.names import quoted
from holdfast.engines.meaning import Breach, Cell, Comparison
from holdfast.engines.registry import class_of_text, examples, given_class
from holdfast.errors import BadInput
from holdfast.table.table import Schema

_ORDERS = ("<", "<=", ">", ">=")


def as_given(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with which a rule can be given, and the columns whose order it relies on.

    Keys, FDs and references are given as they are found. An order dependency, also a pointwise one, says that no two
    rows compare in some way: that is a denial constraint, or an FD where they share some columns and differ in one.

    >>> as_given("{State}: Salary ~ Rate")
    ('not(t.State = s.State and t.Salary < s.Salary and t.Rate > s.Rate)', ('Salary', 'Rate'))
    """
    declared = given_class(text)
    if declared is not None:
        texts = declared.load_texts()
        assert texts is not None
        return texts.canonical(text), ()
    found = class_of_text(text)
    meanings = found.load_meanings() if found else None
    breaches = meanings.meaning(text).breaches if meanings else ()
    if len(breaches) != 1:
        raise BadInput(f"{text!r} can't be given; what can: {examples()}")
    return _dependency(breaches[0]) or _denial(breaches[0])


def _dependency(breach: Breach) -> tuple[str, tuple[str, ...]] | None:
    """Rows share some columns and differ in one."""
    equal = [each.left.column for each in breach.comparisons if each.sign == "="]
    unequal = [each.left.column for each in breach.comparisons if each.sign == "!="]
    if not equal or len(unequal) != 1 or len(equal) + 1 != len(breach.comparisons):
        return None
    return f"{', '.join(map(quoted, equal))} -> {quoted(unequal[0])}", ()


def _denial(breach: Breach) -> tuple[str, tuple[str, ...]]:
    compared = [each.left.column for each in breach.comparisons if each.sign in _ORDERS]
    return f"not({' and '.join(map(_written, breach.comparisons))})", tuple(dict.fromkeys(compared))


def _written(comparison: Comparison) -> str:
    right = comparison.right
    other = f"{right.row}.{quoted(right.column)}" if isinstance(right, Cell) else right.text
    return f"{comparison.left.row}.{quoted(comparison.left.column)} {comparison.sign} {other}"


def texts_among(columns: Sequence[str], schema: Schema) -> tuple[str, ...]:
    """Those of some columns that hold text: their order has to be declared."""
    types = {column.name: column.type for column in schema.columns}
    return tuple(name for name in columns if name in types and pa.types.is_string(types[name]))
