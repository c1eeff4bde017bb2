"""Likely rules about one row: each holds in the rows as its definition says, and planted ones are found."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast as hf
from holdfast.engines.chance import BATCHES
from holdfast.ranking.suggestion import Suggestion

Rows = dict[str, list[Any]]
ERROR = 0.001


def suggested(columns: Rows | pa.Table) -> dict[str, Suggestion]:
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    return {each.text: each for each in hf.suggest({"t": table}, "row")}


def about(columns: Rows | pa.Table, column: str) -> list[str]:
    """The rules about one column, without its name."""
    start = f"t.{column} "
    return sorted(text.replace(start, "") for text in suggested(columns) if text.startswith(start))


# ---- by definition --------------------------------------------------------------------------------------------------

CELLS = st.sampled_from([None, 0, 1, 2, 3, 5, 8, -1])
TEXTS = st.sampled_from([None, "a", "b", "A-1", "A-2"])


@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS, TEXTS), min_size=2, max_size=12),
    st.integers(1, 40),
    st.lists(st.tuples(CELLS, CELLS, CELLS, TEXTS), max_size=2),
)
def test_each_rule_is_broken_by_the_rows_that_it_names(
    rows: list[tuple[Any, ...]], times: int, more: list[tuple[Any, ...]]
) -> None:
    """All exact rules hold, and the others are broken by as many rows as they say: as SQL's CHECK would say it."""
    every = rows * times + more
    columns = dict(zip("abcd", map(list, zip(*every, strict=True)), strict=True))
    kinds = [pa.int64(), pa.int64(), pa.float64(), pa.string()]
    table = pa.table([pa.array(own, kind) for own, kind in zip(columns.values(), kinds, strict=True)], list("abcd"))
    for text, each in suggested(table).items():
        broken = [
            place for place, row in enumerate(every) if by_book(text, dict(zip("abcd", row, strict=True))) is False
        ]
        assert each.scored.to_remove == len(broken), text
        assert list(each.scored.rows) == broken[:10]
        assert not broken or each.severity == "warn"


def by_book(text: str, row: dict[str, Any]) -> bool | None:
    """Whether a rule of one of the suggested forms is true of a row; None: unknown."""
    if text.endswith(" is not null"):
        return row[text[2]] is not None
    if " matches " in text:
        pattern = text.split(" matches ")[1][1:-1].replace("''", "'")
        return None if row[text[2]] is None else re.fullmatch(pattern, row[text[2]]) is not None
    if " in (" in text:
        column, values = text[2], text.split(" in ")[1]
        return None if row[column] is None else row[column] in eval(values.replace(")", ",)"))
    python = re.sub(r"(.+) between (\S+) and (\S+)", r"\2 <= \1 <= \3", text)
    python = re.sub(r"(?<![<>!=])=(?!=)", "==", python)
    names = {found: row[found] for found in re.findall(r"t\.([abcd])", text)}
    if any(value is None for value in names.values()):
        return None
    try:
        return bool(eval(re.sub(r"t\.([abcd])", r"\1", python), {}, names))
    except ZeroDivisionError:
        return None


# ---- values ---------------------------------------------------------------------------------------------------------


def test_columns_without_nulls() -> None:
    rows = 200
    found = suggested({"full": ["x"] * rows, "one": [None] + ["x"] * (rows - 1), "many": [None] * 50 + ["x"] * 150})
    assert found["t.full is not null"].scored.to_remove == 0
    assert found["t.one is not null"].scored.to_remove == 1
    assert found["t.one is not null"].severity == "warn"
    assert "t.many is not null" not in found


def test_few_nulls_elsewhere_make_it_a_warning() -> None:
    """A column with one null says that others are about to get theirs."""
    full: Rows = {name: [f"{name}{number}" for number in range(300)] for name in "abc"}
    assert suggested(full)["t.a is not null"].severity == "error"
    assert suggested({**full, "c": [None, *full["c"][1:]]})["t.a is not null"].severity == "warn"
    assert suggested({**full, "c": [None] * 100 + full["c"][100:]})["t.a is not null"].severity == "error"


def test_constants_and_sets_only_warn() -> None:
    found = suggested({"one": ["x"] * 5000, "few": ["a", "b", "c", "d"] * 1250, "flag": [0, 1] * 2500})
    assert found["t.one = 'x'"].severity == "warn"
    assert found["t.few in ('a', 'b', 'c', 'd')"].severity == "warn"
    assert found["t.flag in (0, 1)"].severity == "warn"
    assert not [text for text in found if "matches" in text or text.startswith("t.one in")]


