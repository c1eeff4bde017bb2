"""The law of sources: the same table, read in any way, has the same types, rows and findings."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

import holdfast as hf
from tests.intake.building import read
from tests.laws.ways import SCHEMA, Row, ways
from tests.oracle.rows import plain_row
from tests.sources.databases.server import Server

# Tiny adversarial values: each occurs often, so that there are ties and duplicates.
VALUES = {
    "id": st.sampled_from([0, 1, -1, 2**53 + 1, 2**63 - 1, 1 - 2**63]),
    "name": st.sampled_from(["", " ", "a", "A", "Łódź 日本 \U0001f600", "00501", "null", "NaN", "x,y;'\"\n", "\ufeff"]),
    "share": st.sampled_from([0.0, -0.0, 0.1, -2.25, 1e300, 5e-324, 3.0, float("nan"), float("inf")]),
    "flag": st.booleans(),
    "day": st.sampled_from([dt.date(1, 1, 1), dt.date(1900, 2, 28), dt.date(2024, 2, 29), dt.date(9999, 12, 31)]),
    "at": st.sampled_from(
        [dt.datetime(1, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(2024, 2, 29, 1, 2, 3, 400000)]
    ),
    "price": st.sampled_from([Decimal("0.00"), Decimal("-0.01"), Decimal("12.50"), Decimal("99999999.99")]),
}
ROWS = st.lists(st.fixed_dictionaries({name: st.none() | values for name, values in VALUES.items()}), max_size=6)
ALL = ["parquet", "arrow", "csv", "pattern", "json", "sqlite", "duckdb", "adbc", "postgres"]


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
@example(rows=[])
@example(rows=[dict.fromkeys(VALUES)])
def test_every_way_gives_the_same(name: str, rows: list[Row], tmp_path: Path, postgres: Server) -> None:
    way = ways(postgres)[name]
    assume(rows or way.empty)
    table = way.held(pa.Table.from_pylist(rows, SCHEMA))
    source, options = way.store(tmp_path, table)
    types, found = read(tmp_path, source, options)
    expected_types, expected = read(tmp_path, table)
    assert types == expected_types
    assert Counter(map(plain_row, found)) == Counter(map(plain_row, expected))
    rules = "column,ucc,fd,od"
    findings = hf.discover({"things": source}, rules, options=options).to_json()
    assert findings == hf.discover({"things": table}, rules).to_json()
