"""An outcome is plain data: it is complete after the state is gone, and holds no table alive."""

from __future__ import annotations

import gc
import shutil
import weakref
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.report.notebook import html_of
from holdfast.report.printing import print_outcome
from holdfast.table.table import Table

WATCHED = ("column", "ucc", "fd", "od", "pod")
METHODS = ("borders", "counts")


def _rows(first: int, last: int, broken: bool) -> pa.Table:
    """A number is followed by two columns; where rows break this, by random ones. The last column is long the same."""
    numbers = np.arange(first, last)
    other = np.random.default_rng(first).permutation(len(numbers)) if broken else numbers
    columns = [numbers // 2, other // 4, other // 8, numbers // 1000, np.full(len(numbers), 7 if broken else 3)]
    return pa.table([pa.array(column) for column in columns], list("abcde"))


def _watch(folder: Path, method: str) -> hf.Monitor:
    return hf.Monitor.create(folder, {"t": _rows(0, 300, False)}, watch=WATCHED, key=(), method=method)


@pytest.mark.parametrize("method", METHODS)
def test_an_outcome_is_complete_after_the_state_is_gone(
    tmp_path: Path, method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, shown = tmp_path / "state", []
    for keep_open in (True, False):
        with _watch(folder, method) as watch:
            outcomes = [watch.apply(inserts=_rows(300, 340, True), batch_id="1")]
            outcomes.append(watch.apply(deletes=_rows(300, 340, True), batch_id="2"))
            watched = _shown(outcomes, capsys) if keep_open else None
        shutil.rmtree(folder)
        shown.append(watched or _shown(outcomes, capsys))
    assert shown[0] == shown[1]
    broke, mended = outcomes
    assert broke.lost
    assert mended.gained
    assert broke.alarms(0.9)
    assert {engine for (engine, _), diff in broke.diffs.items() if diff.witnesses} >= {"fd", "od", "pod"}
    assert all(broke.witness(rule) is not None for rule in broke.lost)


def _shown(outcomes: list[hf.Outcome], capsys: pytest.CaptureFixture[str]) -> list[object]:
    """Everything in outcomes, without their times."""
    parts: list[object] = []
    for outcome in outcomes:
        print_outcome(outcome)
        shown = capsys.readouterr().out.splitlines()
        _, *lines = outcome.to_json()
        alarms = [rule.text for rule in outcome.alarms(0.9)]
        parts += [str(outcome), shown, lines, alarms, outcome.why("any"), html_of(outcome)]
    return parts


@pytest.mark.parametrize("method", METHODS)
def test_an_outcome_holds_no_table_alive(tmp_path: Path, method: str) -> None:
    watch = _watch(tmp_path / "state", method)
    before = _tables(watch)
    outcomes = [watch.apply(inserts=_rows(300, 340, True)), watch.apply(deletes=_rows(300, 340, True))]
    after = _tables(watch)
    assert all(table() is not None for table in after)
    watch.close()
    del watch
    gc.collect()
    assert outcomes[0].lost
    assert [table() for table in (*before, *after)] == [None, None]


def _tables(watch: hf.Monitor) -> list[weakref.ref[Table]]:
    return [weakref.ref(each.table) for each in watch.opened().tables.values()]


def test_the_time_that_is_printed_has_that_of_the_commit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with _watch(tmp_path / "state", "counts") as watch:
        outcome = watch.apply(inserts=_rows(300, 340, True))
        assert [batch.seconds for batch in watch.history()] == [outcome.batch.seconds]
    assert outcome.commit_seconds > 0
    print_outcome(outcome, loud="verbose")
    printed = int(capsys.readouterr().out.split(" ms")[0].split()[-1].replace(",", ""))
    assert printed == round(1000 * (outcome.batch.seconds + outcome.commit_seconds))
    assert outcome.to_json()[0]["seconds"] == outcome.batch.seconds
