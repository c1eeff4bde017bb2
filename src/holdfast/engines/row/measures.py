"""What rules about a table measure, kept true under batches: most from how often values occur.

Invariant: what is measured is that of the last batch followed, also while the frequencies have followed the next one
already (see `table.column_values`).
"""

from __future__ import annotations

import datetime as dt
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.engines.conditions.columns import NamedColumns
from holdfast.engines.conditions.truth import truth
from holdfast.engines.row.evaluate import count_true
from holdfast.engines.row.quantiles import Quantile
from holdfast.engines.row.sums import Sums, as_float, root, unit
from holdfast.rules.conditions import Condition
from holdfast.rules.constants import Constant
from holdfast.rules.measure import Measure, Quantity, TableRule
from holdfast.search.constants import COMPARE
from holdfast.table.column_values import ColumnValues, Leading
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.frequencies import Frequencies, Moved
from holdfast.table.leaders import Codes, LeaderState
from holdfast.table.plain import Plain, plain_values
from holdfast.table.rows import Rows
from holdfast.table.table import Table

Dumped = tuple[Codes | None, Any]  # an array, and a fact
NOTHING: Dumped = (None, None)
Number = Fraction | float  # a float is NaN or infinite
_WIDE = Context(prec=2_000)  # digits of a sum


class Measured(ABC):
    """One quantity of a table."""

    value: Plain = None  # as in JSON; None where it is unknown

    @abstractmethod
    def breaks(self, rule: TableRule, at: dt.datetime | None) -> bool:
        """Whether it makes a rule false, at some moment."""

    @abstractmethod
    def follow(self, come: Rows, gone: Rows) -> None:
        """Take in a batch that the frequencies have followed."""

    def dump(self) -> Dumped:
        """From what the same is made again; nothing where it follows from the table at once."""
        return NOTHING


# ---- numbers --------------------------------------------------------------------------------------------------------


class _OfNumber(Measured):
    """A quantity that is a number: numbers compare by exact value."""

    number: Number | None = None

    def breaks(self, rule: TableRule, at: dt.datetime | None) -> bool:  # noqa: ARG002  # no moment is a number
        if self.number is None:
            return False
        number = math.inf if self.number != self.number else self.number  # NaN is above all other numbers
        limits = [self._comparable(_exact(limit)) for limit in rule.ends]
        if rule.operator == "between":
            return not limits[0] <= number <= limits[1]
        return not COMPARE[rule.operator](number, limits[0])

    def _comparable(self, limit: Fraction) -> Fraction:
        """A limit of the rule as it compares with the number."""
        return limit


def _exact(constant: Constant) -> Fraction:
    """The number that a constant's digits say."""
    value = constant.value
    assert isinstance(value, int | float | Decimal)
    return Fraction(repr(value) if isinstance(value, float) else value)


class _RowCount(_OfNumber):
    """How many rows there are."""

    def __init__(self, rows: int) -> None:
        self._set(rows)

    def _set(self, rows: int) -> None:
        self._rows, self.number, self.value = rows, Fraction(rows), rows

    def follow(self, come: Rows, gone: Rows) -> None:
        self._set(self._rows + len(come) - len(gone))


class _Satisfying(_OfNumber):
    """For how many rows a condition is true, or for which share of them."""

    def __init__(self, condition: Condition, is_share: bool, rows: int, count: int) -> None:
        self._condition, self._is_share, self._rows, self._count = condition, is_share, rows, count
        self._set()

    def _set(self) -> None:
        if self._is_share:
            self.number = Fraction(self._count, self._rows) if self._rows else None
            self.value = None if self.number is None else float(self.number)
        else:
            self.number, self.value = Fraction(self._count), self._count

    def follow(self, come: Rows, gone: Rows) -> None:
        self._rows += len(come) - len(gone)
        for rows, sign in ((come, 1), (gone, -1)):
            self._count += sign * int((truth(self._condition, NamedColumns.of(rows)) > 0).sum()) if len(rows) else 0
        self._set()

    def dump(self) -> Dumped:
        return None, self._count