def test_a_set_needs_values_that_are_met_again() -> None:
    assert not [text for text in suggested({"a": ["x", "y"] * 100 + ["z"]}) if " in (" in text]


@pytest.mark.parametrize("kind", [pa.bool_(), pa.time64("us"), pa.duration("us"), pa.date32(), pa.decimal128(9, 2)])
def test_columns_of_every_type_are_read(kind: pa.DataType) -> None:
    numbers = pa.array([place % 2 for place in range(400)])
    wide = {pa.bool_(): pa.bool_(), pa.date32(): pa.int32()}.get(kind, pa.int64())
    column = numbers.cast(pa.int64()).cast(wide)
    column = column.cast(kind) if not pa.types.is_decimal(kind) else numbers.cast(pa.decimal128(30, 2)).cast(kind)
    assert "t.a is not null" in suggested(pa.table({"a": column}))


def test_nothing_is_said_of_few_rows_or_none() -> None:
    assert not suggested({"a": ["x"] * 10})
    assert not suggested(pa.table({"a": pa.array([], pa.int64())}))
    assert not suggested({"a": pa.nulls(100, pa.int64())})


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_numbers_without_an_end_have_no_range(odd: float) -> None:
    values = [float(place % 97) for place in range(999)]
    assert about({"a": values}, "a") != ["is not null"]
    assert about({"a": [*values, odd]}, "a") == ["is not null"]


@pytest.mark.parametrize("spread", [1, 2**52])
def test_moments_beyond_the_calendar_have_no_range_and_no_constant(spread: int) -> None:
    """Arrow has years that Python's dates have not."""
    moments = pa.array([2**61 + (place % 200) * spread for place in range(400)]).cast(pa.timestamp("us"))
    constant = pa.array([2**61] * 400).cast(pa.timestamp("us"))
    table = pa.table({"a": moments, "b": moments, "c": constant})
    assert about(table, "c") == ["is not null"]
    assert not [text for text in suggested(table) if "TIMESTAMP" in text]


# ---- ranges ---------------------------------------------------------------------------------------------------------


def test_a_price_has_limits_far_out() -> None:
    prices = np.round(np.random.default_rng(0).uniform(2, 200, 2000), 2).tolist()
    found = suggested({"price": prices})
    (text,) = (text for text in found if "<=" in text or "between" in text)
    assert found[text].severity == "error"
    low, high = (float(each) for each in re.findall(r"[\d.]+$|[\d.]+(?= and)|(?<=> )[\d.]+", text)[:2])
    assert low <= 2
    assert 400 <= high <= 1000


@pytest.mark.parametrize(
    "values",
    [
        list(range(1, 2001)),
        [number // 2 for number in range(2000)],
        [1000 - number for number in range(2000)],
        (np.arange(2000) * 0.7 + np.random.default_rng(0).normal(0, 5, 2000)).tolist(),
        np.cumsum(np.random.default_rng(1).exponential(1, 2000)).tolist(),
        np.random.default_rng(2).permutation(2000).tolist(),
        (1.002 ** np.arange(2000) * np.random.default_rng(3).uniform(1, 2, 2000)).tolist(),
        [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=number) for number in range(2000)],
        [dt.date(2024, 1, 1) + dt.timedelta(days=number % 300) for number in range(2000)],
    ],
    ids=["ids", "halves", "falling", "trend", "sum", "shuffled", "exponential", "moments", "dates"],
)
def test_what_grows_has_no_upper_limit(values: Sequence[Any]) -> None:
    falling = (values[0] > values[-1] and not isinstance(values[0], int | dt.date)) or values[:2] == [1000, 999]
    for text in about({"a": list(values)}, "a"):
        assert "<=" not in text
        assert "between" not in text
        assert not (falling and text.startswith(">= -"))


def test_what_grows_with_a_moment_has_no_upper_limit_in_any_order() -> None:
    random = np.random.default_rng(4)
    order = random.permutation(3000)
    moments = [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=int(place)) for place in order]
    growing = (order * 1.0 + random.normal(0, 50, 3000)).round(1).tolist()
    assert not [text for text in about({"at": moments, "a": growing}, "a") if "<=" in text or "between" in text]


