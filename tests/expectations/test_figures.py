"""Figures of batches, against counts of plain values."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.expectations.figures import (
    NEWEST,
    ROWS,
    Figure,
    Fresh,
    Layout,
    Measured,
    Meter,
    without_gone_values,
)
from holdfast.table.table import Schema, Table
from tests.expectations.tables import encoded


def _values(seed: int, rows: int) -> dict[str, list[Any]]:
    """Columns of all kinds, with nulls and ties."""
    random = np.random.default_rng(seed)
    day = datetime.date(2024, 1, 1)
    columns: dict[str, list[Any]] = {
        "id": list(range(seed * 10_000, seed * 10_000 + rows)),
        "status": random.choice(["paid", "open", "it's", "lost"], rows, p=[0.5, 0.3, 0.17, 0.03]).tolist(),
        "amount": [None if random.random() < 0.1 else float(each) for each in random.lognormal(3, 1, rows)],
        "price": [Decimal(int(each)) / 100 for each in random.integers(100, 90_000, rows)],
        "pieces": random.choice([1, 2, 10], rows).tolist(),
        "paid": [None if each == 2 else bool(each) for each in random.integers(0, 3, rows)],
        "on": [day + datetime.timedelta(days=int(each)) for each in random.integers(0, 40, rows)],
        "note": [f"note {each}" for each in random.integers(0, 10**6, rows)],
    }
    return columns


def _table(folder: Path, seed: int, rows: int) -> tuple[Table, dict[str, list[Any]]]:
    values = _values(seed, rows)
    types = {"price": pa.decimal128(9, 2), "paid": pa.bool_(), "amount": pa.float64(), "on": pa.date32()}
    return encoded(folder, pa.table({name: pa.array(own, types.get(name)) for name, own in values.items()})), values


def _measured(table: Table, layout: Layout, rows: int) -> Measured:
    codes = [table.column_codes(place)[:rows] for place in range(len(table.schema.columns))]
    return Meter().measured(layout, table.schema, table.dictionaries, codes, rows)


def _chosen(table: Table, day: str = "on") -> Layout:
    codes = [table.column_codes(place) for place in range(len(table.schema.columns))]
    return Layout.starting(day).completed(table.schema, table.dictionaries, codes)


def _expected(figure: Figure, values: dict[str, list[Any]], layout: Layout, schema: Schema) -> float:
    """A figure from plain values, by its definition."""
    own = values.get(figure.column, [])
    there = [each for each in own if each is not None]
    bound: Any = figure.value
    match figure.kind:
        case "rows":
            return len(values["id"])
        case "newest":
            return float((max(there) - datetime.date(1970, 1, 1)).days)
        case "nulls":
            return len(own) - len(there)
        case "mean":
            return sum(map(float, there)) / len(there)
        case "below":
            return float(sum(float(each) < bound for each in there))
        case "above":
            return float(sum(float(each) > bound for each in there))
        case "value":
            return sum(_shown(figure.column, each) == figure.text(schema) for each in there)
    values_of = [each for each in layout.figures if each.kind == "value" and each.column == figure.column]
    known = [each.text(schema) for each in values_of]
    return sum(_shown(figure.column, each) not in known for each in there)


def _shown(column: str, value: Any) -> str:
    return f"share({column} = {value!r})"


@pytest.mark.parametrize("seed", range(3))
def test_figures_are_those_of_plain_values(tmp_path: Path, seed: int) -> None:
    table, values = _table(tmp_path, seed, 300)
    layout = _chosen(table)
    found = _measured(table, layout, 300)
    kinds = {figure.kind for figure in layout.figures}
    assert kinds == {"rows", "newest", "nulls", "value", "others", "below", "above", "mean"}
    for place, figure in enumerate(layout.figures):
        expected = _expected(figure, values, layout, table.schema)
        assert found.values[place] == pytest.approx(expected), figure
    assert all(math.isfinite(error) for error in found.errors.values())


def test_which_figures_a_table_has(tmp_path: Path) -> None:
    table, _ = _table(tmp_path, 0, 300)
    texts = [figure.text(table.schema) for figure in _chosen(table).figures]
    assert texts[:2] == ["rows_in_batch", "newest(on)"]
    assert [text for text in texts if "status" in text] == [
        "share(null status)", 'share(status = "it\'s")', "share(status = 'open')", "share(status = 'paid')",
        "share(other status)",
    ]  # fmt: skip
    assert [text for text in texts if "note" in text] == ["share(null note)"], "names have no usual values"
    assert [text for text in texts if "id" in text.split("(")[1:]] == []
    assert [text.split(" ")[0] for text in texts if "price" in text] == [
        "share(null", "avg(price)", "share(price", "share(price", "share(price",
    ]  # fmt: skip


def test_ids_have_no_usual_values(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    table = encoded(
        tmp_path, {"id": range(400), "by": np.repeat(np.arange(100), 4), "of": random.integers(0, 10**6, 400)}
    )
    assert [figure.kind for figure in _chosen(table, "").figures] == ["rows", "newest", "nulls", "nulls", "nulls"]


def test_few_rows_have_only_their_number(tmp_path: Path) -> None:
    table, _ = _table(tmp_path, 1, 300)
    found = _measured(table, _chosen(table), 29)
    assert found.values[ROWS] == 29
    assert np.isnan(found.values[1:]).all()
    assert found.newest is not None
    assert not np.isnan(_measured(table, _chosen(table), 30).values[NEWEST])


def test_columns_without_values_and_odd_numbers(tmp_path: Path) -> None:
    table = encoded(
        tmp_path,
        {"none": pa.array([None] * 200, pa.float64()), "odd": [math.nan, math.inf] * 100, "one": [7.5] * 200},
    )
    layout = _chosen(table, "")
    found = _measured(table, layout, 200)
    by_text = dict(
        zip(
            [each.text(table.schema) for each in layout.figures if each.is_watched],
            [*found.values[:1], *found.values[2:]],
            strict=True,
        )
    )
    assert by_text["share(null none)"] == 200
    assert "avg(none)" not in by_text
    assert np.isnan(by_text["avg(odd)"])
    assert by_text["share(one = 7.5)"] == 200
    assert by_text["share(other one)"] == 0
    none = _measured(table, layout, 0)
    assert none.values[ROWS] == 0


def test_later_columns_get_figures_once_they_have_values(tmp_path: Path) -> None:
    first = encoded(tmp_path, {"a": ["x", "y"] * 100})
    layout = _chosen(first, "")
    later = encoded(tmp_path, {"a": ["x", "y"] * 100, "b": ["u"] * 60 + [None] * 140})
    grown = layout.completed(later.schema, later.dictionaries, [later.column_codes(0), later.column_codes(1)])
    assert grown.figures[: len(layout.figures)] == layout.figures
    assert [each.kind for each in grown.figures if each.column == "b"] == ["nulls"], "60 values say little"
    full = encoded(tmp_path, {"a": ["x", "y"] * 100, "b": ["u"] * 200})
    again = grown.completed(full.schema, full.dictionaries, [full.column_codes(0), full.column_codes(1)])
    assert [each.kind for each in again.figures if each.column == "b"] == ["nulls", "value", "others"]
    assert again.completed(full.schema, full.dictionaries, [full.column_codes(0), full.column_codes(1)]) is again


def test_figures_follow_their_columns(tmp_path: Path) -> None:
    table, _ = _table(tmp_path, 2, 300)
    layout = _chosen(table)
    moved = layout.with_columns({"status": "state", "amount": None, "on": "day"})
    assert len(moved.figures) == len(layout.figures), "places stay"
    assert {each.column for each in moved.figures} == {"", "id", "state", "price", "pieces", "paid", "day", "note"}
    assert moved.day == "day"
    assert "amount" not in moved.complete
    plain = Layout.from_json(moved.to_json())
    assert plain == moved
    with_more = Layout((Figure("rows"),), fresh={0: Fresh(3, 4)}, muted=frozenset({0}))
    assert Layout.from_json(with_more.to_json()) == with_more


def test_values_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    table, _ = _table(tmp_path, 3, 300)
    layout = _chosen(table)
    assert without_gone_values(layout, table.schema, table.dictionaries) is layout
    others = encoded(
        tmp_path,
        pa.table({name: table.decode(table.codes(np.arange(300)))[name] for name in table.schema.names}).filter(
            pa.array([each != "open" for each in _values(3, 300)["status"]])
        ),
    )
    kept = without_gone_values(layout, others.schema, others.dictionaries)
    assert "open" not in str(kept.to_json())
    assert len(kept.figures) == len(layout.figures)