class _Moment(_OfNumber):
    """The sum, mean or standard deviation of a column's numbers. A deviation compares by its square, which is exact."""

    def __init__(self, measure: Measure, table: Table, column: int, frequencies: Frequencies, stored: Any) -> None:
        self._measure, self._column, self._frequencies = measure, column, frequencies
        self._kept = table.schema.columns[column].type
        self._unit = unit(self._kept)
        self._sums = Sums.from_json(stored) if stored is not None else Sums()
        if stored is None:
            counts = frequencies.columns[column]
            self._move(table, Moved(codes := counts.occurring(), counts.of(codes)))
        self._set()

    def follow(self, come: Rows, gone: Rows) -> None:  # noqa: ARG002  # both are counted
        self._move(come.encoding, self._frequencies.moved[self._column])
        self._set()

    def _move(self, encoding: Table, moved: Moved) -> None:
        given = moved.codes != NULL_CODE
        if given.any():
            values = encoding.dictionaries[self._column].values(moved.codes[given])
            self._sums = self._sums.moved(values, moved.steps[given], squares=self._measure == "stddev")

    def _set(self) -> None:
        measures = {"sum": self._sums.sum, "avg": self._sums.mean, "stddev": self._sums.variance}
        self.number = measures[self._measure](self._unit)
        self.value = None if self.number is None else self._shown(self.number)

    def _shown(self, number: Number) -> Plain:
        """The nearest float, but for exact sums."""
        if isinstance(number, float):
            return str(number)
        if self._measure == "sum" and not pa.types.is_floating(self._kept):
            return int(number) if number.denominator == 1 and not pa.types.is_decimal(self._kept) else self._digits()
        found = root(number) if self._measure == "stddev" else as_float(number)
        return found if math.isfinite(found) else str(found)

    def _digits(self) -> str:
        """The sum of decimals, as decimals are written."""
        return format(Decimal(self._sums.total).scaleb(-self._kept.scale, _WIDE), "f")

    def _comparable(self, limit: Fraction) -> Fraction:
        if self._measure != "stddev":
            return limit
        return limit * limit if limit >= 0 else limit

    def dump(self) -> Dumped:
        return None, self._sums.to_json()


class _ValueCount(_OfNumber):
    """How many values a column has, or which share of its rows has none."""

    def __init__(self, measure: Measure, table: Table, column: int, frequencies: Frequencies, stored: Any) -> None:
        self._rows, self._frequencies, counts = table.rows, frequencies, frequencies.columns[column]
        distinct = (len(counts.occurring()) if stored is None else stored) if measure == "distinct" else None
        self._values = ColumnValues(table.encoding, column, counts, {}, distinct)
        self._set()

    def _set(self) -> None:
        values = self._values
        if values.distinct is not None:
            self.number, self.value = Fraction(values.distinct), values.distinct
        else:
            self.number = Fraction(values.nulls, self._rows) if self._rows else None
            self.value = None if self.number is None else float(self.number)

    def follow(self, come: Rows, gone: Rows) -> None:
        self._rows += len(come) - len(gone)
        self._values.follow(come.encoding, self._frequencies.moved[self._values.column], self._rows)
        self._set()

    def dump(self) -> Dumped:
        return None, self._values.distinct


# ---- values of a column ---------------------------------------------------------------------------------------------


class _OfValue(Measured):
    """A quantity that is a value of a column, by its code, if there is one."""

    def __init__(self, encoding: Table, column: int, codes: Codes) -> None:
        self._column = column
        self._set(encoding, codes)

    def _set(self, encoding: Table, codes: Codes) -> None:
        self._encoding, self._codes = encoding, codes
        found = plain_values(encoding.dictionaries[self._column].values(codes))
        self.value = found[0] if found else None

    def breaks(self, rule: TableRule, at: dt.datetime | None) -> bool:
        condition = rule.condition_at(at, _like(self._encoding.schema.columns[self._column].type))
        codes = self._codes
        columns = NamedColumns(self._encoding, len(codes), lambda _: codes)
        return condition is not None and bool((truth(condition, columns) < 0).any())


def _like(kept: pa.DataType) -> Constant:
    """A constant of a type that compares with the present time, or of another one."""
    zone = dt.UTC if pa.types.is_timestamp(kept) and kept.tz else None
    return Constant(dt.datetime(1970, 1, 1, tzinfo=zone) if pa.types.is_timestamp(kept) else dt.date(1970, 1, 1))


