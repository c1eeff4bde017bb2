"""Comparisons of a column of row t with a column of row s, as numbers.

A **line** is a pair of columns of one type, or of two types of numbers: a column of t, and the same or another one of
s. Per line there are six comparisons, or two (`=` and `!=`) where a column of text or of booleans has no order. The
comparison with operator o on line l has the number `6 * l + o`. What several comparisons on one line say, one says, or
they exclude each other, so a conjunction has at most one on each line.

Seen from the other row, `t.A < s.B` is `t.B > s.A`: each comparison has a mirror image, on the line whose columns
change places.

A comparison with null is never true, as in all denial constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.errors import BadInput
from holdfast.rules.conditions import TRUE_AT
from holdfast.search.keys import can_join
from holdfast.search.queries import MIRRORED, Condition, Operator, PairQuery
from holdfast.table.table import Schema
from holdfast.text.quotes import quoted

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

OPERATORS: tuple[Operator, ...] = ("<", "<=", "=", "!=", ">=", ">")
PER_LINE = len(OPERATORS)
MOST_LINES = 32  # with three comparisons a rule, the time grows with the cube of the lines

_SIGNS = [TRUE_AT[operator] for operator in OPERATORS]
# What is weaker than a comparison on the same line by one step.
WEAKER = {0: (1, 3), 2: (1, 4), 5: (4, 3)}
TURNED = np.array([OPERATORS.index(MIRRORED[operator]) for operator in OPERATORS])
# Whether one comparison implies another on the same line, `[one, other]`.
IMPLIES: Mask = np.array([[one <= other for other in _SIGNS] for one in _SIGNS])
_CAN_ORDER = np.array([operator not in ("=", "!=") for operator in OPERATORS])


@dataclass(frozen=True)
class Comparisons:
    """The lines of a table, as column numbers of t and of s; and which lines have an order."""

    lines: tuple[tuple[int, int], ...]
    ordered: tuple[bool, ...]

    @staticmethod
    def of(schema: Schema, chosen: Sequence[int] | None, ordered_texts: Sequence[int]) -> Comparisons:
        """All pairs of columns that compare, among some columns (None: all). BadInput where there are too many."""
        columns = list(range(len(schema.columns)) if chosen is None else chosen)
        types = [column.type for column in schema.columns]
        lines = [(t, s) for t, s in product(columns, repeat=2) if can_join(types[t], types[s])]
        across = [line for line in lines if line[0] != line[1]]
        if not across:
            _refuse_alone(schema, chosen)
            return Comparisons((), ())
        if len(lines) > MOST_LINES:
            _refuse_many(schema, lines, across[0])
        texts = {c for c in columns if not _has_order(types[c]) and c not in ordered_texts}
        return Comparisons(tuple(lines), tuple(texts.isdisjoint(line) for line in lines))

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def columns(self) -> list[int]:
        """The columns that are compared, ascending."""
        return sorted({column for line in self.lines for column in line})

    @cached_property
    def number(self) -> Numbers:
        """The line of each two columns `[t, s]`, -1 where they don't compare."""
        size = max(self.columns, default=-1) + 1
        found = np.full((size, size), -1)
        for number, line in enumerate(self.lines):
            found[line] = number
        return found

    @cached_property
    def allowed(self) -> Mask:
        """Which operators each line has, `[line, operator]`."""
        allowed: Mask = np.array(self.ordered, np.bool_)[:, None] | ~_CAN_ORDER
        return allowed

    @cached_property
    def mirrored(self) -> Numbers:
        """The mirror image of each comparison."""
        turned = np.array([self.number[s, t] for t, s in self.lines], np.int64)
        mirrored: Numbers = (turned[:, None] * PER_LINE + TURNED).reshape(-1)
        return mirrored

    @cached_property
    def is_across(self) -> Mask:
        """Which lines have two different columns."""
        return np.array([t != s for t, s in self.lines], np.bool_)

    @cached_property
    def query(self) -> PairQuery:
        """All lines as one query, from which the search takes how columns are compared."""
        signs: dict[bool, Operator] = {True: "<", False: "="}
        both = zip(self.lines, self.ordered, strict=True)
        return PairQuery(tuple(Condition(t, signs[ordered], s) for (t, s), ordered in both))


def _has_order(kept: pa.DataType) -> bool:
    """Whether a type has an order that means something by itself."""
    return not (pa.types.is_string(kept) or pa.types.is_boolean(kept))


def _refuse_alone(schema: Schema, chosen: Sequence[int] | None) -> None:
    if chosen is not None:
        named = ", ".join(quoted(schema.names[c]) for c in chosen)
        raise BadInput(f"--across: no two of the columns {named} can be compared; name columns of one type")


def _refuse_many(schema: Schema, lines: Sequence[Any], first: tuple[int, int]) -> None:
    pair = ",".join(quoted(schema.names[c]) for c in sorted(first))
    raise BadInput(
        f"the columns of {schema.name} make {len(lines):,} pairs of a column of t with one of s, and rules across "
        f"columns are searched in up to {MOST_LINES} (5 columns of one type make 25); name fewer: --across {pair}"
    )
