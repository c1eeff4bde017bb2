"""Batches through the statistics alone: the days of a domain are encoded at once, each is judged by those before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.expectations.figures import Layout, Meter
from holdfast.expectations.judging import Judgement, Past, judged
from tests.expectations.tables import encoded
from tests.seasons.generator import Columns, as_table


def replayed(folder: Path, days: Sequence[Columns], time: str, history: int) -> Iterator[tuple[Layout, Judgement]]:
    """What is said of each day, after the first ones, which are what a first load was cut into."""
    table = encoded(folder, pa.concat_tables([as_table(day) for day in days], promote_options="permissive"))
    ends = np.cumsum([len(day[time]) for day in days])
    columns = [table.column_codes(place) for place in range(len(table.schema.columns))]
    layout = Layout.starting(time).completed(
        table.schema, table.dictionaries, [codes[: ends[history - 1]] for codes in columns]
    )
    meter, rows = Meter(), [slice(end - len(day[time]), end) for end, day in zip(ends, days, strict=True)]
    stored: list[tuple[Any, ...]] = []
    for number, own in enumerate(rows, 1 - history):
        batch = meter.measured(
            layout, table.schema, table.dictionaries, [codes[own] for codes in columns], own.stop - own.start
        )
        day = float(number) if batch.newest is None else batch.newest
        sides = np.zeros(len(layout.figures), np.int8)
        if number > 0:
            past = Past(*(np.array(each) for each in zip(*stored, strict=True)))
            found = judged(layout, past, batch, day, True, 3 * len(layout.figures))
            yield layout, found
            layout, sides = found.layout, found.sides
        stored = [*stored[-60:], (number if number > 0 else number - 1, day, True, batch.values, sides)]