def test_one_thing_that_is_met_again_and_again_shows_no_range() -> None:
    """Rows of one town stand together: they are few tests of what zip codes there are."""
    zips = [zip_code for zip_code in (10115, 10117, 20095, 50667, 80331, 80333) for _ in range(100)]
    assert about({"zip": zips}, "zip") == ["is not null"]


# ---- formats --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "pattern"),
    [
        (lambda n: f"{'ABCDEFGH'[n % 8]}{'KLMNOPQRST'[n // 8 % 10]}-{n * 37 % 10000:04d}", "[A-Z]{2}-[0-9]{4}"),
        (lambda n: f"user{n}@mail{n % 3}.example.org", r"[^@\s]+@[^@\s]+\.[^@\s]+"),
        (lambda n: f"{n * 7919 % 100000:05d}", "[0-9]{5}"),
        (lambda n: f"O-{n:07d}", "O-[0-9]{7}"),
        (lambda n: f"C{n + 1000}", "C[0-9]{4,}"),
        (lambda n: f"C{n + 1}", "C[0-9]+"),
        (lambda n: f"20{n % 30:02d}-{n % 12 + 1:02d}-01 x"[:10], "[0-9]{4}-[0-9]{2}-[0-9]{2}"),
        (lambda n: f"{n * 31 % 90}.{n % 7}%", r"[0-9]+\.[0-9]%"),
    ],
)
def test_formats(made: Any, pattern: str) -> None:
    texts = pa.array([made(number) for number in range(360)])
    patterns = [text for text in about(pa.table({"a": texts}), "a") if text.startswith("matches")]
    assert patterns == [f"matches '{pattern}'"] or pattern == r"[0-9]+\.[0-9]%"
    assert all(re.fullmatch(patterns[0][9:-1], each) for each in texts.to_pylist())


@pytest.mark.parametrize(
    "made",
    [
        lambda n: ["Anna", "Ben", "Clara"][n % 3] + " " + ["Abel", "Braun", "Costa-Dahl"][n % 7 % 3] + str(n % 5),
        lambda n: f"{['Ring', 'Allee', 'Lindenweg'][n % 3]} {n % 90}",
        lambda n: "".join(chr(97 + (n * prime) % 26) for prime in (3, 5, 7, 11)[: n % 4 + 1]),
        lambda n: f"{chr(192 + n % 60)}-{n}",
    ],
)
def test_words_are_no_format(made: Any) -> None:
    assert not [text for text in about({"a": [made(number) for number in range(400)]}, "a") if "matches" in text]


def test_a_format_with_exceptions_warns() -> None:
    texts = [f"AB-{number:04d}" for number in range(500)] + ["none"]
    (found,) = (each for text, each in suggested({"a": texts}).items() if "matches" in text)
    assert (found.scored.to_remove, found.scored.rows, found.severity) == (1, (500,), "warn")


def test_few_prefixes_do_not_show_that_any_may_come() -> None:
    texts = [f"{['COG', 'KOG', 'NOG'][number % 3]}{number:04d}" for number in range(300)]
    (found,) = (each for text, each in suggested({"a": texts}).items() if "matches" in text)
    assert found.severity == "warn"


# ---- several columns ------------------------------------------------------------------------------------------------


def test_moments_that_follow_each_other() -> None:
    random = np.random.default_rng(5)
    start = np.datetime64("2025-01-01") + random.integers(0, 100_000, 1000).astype("timedelta64[m]")
    shipped = start + random.exponential(2000, 1000).astype("timedelta64[m]")
    done = shipped + random.integers(0, 5000, 1000).astype("timedelta64[m]")
    late = [None if place % 10 == 0 else value for place, value in enumerate(done.tolist())]
    found = suggested({"start": start.tolist(), "shipped": shipped.tolist(), "done": late})
    assert found["t.start <= t.shipped"].severity == "error"
    assert found["t.shipped <= t.done"].severity == "error"
    assert "t.start <= t.done" not in found, "it follows from the others"


def test_columns_of_different_size_are_not_compared() -> None:
    random = np.random.default_rng(6)
    columns = {"age": random.integers(18, 90, 1000).tolist(), "salary": random.integers(20_000, 90_000, 1000).tolist()}
    assert not [text for text in suggested(columns) if "t.age <=" in text and "t.salary" in text]


def test_a_comparison_with_exceptions_warns() -> None:
    low = np.random.default_rng(7).integers(0, 1000, 1000)
    columns = {"low": low.tolist(), "high": (low + np.arange(1000) % 9 - (np.arange(1000) == 5) * 500).tolist()}
    assert suggested(columns)["t.low <= t.high"].scored.rows == (5,)


