"""Problems that are planted into a day of a table, and which part of Holdfast is to see each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from tests.seasons.generator import Columns, Random

Part = Literal["batches", "rows"]  # expectations of batches, or rules about one row
Spoil = Callable[[Random, Columns], Columns]

TIMES = {"visits": "admitted_at", "readings": "measured_at", "bookings": "booked_on"}


class Problem(NamedTuple):
    """What is wrong: the table, how it is spoiled, which part is to see it, and whether that is an alarm by itself, or
    may be a warning.
    """

    name: str
    table: str
    spoil: Spoil
    seen_by: tuple[Part, ...]
    alarm: bool = True


def _few(random: Random, rows: Columns) -> Columns:
    """Most rows are missing."""
    count = len(next(iter(rows.values())))
    kept = np.sort(random.permutation(count)[: int(count * random.uniform(0.02, 0.2))])
    return {name: values[kept] for name, values in rows.items()}


def _doubled(_: Random, rows: Columns) -> Columns:
    """All rows come twice, with other ids."""
    first, count = next(iter(rows)), len(next(iter(rows.values())))
    twice = {name: np.concatenate([values, values]) for name, values in rows.items()}
    return twice | {first: np.arange(twice[first][0], twice[first][0] + 2 * count) + 10_000_000}


def _nulls(column: str) -> Spoil:
    def spoil(random: Random, rows: Columns) -> Columns:
        values = rows[column].astype(object)
        values[random.random(len(values)) < random.uniform(0.3, 1.0)] = None
        return rows | {column: values}

    return spoil


def _times(column: str, factor: float) -> Spoil:
    return lambda _, rows: rows | {column: (rows[column] * factor).astype(rows[column].dtype)}


def _mostly(column: str, value: str, share: float) -> Spoil:
    """A value, perhaps a new one, takes the place of others."""

    def spoil(random: Random, rows: Columns) -> Columns:
        values = rows[column].astype(object)
        values[random.random(len(values)) < share] = value
        return rows | {column: values}

    return spoil


def _stale(random: Random, rows: Columns) -> Columns:
    """Rows of weeks ago come, with new ids."""
    ago = np.timedelta64(int(random.integers(8, 30)), "D")
    return rows | {name: values - ago for name, values in rows.items() if values.dtype.kind == "M"}


def _negative(column: str) -> Spoil:
    def spoil(random: Random, rows: Columns) -> Columns:
        sign = np.where(random.random(len(rows[column])) < 0.5, -1, 1)
        return rows | {column: rows[column] * sign}

    return spoil


def _one_row(column: str, change: Callable[[object], object]) -> Spoil:
    """A few rows are wrong by themselves."""

    def spoil(random: Random, rows: Columns) -> Columns:
        values = rows[column].copy()
        for place in random.choice(len(values), 3, replace=False):
            values[place] = change(values[place])
        return rows | {column: values}

    return spoil


def _before(end: str, start: str) -> Spoil:
    """Some things end before they start."""

    def spoil(random: Random, rows: Columns) -> Columns:
        values = rows[end].copy()
        wrong = random.choice(len(values), 3, replace=False)
        values[wrong] = rows[start][wrong] - np.timedelta64(2, "D")
        return rows | {end: values}

    return spoil


BATCHES: tuple[Part, ...] = ("batches",)
ROWS: tuple[Part, ...] = ("rows",)

PROBLEMS = [
    *(Problem(f"few {table}", table, _few, BATCHES) for table in TIMES),
    *(Problem(f"{table} twice", table, _doubled, BATCHES) for table in TIMES),
    *(Problem(f"{table} of weeks ago", table, _stale, BATCHES) for table in TIMES),
    Problem("visits without ward", "visits", _nulls("ward"), ("batches", "rows")),
    Problem("visits without insurer", "visits", _nulls("insurer"), BATCHES),
    Problem("readings without humidity", "readings", _nulls("humidity"), ("batches", "rows")),
    Problem("bookings without cabin", "bookings", _nulls("cabin"), ("batches", "rows")),
    Problem("fees in cents", "visits", _times("fee", 100), BATCHES, alarm=False),
    Problem("minutes in seconds", "visits", _times("minutes", 60), BATCHES, alarm=False),
    Problem("volts in millivolts", "readings", _times("battery", 1000), BATCHES, alarm=False),
    Problem("prices in cents", "bookings", _times("price", 100), BATCHES, alarm=False),
    Problem("all to surgery", "visits", _mostly("ward", "surgery", 0.8), BATCHES, alarm=False),
    Problem("all by agency", "bookings", _mostly("channel", "agency", 0.7), BATCHES, alarm=False),
    Problem("readings are poor", "readings", _mostly("quality", "poor", 0.6), BATCHES, alarm=False),
    Problem("a new ward", "visits", _mostly("ward", "unknown", 0.5), BATCHES, alarm=False),
    Problem("a new firmware", "readings", _mostly("firmware", "0.0.0", 0.5), BATCHES, alarm=False),
    Problem("a new cabin", "bookings", _mostly("cabin", "N/A", 0.5), BATCHES, alarm=False),
    Problem("negative fees", "visits", _negative("fee"), ("batches", "rows"), alarm=False),
    Problem("negative totals", "bookings", _negative("total"), ("batches", "rows"), alarm=False),
    Problem("discharged before admitted", "visits", _before("discharged_at", "admitted_at"), ROWS),
    Problem("departs before booked", "bookings", _before("departs_on", "booked_on"), ROWS),
    Problem("malformed diagnosis", "visits", _one_row("diagnosis", lambda each: f"x{each}?"), ROWS),
    Problem("malformed passport", "bookings", _one_row("passport", lambda each: str(each)[:4]), ROWS),
    Problem("malformed sensor", "readings", _one_row("sensor", lambda each: str(each).lower()), ROWS),
    Problem("wrong total", "bookings", _one_row("total", lambda each: float(str(each)) + 10), ROWS),
]


def seen_by(part: Part) -> list[Problem]:
    """The problems that a part is to see."""
    return [each for each in PROBLEMS if part in each.seen_by]
