"""Which rows violate a rule about one row: by the oracle, and by DuckDB."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings

import holdfast as hf
from holdfast.rules.conditions import Condition
from holdfast.rules.file import read_rules
from holdfast.rules.sql import condition_sql
from tests.engines.row.conditions import TEXTS, as_tuples, conditions, row_lists, table_of
from tests.oracle import row as oracle

Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rules")


def _violators(some: Rows, condition: Condition, folder: Path) -> set[int]:
    file = folder / "rules.json"
    file.write_text(json.dumps({"rules": [{"rule": condition.text}], "ordered": TEXTS}), encoding="utf-8")
    (listing,) = hf.check({"t": table_of(some)}, read_rules(file)).listings
    return set(listing.listed[:, 0].tolist())


@settings(max_examples=300)
@given(some=row_lists, condition=conditions)
def test_as_the_oracle_says(some: Rows, condition: Condition, folder: Path) -> None:
    assert _violators(some, condition, folder) == oracle.violators(dict(enumerate(some)), as_tuples(condition))


@settings(max_examples=300)
@given(some=row_lists, condition=conditions)
def test_the_opposite_is_true_where_it_is_false(some: Rows, condition: Condition, folder: Path) -> None:
    by_id = dict(enumerate(some))
    truths = {number: oracle.truth(as_tuples(condition), row) for number, row in by_id.items()}
    assert _violators(some, condition.opposite, folder) == {number for number, truth in truths.items() if truth}
    assert condition.opposite.opposite == condition


def _plain_numbers(some: Rows) -> Rows:
    """Rows in which numbers are small: DuckDB compares decimals with floats as floats, and its integers overflow."""
    return [tuple(None if isinstance(v, int | float) and abs(v) > 2**50 else v for v in row) for row in some]


@settings(max_examples=150)
@given(some=row_lists, condition=conditions)
def test_as_duckdb_says(some: Rows, condition: Condition, folder: Path) -> None:
    rows = _plain_numbers(some)
    with duckdb.connect() as database:
        database.execute("CREATE MACRO regexp_like(a, b) AS regexp_matches(a, b)")
        database.register("given", table_of(rows).append_column("row", [list(range(len(rows)))]))
        found = database.execute(f"SELECT row FROM given t WHERE NOT ({condition_sql(condition)})").fetchall()
    assert _violators(rows, condition, folder) == {row for (row,) in found}


MIXED = pa.table(
    {
        "n": pa.array([2**60 + 1, 2**60, 1, None], pa.int64()),
        "f": pa.array([2.0**60, 2.0**60, 0.1, 1.0], pa.float64()),
        "d": pa.array([Decimal("0.1"), Decimal("0.5"), Decimal("0.1"), Decimal("1.0")], pa.decimal128(3, 1)),
    }
)


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("t.n = t.f", [0, 2]),  # 2**60 + 1 is no float
        ("t.f = t.d", [0, 1, 2]),  # and 0.1 is none
        ("t.f = 0.1", [0, 1, 3]),  # but here the column tells what 0.1 is
        ("t.n + 0 = t.f", [2]),  # with arithmetic, all is reckoned in floating point
        ("t.n * t.n > 0", []),
        ("t.n * t.n * t.n * t.n / 1 > 0", []),
        ("t.n * 1e0 = 1152921504606846977", [1, 2]),  # constants are exact, however they are written
        ("t.n * t.n = 1152921504606846977 * 1152921504606846977", [1, 2]),
        ("t.n - 9223372036854775807 - 9223372036854775807 < 0", []),
        ("t.n + 9223372036854775807 > 9223372036854775807", []),
        ("t.d / 0 = 1", []),
        ("t.d / 0 is not null", [0, 1, 2, 3]),
        ("t.d * 10 / 5 = 0.2", [1, 3]),
        ("t.n in (1152921504606846976, 1.00)", [0]),
        ("t.n < 0.5 or t.n > 1.5", [2]),
        ("t.n < 99999999999999999999", []),
        ("not (t.n is null or t.d > 0.4)", [1, 3]),
    ],
)
def test_numbers_of_all_types(rule: str, broken: list[int]) -> None:
    (listing,) = hf.check(MIXED, rule).listings
    assert listing.listed[:, 0].tolist() == broken


@pytest.mark.parametrize(
    "kept", [pa.decimal128(3, 1), pa.decimal128(15, 15), pa.decimal128(20, 2), pa.decimal128(38, 37)]
)
def test_decimals_become_the_nearest_floats(kept: pa.DataType) -> None:
    """As the constants do that they are compared with: Arrow's own cast makes 0.30000000000000004 of 0.3."""
    unscaled = [7 * n % 10**kept.precision for n in range(3, 10**kept.precision, 10**kept.precision // 97)]
    numbers = [Decimal((n % 2, tuple(map(int, str(n))), -kept.scale)) for n in unscaled]
    table = pa.table({"d": pa.array([None, *numbers], kept)})
    for number in numbers:
        (listing,) = hf.check(table, f"t.d / 1 != {number:f}").listings
        same = [row for row, other in enumerate(numbers, 1) if float(other) == float(number)]
        assert listing.listed[:, 0].tolist() == same
    (listing,) = hf.check(table.slice(0, 0), "t.d / 1 != 0.3").listings
    assert len(listing.listed) == 0
