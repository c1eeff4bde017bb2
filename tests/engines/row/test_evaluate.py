"""Which rows violate a rule about one row: by the oracle, and by DuckDB."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings

import holdfast as hf
from holdfast.engines.given.listing import PairListing
from holdfast.rules.conditions import Condition
from holdfast.rules.file import read_rules
from holdfast.rules.sql import condition_sql
from tests.engines.row.conditions import TEXTS, as_tuples, conditions, row_lists, subtracts_times_alone, table_of
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
    assume(not subtracts_times_alone(condition))
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


TIMES = pa.table(
    {
        "day": pa.array([dt.date(2024, 2, 28), dt.date(2024, 3, 1), None], pa.date32()),
        "far": pa.array([2**31 - 1, -(2**31) + 1, 0], pa.int32()).cast(pa.date32()),
        "at": pa.array([dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, 0, 0, 1), dt.datetime(2024, 3, 2)]),
        "zoned": pa.array([dt.datetime(2024, 3, 1)] * 3, pa.timestamp("us", "UTC")),
        "took": pa.array([dt.timedelta(hours=36), dt.timedelta(days=-1), None]),
        "name": ["Ada", "ada ", "é"],
    }
)


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("t.day + 2 days = t.at", [1]),
        ("t.at <= t.day + 2 days", []),
        ("t.at - t.day <= 1 day", [0]),
        ("t.at - t.day = 48 hours", [1]),
        ("t.at - 1 second < DATE '2024-03-01'", [1, 2]),
        ("t.zoned - t.day >= 0 seconds", []),
        ("t.zoned + 1 minute > TIMESTAMP '2024-03-01 02:00:30+02:00'", []),
        ("t.far - 1 week < t.far", []),
        ("t.far - t.day < 999999 weeks", [0]),
        ("t.took + t.took = 3 days", [1]),
        ("t.took >= -24 hours", []),
        ("t.took in (36 hours, 1 day)", [1]),
        ("t.at + t.took > t.at", [1]),
        ("length(t.name) = 3", [1, 2]),
        ("lower(t.name) = 'ada'", [1, 2]),
        ("upper(lower(t.name)) != upper(t.name)", [0, 1, 2]),
        ("length(upper(t.name)) + 1 < 5", [1]),
        ("lower(t.name) like 'a%' or length(t.name) = 1", []),
    ],
)
def test_times_whiles_and_functions(rule: str, broken: list[int]) -> None:
    (listing,) = hf.check(TIMES, rule).listings
    assert listing.listed[:, 0].tolist() == broken


@pytest.mark.parametrize(
    ("rule", "sentence", "at"),
    [
        ("t.day + t.at > t.at", "can't calculate t.day + t.at of date and timestamp without time zone; a while", 0),
        ("t.at > t.day * 2 days", "can't calculate t.day * 2 days of date and a while", 7),
        ("t.at - t.zoned < 1 day", "can't calculate t.at - t.zoned", 0),
        ("length(t.day) > 3", "has length of date; it is for text", 7),
        ("3 < length(lower(t.at))", "has lower of timestamp without time zone; it is for text", 13),
    ],
)
def test_type_errors_point_at_the_character(rule: str, sentence: str, at: int) -> None:
    with pytest.raises(hf.BadInput) as error:
        hf.check(TIMES, rule)
    first, _, mark = str(error.value).split("\n")
    assert sentence in first
    assert mark.index("^") - 2 == at


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("t.at - t.day < 3", "compares a while with a constant of another type; write 30 days, for example"),
        ("t.at < t.day", "compares timestamp without time zone with date"),
        ("t.at + 1 day < 'soon'", "compares a timestamp with text; write TIMESTAMP"),
        ("t.name + 1 day = t.at", "calculates with t.name, which is text; use numbers only"),
        ("lower(t.name) < 'b'", "needs an order of text"),
        ("lower(t.name) = 3", "compares text with a constant of another type; write '3'"),
    ],
)
def test_what_does_not_compare_is_refused(rule: str, sentence: str) -> None:
    with pytest.raises(hf.BadInput, match=sentence):
        hf.check(TIMES, rule)


def test_sentences_say_what_a_calculation_comes_to() -> None:
    for rule, said in [
        ("t.at - t.day < 2 days", "row 0: t.at - t.day (2 days) is at least 2 days"),
        (
            "t.day + 2 days = t.at",
"row 1: t.day + 2 days (2024-03-03 00:00:00) differs from at '2024-03-01 00:00:01'",
        ),
        ("length(t.name) = 3", "row 1: length(t.name) (4) differs from 3"),
    ]:  # fmt: skip
        (listing,) = hf.check(TIMES, rule).listings
        assert isinstance(listing, PairListing)
        assert listing.explain(int(listing.listed[0, 0])) == said


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
