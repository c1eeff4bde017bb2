"""The law of growth: under churn a state stays within three times a fresh state of the same rows.

A state of less than half a megabyte is left as it is. The history is part of a state, too, and grows with the batches:
some hundred bytes each, and as much for each rule that is gained or lost.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from holdfast.api.monitor import Monitor

WATCH = ["column", "ind", "fd"]
SMALL = 1 << 19
Row = tuple[int, str, str, float | None]


def size(state: Path) -> int:
    return sum(each.stat().st_size for each in state.rglob("*") if each.is_file())


def arrow(rows: list[Row]) -> pa.Table:
    names = ("id", "name", "kind", "amount")
    types = (pa.int64(), pa.string(), pa.string(), pa.float64())
    return pa.table({name: pa.array([row[c] for row in rows], types[c]) for c, name in enumerate(names)})


def drawn(draw: random.Random, ids: Iterator[int], count: int) -> list[Row]:
    return [
        (next(ids), f"{draw.getrandbits(160):040x}", f"kind {draw.randrange(30)}", draw.choice([None, draw.random()]))
        for _ in range(count)
    ]


def churn(monitor: Monitor, draw: random.Random, ids: Iterator[int], living: list[Row]) -> list[Row]:
    """A batch after which other rows live, mostly as many."""
    draw.shuffle(living)
    gone = draw.choice([10, 300, 1000, len(living) // 3, len(living)])
    born = drawn(draw, ids, draw.choice([gone, gone, gone, 0, 3000]))
    after = living[gone:] + born
    if draw.random() < 0.3:
        monitor.apply(snapshot=arrow(after))
    else:
        monitor.apply(inserts=arrow(born), deletes=arrow(living[:gone]))
    return after


@pytest.mark.parametrize("seed", range(2))
def test_a_state_stays_within_three_times_a_fresh_one(seed: int, tmp_path: Path) -> None:
    draw, ids = random.Random(seed), iter(range(1_000_000))
    living = drawn(draw, ids, 3000)
    state = tmp_path / "state"
    Monitor.create(state, {"t": arrow(living)}, watch=WATCH, key=["id"]).close()
    for look in range(8):
        with Monitor.open(state) as monitor:
            for _ in range(draw.randrange(1, 6)):
                living = churn(monitor, draw, ids, living)
        fresh = tmp_path / f"fresh {look}"
        Monitor.create(fresh, {"t": arrow(living)}, watch=WATCH, key=["id"]).close()
        assert size(state) <= max(3 * size(fresh), SMALL), f"with {len(living)} rows"
    with Monitor.open(state) as monitor:
        monitor.vacuum()
    assert size(state) <= max(2 * size(fresh), SMALL)
