"""The law of long lives: a watch that applies batch after batch keeps no more in memory, and no more files open.

Looked at after checkpoints, when the state has few files. What a batch leaves behind would show as objects or bytes.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest

from holdfast.api.monitor import Monitor
from holdfast.results.outcome import Outcome
from holdfast.table import checks

FILES = r"(?P<batch>\d+)-(?P<table>\w+)\.csv"
CHECKPOINT, FIRST, LAST = 64, 2, 4  # batches between checkpoints; the checkpoints that are compared


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
        traced, handles = tracemalloc.get_traced_memory()[0], list(Path("/proc/self/fd").iterdir())
        files = list((state / "segments").iterdir())
        return Kept(len(gc.get_objects()), traced, len(handles), len(checks._known), len(files))


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
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
    assert after.objects - before.objects < batches, "less than one object a batch"
    assert after.bytes - before.bytes < 1000 * batches
    assert after.open_files == before.open_files
    assert after.known_files <= after.files + before.known_files
    assert after.files < 2 * CHECKPOINT
