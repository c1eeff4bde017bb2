"""What rules about a table measure, kept true under batches from how often values occur.

Invariant: `value` and `is_broken` are those of the last batch followed, also while the frequencies have followed the
next one already (see `table.column_values`).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast.engines.row.columns import NamedColumns
from holdfast.engines.row.evaluate import truth
from holdfast.rules.conditions import Comparison, of_t
from holdfast.rules.measure import TableRule
from holdfast.search.constants import COMPARE
from holdfast.table.column_values import ColumnValues, Leading
from holdfast.table.frequencies import Frequencies
from holdfast.table.leaders import Codes, LeaderState
from holdfast.table.plain import Plain
from holdfast.table.table import Table


class TableMeasure:
    """The quantity of one rule, in a table: from how often values occur, or from what `dump` gave."""

    def __init__(
        self, rule: TableRule, table: Table, frequencies: Frequencies, array: Codes | None = None, fact: Any = None
    ) -> None:
        self._rule, self._rows, self._frequencies = rule, table.rows, frequencies
        self._measure = measure = rule.quantity.measure
        if not rule.columns:
            return
        column = table.schema.names.index(rule.quantity.column)
        counts = frequencies.columns[column]
        kept = None if array is None else LeaderState(np.array(array), *fact)
        wanted: Mapping[Leading, LeaderState | None] = {measure: kept} if measure in ("min", "max") else {}
        distinct = (len(counts.occurring()) if fact is None else fact) if measure == "distinct" else None
        self._values = ColumnValues(table.encoding, column, counts, wanted, distinct)

    @property
    def _number(self) -> Fraction | None:
        """The quantity where it is a number of rows or values, or a share of rows; None where it is unknown."""
        if self._measure == "share":
            return Fraction(self._values.nulls, self._rows) if self._rows else None
        return Fraction(self._rows if self._measure == "rows" else self._values.distinct or 0)

    @property
    def _extreme(self) -> Codes | None:
        """The code of the least or the greatest value, if there is one; None where the quantity is a number."""
        return self._values.codes(self._measure) if self._measure in ("min", "max") else None

    @property
    def value(self) -> Plain:
        """What it is now, as in JSON; None where it is unknown."""
        if (codes := self._extreme) is not None:
            return next(iter(self._values.plain(codes)), None)
        number = self._number
        return number if number is None else float(number) if self._measure == "share" else int(number)

    @property
    def is_broken(self) -> bool:
        """Whether the rule is false: numbers compare by exact value."""
        operator, constant = self._rule.operator, self._rule.constant
        if (codes := self._extreme) is not None:
            condition = Comparison(of_t(self._rule.quantity.column), operator, constant)
            return bool((truth(condition, NamedColumns(self._values.table, len(codes), lambda _: codes)) < 0).any())
        number, limit = self._number, constant.value
        assert isinstance(limit, int | float | Decimal)
        exact = Fraction(repr(limit) if isinstance(limit, float) else limit)
        return number is not None and not COMPARE[operator](number, exact)

    def follow(self, encoding: Table, step: int) -> None:
        """Take in a batch that the frequencies have followed: what codes mean now, and how many rows came, or went."""
        self._rows += step
        if self._rule.columns:
            self._values.follow(encoding, self._frequencies.moved[self._values.column], self._rows)

    def dump(self) -> tuple[Codes | None, Any]:
        """An array and a fact from which the same is made again; nothing where it follows from the table at once."""
        if self._measure in ("min", "max"):
            kept = self._values.leaders[self._measure].state()
            return kept.codes, [kept.floor_code, kept.floor_primary]
        return None, self._values.distinct if self._measure == "distinct" else None