NUMBERS = np.random.default_rng(8).integers(1, 100, (3, 400))


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"a": (NUMBERS[0] + NUMBERS[1]), "b": NUMBERS[0], "c": NUMBERS[1]}, "t.a = t.b + t.c"),
        ({"a": (NUMBERS[0] * NUMBERS[1]), "b": NUMBERS[0], "c": NUMBERS[1]}, "t.a = t.b * t.c"),
        ({"a": NUMBERS.sum(axis=0), "b": NUMBERS[0], "c": NUMBERS[1], "d": NUMBERS[2]}, "t.a = t.b + t.c + t.d"),
        ({"a": NUMBERS[0] * 100, "b": NUMBERS[0]}, "t.a = t.b * 100"),
        ({"a": NUMBERS[0], "b": NUMBERS[0]}, "t.a = t.b"),
        (
            {"a": np.round(NUMBERS[0] * NUMBERS[1] / 100, 2), "b": NUMBERS[0], "c": NUMBERS[1] / 100},
            "t.a - t.b * t.c between -0.00501 and 0.00501",
        ),
        (
            {"a": np.round(NUMBERS[0] / NUMBERS[1], 2), "b": NUMBERS[0], "c": NUMBERS[1]},
            "t.a - t.b / t.c between -0.00501 and 0.00501",
        ),
        (
            {"a": np.round(NUMBERS[0] * (1 + NUMBERS[1] / 100), 2), "b": NUMBERS[0], "c": NUMBERS[1] / 100},
            "t.a - t.b * (1 + t.c) between -0.00501 and 0.00501",
        ),
    ],
    ids=["sum", "product", "three", "factor", "equal", "rounded", "ratio", "rate"],
)
def test_equations(columns: dict[str, Any], text: str) -> None:
    found = suggested({name: own.tolist() for name, own in columns.items()})
    assert found[text].severity == "error"
    others = [each for each in found if len(set(re.findall(r"t\.([a-d])", each))) > 1 and each != text]
    assert not others, "each thing is said once"


def test_equations_of_decimals_are_exact() -> None:
    price = [Decimal(int(each)) / 100 for each in NUMBERS[0]]
    quantity = NUMBERS[1].tolist()
    amount = [one * other for one, other in zip(price, quantity, strict=True)]
    table = pa.table({
        "amount": pa.array(amount, pa.decimal128(12, 2)),
        "quantity": pa.array(quantity, pa.int64()),
        "price": pa.array(price, pa.decimal128(9, 2)),
    })  # fmt: skip
    assert suggested(table)["t.amount = t.quantity * t.price"].severity == "error"


def test_an_equation_with_exceptions_and_nulls() -> None:
    total = (NUMBERS[0] + NUMBERS[1]).tolist()
    total[7] += 1
    total[8] = None
    found = suggested({"a": total, "b": NUMBERS[0].tolist(), "c": NUMBERS[1].tolist()})["t.a = t.b + t.c"]
    assert (found.scored.to_remove, found.scored.rows, found.scored.support) == (1, (7,), 399)


def test_what_is_nearly_always_zero_shows_no_equation() -> None:
    rare = (np.arange(400) % 100 == 0).astype(int)
    found = suggested({"a": NUMBERS[0].tolist(), "b": (NUMBERS[0] + rare).tolist(), "c": rare.tolist()})
    assert not [text for text in found if "+" in text]


def test_equal_texts() -> None:
    names = [f"name {number % 60}" for number in range(300)]
    assert "t.a = t.b" in suggested({"a": names, "b": [None, *names[1:]]})


def test_many_numeric_columns_take_a_bounded_search() -> None:
    random = np.random.default_rng(9)
    table = pa.table({f"n{number}": random.normal(0, 1, 200) for number in range(120)})
    assert not [text for text in suggested(table) if text.count("t.") > 1]


# ---- chance ---------------------------------------------------------------------------------------------------------


def test_errors_are_within_the_estimate() -> None:
    columns = {"a": [f"K{number:05d}" for number in range(400)], "b": ["x", "y"] * 200}
    for each in suggested(columns).values():
        assert each.expected_breaks is not None
        assert each.scored.chance is not None
        assert each.expected_breaks == pytest.approx(BATCHES * each.usual.rows * each.scored.chance)
        assert each.severity == "warn" or each.expected_breaks <= ERROR
