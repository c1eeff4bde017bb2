"""Spark may run a task twice, and end one attempt in the middle of a write, after the answer of the other was used:
nothing changes by that, and what such an attempt leaves behind goes with the next writer.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pyarrow as pa
import pytest

from holdfast.api.monitor import Monitor
from holdfast.errors import HoldfastError
from holdfast.intake import bad_rows, readers, staged_rows, tables
from holdfast.spark.stage import _stage_part
from holdfast.store.store import Store
from holdfast.table import admit, files
from holdfast.table.bulk import read_staged
from holdfast.table.types import Column
from tests.intake.building import file_of, rows_in, small_pieces, watched

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@contextmanager
def noted_writes() -> Iterator[list[str]]:
    """The paths of the files that are written inside."""
    paths: list[str] = []
    write = files.write

    def noting(path: str, *rest: Any) -> Any:
        paths.append(path)
        return write(path, *rest)

    with patch.object(files, "write", noting):
        yield paths


def ended_while_writing(paths: Sequence[str]) -> None:
    """Spark ends attempts that are in the middle of a write: of their files a half stays."""
    for path in paths:
        Path(path).write_bytes(b"ARROW1 and no more")


class Speculating:
    """A runner of which each task has two attempts: a slow one begins first, and is ended while it writes, when the
    other one has answered. If `slow_wins`, it is the answer of the slow one that comes back, and the other is ended.
    """

    is_local = False

    def __init__(self, slow_wins: bool) -> None:
        self._slow_wins = slow_wins
        self._tasks: list[bytes] = []
        self._ended: list[str] = []

    def map(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        tasks = [pickle.dumps((function, item)) for item in items]
        with noted_writes() as of_slow:
            slow = [_attempt(task) for task in tasks]
        with noted_writes() as of_quick:
            quick = [_attempt(task) for task in tasks]
        ended_while_writing(of_quick if self._slow_wins else of_slow)
        self._ended += of_quick if self._slow_wins else of_slow
        self._tasks += tasks
        return slow if self._slow_wins else quick

    def late_attempts(self) -> None:
        """What was ended writes once more, and every task begins once more; what it needs may be gone."""
        ended_while_writing(self._ended)
        for task in self._tasks:
            with suppress(HoldfastError):
                _attempt(task)


def _attempt(packed: bytes) -> Any:
    function, item = pickle.loads(packed)
    return pickle.loads(pickle.dumps(function(item)))


RULES = ["not(t.t = s.t and t.n > s.n and t.k < s.k)", "t.n < 2"]


def answers(monitor: Monitor, folder: Path) -> list[Any]:
    """What a stream of batches of all kinds does, and what holds after it."""
    first = [monitor.found(), rows_in(monitor)]
    batches = [
        monitor.apply(changes=file_of(folder, "changes.csv", "op,k,t,n\nu,3,new,1\nd,4,,\nc,40,x,2\nd,5,,\n")),
        monitor.apply(inserts=file_of(folder, "more.csv", "k,t,n\n50,y,3\n51,,4\n")),
        monitor.apply(snapshot=file_of(folder, "all.csv", "k,t,n\n" + "".join(f"{k},s,{k % 5}\n" for k in range(9)))),
        monitor.apply(
            inserts=file_of(folder, "bad.csv", "k,t,n\n60,y,3\n61,z,no\n60,z,1\n"), quarantine=folder / "aside"
        ),
    ]
    diffs = [(each.batch.inserted, each.batch.deleted, each.diffs) for each in batches]
    return [*first, diffs, monitor.found(), rows_in(monitor), [each.count for each in monitor.violations()]]


@pytest.mark.parametrize("slow_wins", [False, True], ids=["quick", "slow"])
def test_late_attempts_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slow_wins: bool) -> None:
    start = file_of(tmp_path, "start.csv", "k,t,n\n" + "".join(f"{k},{'abc'[k % 3]},{k % 4}\n" for k in range(12)))
    options: dict[str, Any] = {"key": "k", "watch": ("fd", "ind"), "rules": RULES, "compare": "text"}
    with watched(tmp_path / "here", start, **options) as here:
        expected = answers(here, tmp_path)
    runner = Speculating(slow_wins)
    small_pieces(monkeypatch)
    for module, name in ((tables, "runner_for"), (staged_rows, "piece_runner"), (bad_rows, "piece_runner")):
        monkeypatch.setattr(module, name, lambda _: runner)
    for module, name, value in ((readers, "ONE_MACHINE", 0), (admit, "SMALL", 0), (admit, "_ROWS_A_SLICE", 6)):
        monkeypatch.setattr(module, name, value)
    with watched(tmp_path / "there", start, **options) as there:
        runner.late_attempts()
        assert answers(there, tmp_path) == expected
    runner.late_attempts()
    state = tmp_path / "there" / "state0"
    segments = state / "segments"
    with Monitor.open(state, write=False) as view:
        assert view.found() == expected[-3]
        assert [each.count for each in view.violations()] == expected[-1]
    assert len(list(segments.iterdir())) > len(Store(state).bulk.named()), "late attempts leave something behind"
    with Monitor.open(state) as again:
        assert rows_in(again) == expected[-2]
    assert {each.name for each in segments.iterdir()} == Store(state).bulk.named()


def test_a_late_attempt_at_staging_a_dataframe(tmp_path: Path) -> None:
    """The job that stages a DataFrame is Spark's own, so its task is called as Spark calls it."""
    write = partial(staged_rows.write_chunk, staged_rows.Plan((Column("n", pa.int64()),), (0,), (None,)), str(tmp_path))
    rows = [pa.RecordBatch.from_pydict({"s0": [7, 8, 8], "part": pa.array([0, 0, 0], pa.int32())})]
    with noted_writes() as of_slow:
        list(_stage_part(write, False, iter(rows)))
    (answer,) = (batch.to_pylist()[0] for batch in _stage_part(write, False, iter(rows)))
    ended_while_writing(of_slow)
    staged, _ = read_staged(answer["path"], 1)
    assert staged.values[0].tolist() == [7, 8]
    assert all(files.is_ours(each.name) for each in tmp_path.iterdir())