class _Extreme(_OfValue):
    """The least or the greatest value."""

    def __init__(
        self, measure: Leading, table: Table, column: int, frequencies: Frequencies, kept: LeaderState | None
    ) -> None:
        self._measure, self._rows, self._frequencies = measure, table.rows, frequencies
        self._values = ColumnValues(table.encoding, column, frequencies.columns[column], {measure: kept})
        super().__init__(table.encoding, column, self._values.codes(measure))

    def follow(self, come: Rows, gone: Rows) -> None:
        self._rows += len(come) - len(gone)
        self._values.follow(come.encoding, self._frequencies.moved[self._column], self._rows)
        self._set(come.encoding, self._values.codes(self._measure))

    def dump(self) -> Dumped:
        kept = self._values.leaders[self._measure].state()
        return kept.codes, [kept.floor_code, kept.floor_primary]


class _AtPlace(_OfValue):
    """A quantile."""

    def __init__(self, table: Table, column: int, frequencies: Frequencies, part: Fraction) -> None:
        self._frequencies = frequencies
        self._quantile = Quantile(table.encoding, column, frequencies.columns[column], part)
        super().__init__(table.encoding, column, self._quantile.codes)

    def follow(self, come: Rows, gone: Rows) -> None:  # noqa: ARG002  # both are counted
        self._quantile.follow(come.encoding, self._frequencies.moved[self._column])
        self._set(come.encoding, self._quantile.codes)


# ---- the last batch -------------------------------------------------------------------------------------------------


class _RowsInBatch(_OfNumber):
    """How many rows the last batch brought; unknown before the first."""

    def follow(self, come: Rows, gone: Rows) -> None:  # noqa: ARG002
        self.number, self.value = Fraction(len(come)), len(come)


class _Newest(_OfValue):
    """The greatest value in the rows that the last batch brought."""

    def follow(self, come: Rows, gone: Rows) -> None:  # noqa: ARG002
        codes = np.unique(np.asarray(come.codes(self._column)).astype(np.int64))
        codes = codes[codes != NULL_CODE]
        keys = come.encoding.order_keys(self._column).of(codes)
        self._set(come.encoding, codes[np.argsort(keys)[-1:]])


# ---- one rule -------------------------------------------------------------------------------------------------------


class TableMeasure:
    """The quantity of one rule in a table, and whether it breaks the rule. What the rows of the table alone don't
    decide is judged with each batch (`at` is its time), and stays so until the next.
    """

    def __init__(
        self, rule: TableRule, table: Table, frequencies: Frequencies, array: Codes | None = None, fact: Any = None
    ) -> None:
        self._rule = rule
        self._measured = _measured(rule.quantity, table, frequencies, array, fact)
        self.value = self._measured.value
        self.is_broken = self._measured.breaks(rule, dt.datetime.now(dt.UTC))

    @property
    def judges_batches(self) -> bool:
        """Whether each batch is judged by itself: then one that breaks the rule is another violation than the last."""
        return self._rule.quantity.is_of_batch

    def recall(self, is_broken: bool, value: Plain) -> None:
        """Take over how the last batch was judged, where that does not follow from the table."""
        if self._rule.is_judged_by_batch:
            self.is_broken, self.value = is_broken, value

    def follow(self, come: Rows, gone: Rows, at: dt.datetime | None) -> None:
        """Take in a batch that the frequencies have followed."""
        self._measured.follow(come, gone)
        self.value = self._measured.value
        if at is not None or not self._rule.has_now:
            self.is_broken = self._measured.breaks(self._rule, at)

    def dump(self) -> Dumped:
        """An array and a fact from which the same is made again."""
        return self._measured.dump()


def _measured(quantity: Quantity, table: Table, frequencies: Frequencies, array: Codes | None, fact: Any) -> Measured:
    """A quantity of a table: from the table, or from what `dump` gave."""
    measure, condition = quantity.measure, quantity.condition
    if measure == "rows":
        return _RowCount(table.rows)
    if measure == "rows_in_batch":
        return _RowsInBatch()
    if condition is not None:
        count = count_true(condition, table) if fact is None else fact
        return _Satisfying(condition, measure == "share", table.rows, count)
    column = table.schema.names.index(quantity.column)
    if measure == "newest":
        return _Newest(table.encoding, column, np.empty(0, np.int64))
    if measure in ("min", "max"):
        kept = None if array is None else LeaderState(np.array(array), *fact)
        return _Extreme(measure, table, column, frequencies, kept)
    if measure in ("median", "quantile"):
        part = Fraction(1, 2) if quantity.part is None else _exact(quantity.part)
        return _AtPlace(table, column, frequencies, part)
    kind: Mapping[str, Any] = {"share": _ValueCount, "distinct": _ValueCount}
    made: Measured = kind.get(measure, _Moment)(measure, table, column, frequencies, fact)
    return made
