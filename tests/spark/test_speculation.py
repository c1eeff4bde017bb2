"""Spark may run a task twice, and end the slower attempt in the middle of a write, after the answer of the other one was
used: nothing changes by that, and what such an attempt leaves behind goes with the next writer.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pyarrow as pa
import pytest

from holdfast.api.monitor import Monitor
from holdfast.intake import build, sifting, staging
from holdfast.spark.stage import StagingPlan, _stage_part
from holdfast.store.store import Store
from holdfast.table import admit, files
from holdfast.table.bulk import read_staged
from holdfast.table.types import Column
from tests.intake.building import file_of, rows_in, small_pieces, watched

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class Ended(Exception):
    """Spark has ended this attempt."""


@contextmanager
def ended_while_writing() -> Iterator[None]:
    """Whatever is written inside stays half a file."""

    def begin(path: str, *_: object) -> int:
        Path(path).write_bytes(b"ARROW1 and no more")
        raise Ended

    with patch.object(files, "write", begin):
        yield


class Speculating:
    """A runner of which each task has late attempts: as the next job begins, and whenever a test asks for them. If
    `second_wins`, each task runs twice at once, and the answer of the first attempt is lost.
    """

    is_local = False

    def __init__(self, second_wins: bool) -> None:
        self._second_wins = second_wins
        self._done: list[bytes] = []

    def map(self, function: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        self.late_attempts()
        packed = [pickle.dumps((function, item)) for item in items]
        answers = [_attempt(each) for each in packed]
        if self._second_wins:
            answers = [_attempt(each) for each in packed]
        self._done += packed
        return answers

    def late_attempts(self) -> None:
        """Run all tasks once more, to their end and up to the middle of a write; what they need may be gone."""
        for each in self._done:
            with suppress(Exception):
                _attempt(each)
            with suppress(Exception), ended_while_writing():
                _attempt(each)


def _attempt(packed: bytes) -> Any:
    function, item = pickle.loads(packed)
    return pickle.loads(pickle.dumps(function(item)))


RULES = ["k -> t", "key(k)", "not(t.t = s.t and t.n > s.n and t.k < s.k)", "[k] orders [n]", "t.n < 9", "rows > 3"]
WATCHED = ("column", "ucc", "fd", "ind", "od")


def told(monitor: Monitor, folder: Path) -> list[Any]:
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


@pytest.mark.parametrize("second_wins", [False, True], ids=["first", "second"])
def test_late_attempts_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second_wins: bool) -> None:
    start = file_of(tmp_path, "start.csv", "k,t,n\n" + "".join(f"{k},{'abc'[k % 3]},{k % 4}\n" for k in range(24)))
    asked: dict[str, Any] = {"key": "k", "watch": WATCHED, "rules": RULES, "compare": "text"}
    with watched(tmp_path / "here", start, **asked) as here:
        expected = told(here, tmp_path)
    runner = Speculating(second_wins)
    small_pieces(monkeypatch)
    for module, name in ((build, "runner_for"), (build, "_runner_of"), (staging, "reader_of"), (sifting, "reader_of")):
        monkeypatch.setattr(module, name, lambda _: runner)
    for module, name, value in ((build, "ONE_MACHINE", 0), (admit, "SMALL", 0), (admit, "_ROWS_A_SLICE", 6)):
        monkeypatch.setattr(module, name, value)
    with watched(tmp_path / "there", start, **asked) as there:
        runner.late_attempts()
        assert told(there, tmp_path) == expected
    runner.late_attempts()
    state = tmp_path / "there" / "state0"
    segments = state / "segments"
    with Monitor.open(state, write=False) as view:
        assert view.found() == expected[-3]
        assert [each.count for each in view.violations()] == expected[-1]
    assert len(list(segments.iterdir())) > len(Store(state).named()), "late attempts leave something behind"
    with Monitor.open(state) as again:
        assert rows_in(again) == expected[-2]
    assert {each.name for each in segments.iterdir()} == Store(state).named()


def test_a_late_attempt_at_staging_a_dataframe(tmp_path: Path) -> None:
    """The job that stages a DataFrame is Spark's own, so its task is called as Spark calls it."""
    plan = StagingPlan(str(tmp_path), (Column("n", pa.int64()),), (None,))
    rows = [pa.RecordBatch.from_pydict({"s0": [7, 8, 8], "part": pa.array([0, 0, 0], pa.int32())})]
    (answer,) = (batch.to_pylist()[0] for batch in _stage_part(plan, iter(rows)))
    with pytest.raises(Ended), ended_while_writing():
        list(_stage_part(plan, iter(rows)))
    list(_stage_part(plan, iter(rows)))
    staged, _ = read_staged(answer["path"], 1)
    assert staged.values[0].tolist() == [7, 8]
    assert all(files.is_ours(each.name) for each in tmp_path.iterdir())
