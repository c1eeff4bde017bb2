"""Past batches, cut from the first load of a table by the column that says when its rows came.

Such a column has dates or timestamps in nearly all rows, most days between the first and the last have rows, and the
rows stand in the file roughly as they came, or the other way round: dates of birth don't. The first day and the last
ones may be incomplete, and are left out.

Cost: a pass over the codes of each column of times, and one over the rows of the last weeks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.errors import BadInput
from holdfast.expectations.chance import FEWEST, rank_correlation
from holdfast.expectations.figures import days_of
from holdfast.expectations.judging import DAYS
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.table import Table

_FEWEST_DAYS = FEWEST + 4
_FILLED = 0.95  # of the rows
_DENSE = 0.5  # of the days
_ORDERED = 0.8  # the rank correlation of rows and days
_SAMPLE = 10_000  # rows that show the order
_NONE = np.iinfo(np.int64).min  # the day of a row without one
_INCOMPLETE = 7  # last days that may be, at the most

Days = NDArray[np.int64]


class Cut(NamedTuple):
    """The column that says when rows came, the day of each living row (below all days: none), and the days that are
    past batches, ascending.
    """

    column: str
    of_row: Days
    days: Days


def cut_of(table: Table, wanted: str | None = None) -> Cut | None:
    """How a first load is cut: by a column that is named, or by the best one; None: by none."""
    names = table.schema.names
    times = [place for place, each in enumerate(table.schema.columns) if _is_time(each.type)]
    if wanted is not None:
        if wanted not in [names[place] for place in times]:
            which = f"these are: {', '.join(names[place] for place in times)}" if times else "it has none"
            raise BadInput(f"table {table.schema.name}: {wanted!r} is no column of dates or timestamps; {which}")
        return _cut(table, names.index(wanted))
    best: tuple[float, Cut] | None = None
    for place in times:
        cut = _cut(table, place, least_order=best[0] + 1e-9 if best else _ORDERED)
        if cut is not None:
            best = _order(cut.of_row), cut
    return best[1] if best else None


def rows_by_day(cut: Cut) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The rows of each past batch, by their places."""
    recent = np.flatnonzero(cut.of_row >= cut.days[0])
    recent = recent[np.argsort(cut.of_row[recent], kind="stable")]
    of_row = cut.of_row[recent]
    for day in cut.days.tolist():
        first, end = np.searchsorted(of_row, [day, day + 1])
        yield day, recent[first:end]


def _is_time(kept: pa.DataType) -> bool:
    return bool(pa.types.is_date(kept) or pa.types.is_timestamp(kept))


def _cut(table: Table, place: int, least_order: float | None = None) -> Cut | None:
    """The days of a column; None where they are too few, or with `least_order` where they don't say when rows came."""
    codes, dictionary = table.column_codes(place), table.dictionaries[place]
    rows = np.bincount(codes, minlength=len(dictionary))
    filled = len(codes) - int(rows[NULL_CODE])
    rows[NULL_CODE] = 0
    known = np.flatnonzero(rows)
    if not len(known):
        return None
    of_code = np.full(len(dictionary), _NONE)
    of_code[known] = np.floor(days_of(dictionary, known)).astype(np.int64)
    days, of = np.unique(of_code[known], return_inverse=True)
    past = _complete(days, np.bincount(of, weights=rows[known]))
    if len(past) < _FEWEST_DAYS or len(days) < _DENSE * (days[-1] - days[0] + 1):
        return None
    if least_order is not None and (
        filled < _FILLED * len(codes) or _order(of_code[codes[:: _step(len(codes))]]) < least_order
    ):
        return None
    return Cut(table.schema.names[place], of_code[codes], past)


def _complete(days: Days, rows: NDArray[Any]) -> Days:
    """The last weeks without the first day and the last one, which may be incomplete, and some before it."""
    end = len(days) - 1
    while end > max(len(days) - _INCOMPLETE, 1) and 2 * rows[end - 1] < np.median(rows):
        end -= 1
    inner = days[1:end]
    return np.asarray(inner[inner > days[-1] - DAYS])


def _order(of_row: Days) -> float:
    """How far rows stand in the order of their days, or in the opposite one: the rank correlation of a sample."""
    sample = of_row[:: _step(len(of_row))]
    return abs(rank_correlation(sample[sample > _NONE].astype(np.float64)))


def _step(rows: int) -> int:
    """Each how manyth row is in a sample."""
    return max(rows // _SAMPLE, 1)
