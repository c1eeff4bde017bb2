"""What batches are expected to look like: measures each, compares it with those before, and gives what is to be stored.

The figures of a batch are made from its own rows, and committed with it. Nothing is kept in memory from batch to batch
but codes of values, which never change.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import BadInput
from holdfast.expectations.figures import Layout, Measured, Meter
from holdfast.expectations.figures import without_gone_values as without_gone
from holdfast.expectations.judging import judged, usual_now
from holdfast.expectations.unusual import unusual
from holdfast.intake.tables import Sources
from holdfast.progress import Progress
from holdfast.store.expected import StoredExpectations
from holdfast.store.records import BatchFigures, Expected
from holdfast.table.change import Batch, Change
from holdfast.table.table import Table

if TYPE_CHECKING:
    from holdfast.expectations.cutting import Cut
    from holdfast.results.expectations import Expectations

History = str | Mapping[str, str] | None  # a column of times, or one for each of some tables; None: the best one
OFF = "off"  # in place of a column: a first load is not cut
ROWS_COME, SNAPSHOT = "rows", "snapshot"  # lanes: what a batch holds is compared with what is alike
_RECENT = 100_000  # rows by which figures are chosen
_LAST = 2_000  # the same, of columns that come later
_DAY = 86_400  # seconds


def lane_of(sources: Sources) -> str | None:
    """With which batches one is compared; None: it brings no rows. Of a snapshot only the number of all rows counts, as
    those that are new are few, and differ from day to day.
    """
    if sources.snapshot is not None:
        return SNAPSHOT
    return None if sources.of_rows is None else ROWS_COME


class Expecting:
    """Measures and judges the batches of a state, one at a time."""

    def __init__(self) -> None:
        self._meter = Meter()

    def of_batch(
        self, stored: StoredExpectations, tables: Mapping[str, Table], batch: Batch, lanes: Mapping[str, str]
    ) -> Expected:
        """What a batch has for expectations, given the tables after it, and the lane of each that it brings rows of."""
        layouts = stored.layouts()
        if not layouts:
            return Expected()
        of_tables = {
            name: self._measured(layouts.get(name) or Layout.starting(), tables[name], batch.of(name), lane)
            for name, lane in lanes.items()
        }
        total = sum(len(layout.figures) for layout, _ in of_tables.values())
        figures, changed, said = [], {}, []
        for name, (layout, own) in of_tables.items():
            lane, schema = lanes[name], tables[name].schema
            day, dated = _day_of(stored, name, lane, layout, own)
            past = stored.past(name, lane, day, len(layout.figures))
            found = judged(layout, past, own, day, dated, total)
            figures.append(BatchFigures(name, lane, day, dated, own.values, found.sides))
            said += [unusual(schema, layout.figures[each.place], each) for each in found.said]
            if found.layout != layouts.get(name):
                changed[name] = found.layout
        return Expected(figures, changed, said)

    def _measured(self, layout: Layout, table: Table, change: Change | None, lane: str) -> tuple[Layout, Measured]:
        """The figures of the rows that a batch inserted into a table, and the layout, which new columns may extend."""
        if lane == SNAPSHOT:
            values = np.full(len(layout.figures), np.nan)
            values[0] = table.rows
            return layout, Measured(values, {}, None)
        codes = np.empty((len(table.schema.columns), 0), np.uint32) if change is None else change.inserted
        wanted = [place for place, own in enumerate(codes) if table.schema.names[place] not in layout.complete]
        if any(codes[place].any() for place in wanted):  # columns that have values now
            layout = layout.completed(table.schema, table.dictionaries, _last_rows(table, wanted))
        return layout, self._meter.measured(layout, table.schema, table.dictionaries, list(codes), codes.shape[1])


def _last_rows(table: Table, wanted: Sequence[int]) -> list[NDArray[Any]]:
    """The codes of some columns in the last rows of a table; of other columns none."""
    ids = np.arange(max(table.next_id - _LAST, 0), table.next_id, dtype=np.int64)
    own = dict(zip(wanted, table.codes(ids[table.which_live(ids)[1]], wanted), strict=True))
    return [own.get(place, np.empty(0, np.uint32)) for place in range(len(table.schema.columns))]


def _day_of(stored: StoredExpectations, table: str, lane: str, layout: Layout, batch: Measured) -> tuple[float, bool]:
    """The day of a batch, and whether its rows say so. Where other batches say it, one without rows is of the next
    day.
    """
    if batch.newest is not None:
        return batch.newest, True
    last = stored.last_day(table, lane) if layout.day and lane == ROWS_COME else None
    return (time.time() / _DAY, False) if last is None else (last + 1.0, False)


def first_expected(tables: Mapping[str, Table], history: History, progress: Progress) -> Expected:
    """What batches are expected to look like, from first loads: `history` names the columns by which these are cut into
    past batches, or the one for all tables; None: the best one; `off`: none.
    """
    if isinstance(history, Mapping) and (unknown := sorted(set(history) - set(tables))):
        raise BadInput(f"a history is declared for {unknown[0]!r}, which is no table here")
    meter, figures, layouts = Meter(), [], {}
    for name, table in tables.items():
        cut = _cut_by(table, history)
        if cut is None:
            layouts[name] = _layout_of(table)
            if (wanted := _column_of(table, history)) not in (None, OFF):
                progress.note(f"{name}: {wanted} has too few days to count as past batches")
            continue
        layouts[name], past = _past_of(meter, table, cut)
        figures += past
        progress.note(f"{name}: {len(past)} days by {cut.column} count as past batches (--history off leaves that out)")
    return Expected(figures, layouts)


def rows_of_days(table: Table, history: History) -> list[int]:
    """How many rows each past batch has into which a first load is cut; none where it is not."""
    from holdfast.expectations.cutting import rows_by_day  # what applying a batch need not load

    cut = _cut_by(table, history)
    return [] if cut is None else [len(rows) for _, rows in rows_by_day(cut)]


def _cut_by(table: Table, history: History) -> Cut | None:
    from holdfast.expectations.cutting import cut_of  # what applying a batch need not load

    wanted = _column_of(table, history)
    return None if wanted == OFF or not table.rows else cut_of(table, wanted)


def _column_of(table: Table, history: History) -> str | None:
    """The column that is named for a table."""
    return history.get(table.schema.name) if isinstance(history, Mapping) else history


def _layout_of(table: Table) -> Layout:
    """The figures of a table without past batches."""
    if not table.rows:
        return Layout.starting()
    recent = table.codes(table.living_ids()[-_RECENT:])
    return Layout.starting().completed(table.schema, table.dictionaries, list(recent))


def _past_of(meter: Meter, table: Table, cut: Cut) -> tuple[Layout, list[BatchFigures]]:
    """The figures of a table, and those of its past batches, the oldest first: a day of rows at a time."""
    from holdfast.expectations.cutting import rows_by_day

    schema, dictionaries, ids = table.schema, table.dictionaries, table.living_ids()
    days = {day: ids[rows] for day, rows in rows_by_day(cut)}
    recent = table.codes(np.concatenate(list(days.values()))[-_RECENT:])
    layout = Layout.starting(cut.column).completed(schema, dictionaries, list(recent))
    found = []
    for past, (day, own) in zip(range(len(days), 0, -1), days.items(), strict=True):
        batch = meter.measured(layout, schema, dictionaries, list(table.codes(own)), len(own))
        at = float(day) if batch.newest is None else batch.newest
        sides = np.zeros(len(layout.figures), np.int8)
        found.append(BatchFigures(schema.name, ROWS_COME, at, True, batch.values, sides, past))
    return layout, found


def expectations_in(state: str, stored: StoredExpectations, tables: Mapping[str, Table]) -> Expectations:
    """The figures that are watched of each table, with what is usual now; `state` is the folder."""
    from holdfast.results.expectations import Expectation, Expectations

    listed = []
    for name, layout in stored.layouts().items():
        schema = tables[name].schema
        usual = usual_now(layout, stored.past(name, ROWS_COME, -np.inf, len(layout.figures)))
        for place, figure in enumerate(layout.figures):
            if figure.is_watched:
                own, muted = usual[place], place in layout.muted
                median, low, high = np.quantile(own, [0.5, 0.05, 0.95]).tolist() if len(own) else (None, None, None)
                if figure.kind == "newest" and len(own):
                    median = low = high = float(own.max())
                text, level, kind = figure.text(schema), figure.level, figure.kind
                listed.append(Expectation(name, text, level, kind, median, low, high, len(own), muted))
    return Expectations(stored.are_on, state, tuple(listed))


def without_gone_values(layouts: Mapping[str, Layout], tables: Mapping[str, Table]) -> dict[str, Layout]:
    """The layouts that are others without the values that their tables no longer hold."""
    kept = {
        name: without_gone(layout, tables[name].schema, tables[name].dictionaries)
        for name, layout in layouts.items()
        if name in tables
    }
    return {name: layout for name, layout in kept.items() if layout is not layouts[name]}
