"""Past batches, cut from the first load of a table by the column that says when its rows came.

Such a column has dates or timestamps in nearly all rows, most days between the first and the last have rows, and the
rows stand in the file roughly as they came, or the other way round: dates of birth don't. The first day and the last
ones may be incomplete, and are left out.

Cost: a pass over the codes of each column of times, and one over the rows of the last weeks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.errors import BadInput, suggest
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
            which = suggest(wanted, [names[place] for place in times]) if times else "it has none"
            raise BadInput(f"table {table.schema.name}: {wanted!r} is no column of dates or timestamps; {which}")
        return _cut(table, names.index(wanted))
    best: tuple[float, Cut] | None = None
    for place in times:
        cut = _cut(table, place)
        order = 0.0 if cut is None else _order(cut.of_row)
        if cut is not None and order >= _ORDERED and _is_filled(cut) and (best is None or order > best[0] + 1e-9):
            best = order, cut
    return best[1] if best else None


def rows_by_day(cut: Cut) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The rows of each past batch, by their places."""
    order = np.argsort(cut.of_row, kind="stable")
    of_row = cut.of_row[order]
    for day in cut.days.tolist():
        first, end = np.searchsorted(of_row, [day, day + 1])
        yield day, order[first:end]


def _is_time(kept: pa.DataType) -> bool:
    return bool(pa.types.is_date(kept) or pa.types.is_timestamp(kept))


def _cut(table: Table, place: int) -> Cut | None:
    """The days of a column; None where they are too few."""
    codes, dictionary = table.column_codes(place), table.dictionaries[place]
    of_code = np.full(len(dictionary), _NONE)
    known = np.unique(codes)
    known = known[known != NULL_CODE]
    if not len(known):
        return None
    of_code[known] = np.floor(days_of(dictionary, known)).astype(np.int64)
    of_row = of_code[codes]
    days, counts = np.unique(of_row[codes != NULL_CODE], return_counts=True)
    end = len(days) - 1  # the last one may be incomplete,
    usual = np.median(counts)
    while end > max(len(days) - _INCOMPLETE, 1) and 2 * counts[end - 1] < usual:  # and some before it
        end -= 1
    inner = days[1:end]
    recent = inner[inner > days[-1] - DAYS] if len(inner) else inner
    if len(recent) < _FEWEST_DAYS or len(days) < _DENSE * (days[-1] - days[0] + 1):
        return None
    return Cut(table.schema.names[place], of_row, recent)


def _is_filled(cut: Cut) -> bool:
    return bool((cut.of_row > _NONE).mean() >= _FILLED)


def _order(of_row: Days) -> float:
    """How far rows stand in the order of their days, or in the opposite one: the rank correlation of a sample."""
    sample = of_row[:: max(len(of_row) // _SAMPLE, 1)]
    return abs(rank_correlation(sample[sample > _NONE].astype(np.float64)))
