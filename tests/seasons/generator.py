"""A clinic, a network of sensors, and an airline, with weekends, seasons and growth. `problems.py` has what is planted.

Each domain is a table that gets a batch of rows a day. Numbers of rows follow the weekday, the season and a slow
growth, with noise of their own; values are drawn as such values are: skewed, seasonal, some of them null. Nothing here
knows what is watched.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Columns = dict[str, NDArray[Any]]  # by name; objects, where some are null
Random = np.random.Generator
FIRST = np.datetime64("2023-09-04")  # a Monday


@dataclass(frozen=True)
class Shape:
    """How many rows a day has: on a usual weekday, by weekday, with the season, with growth a day, and with noise."""

    rows: float
    weekdays: tuple[float, ...] = (1.0,) * 7
    season: float = 0.0  # the share by which a year goes up and down
    growth: float = 0.0
    noise: float = 0.03

    def of(self, day: int, random: Random) -> int:
        """The number of rows of a day."""
        season = 1 + self.season * np.sin(2 * np.pi * day / 365)
        mean = self.rows * self.weekdays[day % 7] * season * (1 + self.growth) ** day
        return int(random.poisson(mean * np.exp(random.normal(0, self.noise))))


@dataclass
class Domain:
    """A table: its name, how many rows a day has, and its rows of a day, given how many. `number` is the last id."""

    name: str
    shape: Shape
    make: Callable[[Random, int, NDArray[np.int64], int], Columns]
    time: str
    number: int = field(default=0)

    def day(self, day: int, random: Random) -> Columns:
        """The rows of a day."""
        count = self.shape.of(day, random)
        ids = np.arange(self.number, self.number + count)
        self.number += count
        return self.make(random, day, ids, count)


def _at(random: Random, day: int, count: int, first: int = 0, last: int = 24) -> NDArray[Any]:
    """Moments of a day, in order."""
    seconds = np.sort(random.integers(first * 3600, last * 3600, count))
    return np.asarray((FIRST + day).astype("datetime64[s]") + seconds.astype("timedelta64[s]"))


def _some_null(random: Random, values: NDArray[Any], share: float) -> NDArray[Any]:
    own = values.astype(object)
    own[random.random(len(own)) < share] = None
    return own


def _codes(random: Random, count: int, form: Callable[[int, int], str]) -> NDArray[Any]:
    """Codes of a letter and a number."""
    return np.array([form(a, b) for a, b in random.integers([6, 10**8], size=(count, 2))], object)


def _visits(random: Random, day: int, ids: NDArray[np.int64], count: int) -> Columns:
    came = _at(random, day, count, 7, 19)
    minutes = np.maximum(random.lognormal(3.6, 0.5, count), 5).astype(np.int64)
    fee = np.round(random.gamma(3.0, 40.0, count) + 20, 2)
    share = random.choice([0.0, 0.1, 0.2], count)
    return {
        "visit": ids,
        "patient": random.integers(1_000, 1_000 + 40 * (day + 100), count),
        "admitted_at": came,
        "discharged_at": came + (60 * minutes).astype("timedelta64[s]"),
        "ward": random.choice(["surgery", "eyes", "heart", "children", "skin"], count, p=[0.3, 0.25, 0.2, 0.15, 0.1]),
        "diagnosis": _codes(random, count, lambda a, b: f"{'ABCDEF'[a]}{b % 100:02d}.{b % 10}"),
        "minutes": minutes,
        "fee": fee,
        "copay": np.round(fee * share, 2),
        "insurer": _some_null(random, random.choice(["AOK", "TK", "Barmer", "private"], count), 0.02),
        "phone": _some_null(random, random.integers(10**9, 10**10, count).astype(str), 0.3),
    }  # fmt: skip


def _readings(random: Random, day: int, ids: NDArray[np.int64], count: int) -> Columns:
    sensors = random.integers(1, 60, count)
    warmth = 10 - 9 * np.cos(2 * np.pi * (day + 245) / 365) + random.normal(0, 2)
    return {
        "reading": ids,
        "sensor": np.array([f"S-{each:04d}" for each in sensors], object),
        "measured_at": _at(random, day, count),
        "celsius": np.round(warmth + random.normal(0, 4, count), 1),
        "humidity": np.round(100 * random.beta(8, 4, count), 1),
        "battery": np.round(3.7 - 0.3 * random.beta(2, 5, count), 3),
        "quality": random.choice(["good", "fair", "poor"], count, p=[0.9, 0.08, 0.02]),
        "firmware": np.where(sensors % 7 < 5, "2.1.0", "2.0.4"),
        "site": np.array(["north", "south", "harbour"], object)[sensors % 3],
    }


def _bookings(random: Random, day: int, ids: NDArray[np.int64], count: int) -> Columns:
    booked = np.full(count, FIRST + day)
    seats = random.choice([1, 2, 3, 4, 5], count, p=[0.45, 0.35, 0.1, 0.07, 0.03])
    price = np.round(random.lognormal(5.0, 0.6, count), 2)
    return {
        "booking": ids,
        "booked_on": booked,
        "departs_on": booked + (1 + random.geometric(0.03, count)).astype("timedelta64[D]"),
        "flight": np.array([f"HF{each:04d}" for each in random.integers(100, 140, count)], object),
        "cabin": random.choice(["economy", "business", "first"], count, p=[0.8, 0.17, 0.03]),
        "channel": random.choice(["web", "app", "agency"], count, p=[[0.5, 0.3, 0.2], [0.4, 0.4, 0.2]][day % 7 > 4]),
        "seats": seats,
        "price": price,
        "total": np.round(seats * price, 2),
        "voucher": _some_null(random, random.choice(["SPRING", "HELLO"], count), 0.85),
        "passport": _codes(random, count, lambda a, b: f"{'CFGHJK'[a]}{b:08d}"),
    }  # fmt: skip


def domains(seed: int) -> list[Domain]:
    """The tables of a seed: seeds differ in size, growth and noise."""
    choose = np.random.default_rng(seed)
    size, growth = choose.uniform(0.8, 1.6), choose.uniform(0, 0.004)
    week = (1.0, 1.1, 1.0, 0.95, 0.9, 0.35, 0.3)
    holidays = (1.0, 0.9, 0.9, 0.95, 1.2, 1.5, 1.6)
    return [
        Domain("visits", Shape(150 * size, week, 0.1, growth), _visits, "admitted_at"),
        Domain("readings", Shape(160 * size, noise=0.02), _readings, "measured_at"),
        Domain("bookings", Shape(90 * size, holidays, 0.25, growth / 2, 0.05), _bookings, "booked_on"),
    ]


def as_table(columns: Mapping[str, NDArray[Any]]) -> pa.Table:
    """Rows as a table; days are dates."""
    plain = {}
    for name, values in columns.items():
        kind = pa.date32() if values.dtype == np.dtype("datetime64[D]") else None
        plain[name] = pa.array(values if kind is None else values.astype(datetime.date), kind)
    return pa.table(plain)


def together(days: list[Columns]) -> Columns:
    """The rows of several days."""
    return {name: np.concatenate([day[name] for day in days]) for name in days[0]}
