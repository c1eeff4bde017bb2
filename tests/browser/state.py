"""A small state to look at: two rules that hold, until people of an evil city come."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from holdfast.api.monitor import Monitor
from tests.browser.sample import EVIL


def watched(path: Path) -> Monitor:
    """Forty people of one city, watched."""
    rules = ["Zip -> City", "not(t.Zip = s.Zip and t.City != s.City)"]
    return Monitor.create(path, {"people": _people(range(40), "Aberdeen")}, rules=rules, key=["Id"], watch=["fd"])


def evil_people(count: int) -> pa.Table:
    """People who break both rules."""
    return _people(range(40, 40 + count), EVIL)


def _people(ids: range, city: str) -> pa.Table:
    return pa.table({"Id": [*ids], "Zip": [f"{i % 5:05}" for i in ids], "City": [city] * len(ids)})
