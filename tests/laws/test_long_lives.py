"""The law of long lives: a watch that applies batch after batch keeps no more in memory, and no more files open.

Looked at after checkpoints, when the state has few files. What a batch leaves behind would show as objects, or as bytes
that our code has allocated: what libraries load once, such as a compiled kernel, doesn't count.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest

import holdfast
from holdfast.api import upkeep
from holdfast.api.monitor import Monitor
from holdfast.results.outcome import Outcome
from holdfast.table import checks

FILES = r"(?P<batch>\d+)-(?P<table>\w+)\.csv"
SOURCES = Path(holdfast.__file__).parent
CHECKPOINT, FIRST, LAST = (
    16,
    6,
    16,
)  # batches between checkpoints; the checkpoints that are compared


class Kept(NamedTuple):
    """What a process keeps."""

    objects: int
    bytes: int
    open_files: int
    known_files: int
    files: int

    @staticmethod
    def now(state: Path) -> Kept:
        gc.collect()
        objects, handles = len(gc.get_objects()), len(list(Path("/proc/self/fd").iterdir()))
        ours = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, f"{SOURCES}/*")])
        kept = sum(each.size for each in ours.statistics("filename"))
        return Kept(objects, kept, handles, len(checks._known), len(list((state / "segments").iterdir())))


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(upkeep, "_REPLAY_BATCHES", CHECKPOINT)
    yield
    tracemalloc.stop()


def arrive(folder: Path, number: int) -> None:
    """Orders and customers; now and then a rule breaks and is mended."""
    city = "elsewhere" if number % 10 == 3 else f"city {number % 20}"
    orders = f"id,cust,city\n{number % 60},{number % 20},{city}\n{(number + 7) % 60},{number % 20 + 20},{city}\n"
    (folder / f"{number}-orders.csv").write_text(orders)
    (folder / f"{number}-customers.csv").write_text(f"id,name\n{number % 20},name {number}\n")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at /proc")
@pytest.mark.usefixtures("traced")
def test_a_watch_keeps_no_more(tmp_path: Path) -> None:
    folder, state, kept = tmp_path / "in", tmp_path / "state", list[Kept]()
    folder.mkdir()
    places = range(60)
    orders = pa.table({"id": places, "cust": [n % 40 for n in places], "city": [f"city {n % 20}" for n in places]})
    customers = pa.table({"id": range(40), "name": [f"name {n}" for n in range(40)]})
    done = 0

    def applied(paths: Sequence[str], outcome: Outcome) -> None:
        nonlocal done
        assert outcome.batch.tables == ("customers", "orders")
        done += 1
        for path in paths:
            Path(path).unlink()
        arrive(folder, done)
        if done == CHECKPOINT:  # by now all is loaded
            tracemalloc.start()
        if done in (FIRST * CHECKPOINT, LAST * CHECKPOINT):
            kept.append(Kept.now(state))

    def stop() -> bool:
        return len(kept) == 2

    keys = {"orders": "id", "customers": "id"}
    tables = {"orders": orders, "customers": customers}
    with Monitor.create(
        state, tables, watch=["column", "fd"], rules="orders.cust in customers.id", key=keys
    ) as monitor:
        arrive(folder, 0)
        monitor.watch_folder(folder, how="upsert", files=FILES, every=0, stop=stop, applied=applied)
    before, after = kept
    batches = (LAST - FIRST) * CHECKPOINT
    assert after.objects - before.objects < 8 * batches
    assert after.bytes - before.bytes < 500 * batches
    assert after.open_files == before.open_files
    assert after.known_files <= after.files + before.known_files
    assert after.files < 2 * CHECKPOINT
