"""What rules about a table measure, kept true under batches from how often values occur.

Invariant: `value` and `is_broken` are those of the last batch followed, also while the frequencies have followed the
next one already.
Cost: a batch costs O(1), or the codes whose frequency it changed (see `table.leaders` for the least and the greatest).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engines.row.columns import NamedColumns
from holdfast.engines.row.evaluate import truth
from holdfast.rules.conditions import Comparison, of_t
from holdfast.rules.measure import TableRule
from holdfast.search.constants import COMPARE
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.frequencies import Frequencies, Moved, ValueCounts
from holdfast.table.leaders import Leaders, LeaderState
from holdfast.table.plain import Plain, plain_values
from holdfast.table.table import Table

Codes = NDArray[np.int64]


class TableMeasure(ABC):
    """The quantity of one rule, in a table."""

    def __init__(self, rule: TableRule, table: Table, frequencies: Frequencies) -> None:
        self._rule, self._encoding, self._rows = rule, table.encoding, table.rows
        self._frequencies = frequencies
        self._column = table.schema.names.index(rule.quantity.column) if rule.columns else -1

    @property
    @abstractmethod
    def value(self) -> Plain:
        """What it is now, as in JSON; None where it is unknown."""

    @property
    @abstractmethod
    def is_broken(self) -> bool:
        """Whether the rule is false."""

    def follow(self, encoding: Table, step: int) -> None:
        """Take in a batch that the frequencies have followed: what codes mean now, and how many rows came, or went."""
        self._encoding, self._rows = encoding, self._rows + step

    def dump(self) -> tuple[Codes | None, Any]:
        """An array and a fact from which the same is made again; nothing where it follows from the table at once."""
        return None, None

    @property
    def _counts(self) -> ValueCounts:
        return self._frequencies.columns[self._column]

    @property
    def _moved(self) -> Moved:
        return self._frequencies.moved[self._column]


class _Number(TableMeasure):
    """A quantity that is a number: compared with the constant by exact value."""

    @property
    @abstractmethod
    def number(self) -> Fraction | None:
        """The number, if it is known."""

    @property
    def is_broken(self) -> bool:
        """Whether the rule is false."""
        number, constant = self.number, self._rule.constant.value
        assert isinstance(constant, int | float | Decimal)
        limit = Fraction(repr(constant) if isinstance(constant, float) else constant)
        return number is not None and not COMPARE[self._rule.operator](number, limit)

    @property
    def value(self) -> Plain:
        """What it is now."""
        number = self.number
        if number is None:
            return None
        return int(number) if number.denominator == 1 and self._rule.quantity.measure != "share" else float(number)


class _RowCount(_Number):
    """How many rows there are."""

    @property
    def number(self) -> Fraction:
        return Fraction(self._rows)


class _NullShare(_Number):
    """The share of rows that have a null in a column."""

    def __init__(self, rule: TableRule, table: Table, frequencies: Frequencies) -> None:
        super().__init__(rule, table, frequencies)
        self._nulls = int(self._counts.array[NULL_CODE])

    @property
    def number(self) -> Fraction | None:
        return Fraction(self._nulls, self._rows) if self._rows else None

    def follow(self, encoding: Table, step: int) -> None:
        super().follow(encoding, step)
        self._nulls = int(self._counts.array[NULL_CODE])


class _DistinctCount(_Number):
    """How many values a column has, nulls aside."""

    def __init__(self, rule: TableRule, table: Table, frequencies: Frequencies, kept: int | None = None) -> None:
        super().__init__(rule, table, frequencies)
        self._distinct = len(self._counts.occurring()) if kept is None else kept

    @property
    def number(self) -> Fraction:
        return Fraction(self._distinct)

    def follow(self, encoding: Table, step: int) -> None:
        super().follow(encoding, step)
        values = self._moved.codes != NULL_CODE
        steps = self._moved.steps[values]
        after = self._counts.of(self._moved.codes[values])
        self._distinct += int((after > 0).sum()) - int((after > steps).sum())

    def dump(self) -> tuple[None, int]:
        return None, self._distinct


class _Extreme(TableMeasure):
    """The least or the greatest value of a column."""

    def __init__(
        self, rule: TableRule, table: Table, frequencies: Frequencies, kept: LeaderState | None = None
    ) -> None:
        super().__init__(rule, table, frequencies)
        self._generation = table.order_keys(self._column).generation
        sign = 1 if rule.quantity.measure == "min" else -1
        self._leaders = Leaders(
            lambda codes: (sign * self._keys(codes), codes), lambda: self._counts.occurring(), 1, kept
        )

    def _keys(self, codes: Codes) -> Codes:
        return self._encoding.order_keys(self._column).of(codes)

    @property
    def _codes(self) -> Codes:
        """The code of the value, if there is one."""
        return self._leaders.best()

    @property
    def value(self) -> Plain:
        found = plain_values(self._encoding.dictionaries[self._column].values(self._codes))
        return found[0] if found else None

    @property
    def is_broken(self) -> bool:
        codes = self._codes
        condition = Comparison(of_t(self._rule.quantity.column), self._rule.operator, self._rule.constant)
        return bool((truth(condition, NamedColumns(self._encoding, len(codes), lambda _: codes)) < 0).any())

    def follow(self, encoding: Table, step: int) -> None:
        super().follow(encoding, step)
        codes = self._moved.codes[self._moved.codes != NULL_CODE]
        generation = encoding.order_keys(self._column).generation
        if generation != self._generation:
            self._leaders.remake()
        else:
            values = self._rows - int(self._counts.array[NULL_CODE])  # no fewer than codes that count
            self._leaders.update(codes, self._counts.of(codes) > 0, values)
        self._generation = generation

    def dump(self) -> tuple[Codes, list[int]]:
        kept = self._leaders.state()
        return kept.codes, [kept.floor_code, kept.floor_primary]


def measured(
    rule: TableRule, table: Table, frequencies: Frequencies, array: Codes | None = None, fact: Any = None
) -> TableMeasure:
    """The quantity of a rule: from how often values occur, or from what `dump` gave."""
    given = rule, table, frequencies
    match rule.quantity.measure:
        case "rows":
            return _RowCount(*given)
        case "share":
            return _NullShare(*given)
        case "distinct":
            return _DistinctCount(*given, fact)
    return _Extreme(*given, None if array is None else LeaderState(np.array(array), *fact))
