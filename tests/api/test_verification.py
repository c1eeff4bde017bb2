"""Bits that turn, files that go, facts that don't fit: never a wrong answer, and `verify` reports all of it."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from holdfast.api import verification
from holdfast.api.monitor import Monitor
from holdfast.api.verification import verify
from holdfast.api.workspace import Workspace
from holdfast.changes.diff import Result
from holdfast.errors import BadInput
from holdfast.store.bulk_files import BulkFiles
from holdfast.store.database import connect
from holdfast.store.sums import SumsWriter
from holdfast.table.table import Table
from tests.store import harm

FLIPS = 150


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verifying") / "state"
    harm.make(path)
    return path


@pytest.fixture
def state(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "state"))


def segments(state: Path) -> list[Path]:
    return sorted((state / "segments").iterdir())


# ---- answers ---------------------------------------------------------------------------------------------------------


def test_no_bit_that_turns_changes_an_answer(state: Path) -> None:
    """Right, or refused with one sentence: and `verify` says so of every file that is refused."""
    with Monitor.open(state, write=False) as monitor:
        expected = harm.answers(monitor)
    chance = random.Random(9)
    refused: list[tuple[Path, str]] = []
    problems: list[tuple[str, ...]] = []
    for _ in range(FLIPS):
        with harm.turned(segments(state), chance) as (path, bit):
            try:
                with Monitor.open(state, write=False) as monitor:
                    assert harm.answers(monitor) == expected, (path, bit)
            except BadInput as error:
                refused.append((path, str(error)))
                problems.append(verify(state).problems)
    assert len(refused) > FLIPS // 5
    assert all(sentence.startswith(f"{path}: damaged (") for path, sentence in refused)
    assert problems == [(sentence,) for _, sentence in refused]


def test_no_bit_that_turns_changes_what_a_batch_does(state: Path, tmp_path: Path) -> None:
    batch = {"inserts": harm.people(60, 4), "deletes": harm.people(20, 2)}
    expected = None
    chance, refused = random.Random(10), 0
    for number in range(30):
        copy = Path(shutil.copytree(state, tmp_path / f"copy {number}"))
        with harm.turned(segments(copy), chance) as (path, bit):
            try:
                with Monitor.open(copy) as monitor:
                    monitor.apply(**batch)
                    answers = harm.answers(monitor)
            except BadInput:
                refused += 1
                continue
            expected = expected or answers
            assert answers == expected, (path, bit)
    assert 0 < refused < 30


# ---- verify ----------------------------------------------------------------------------------------------------------


def test_a_state_that_is_whole(state: Path) -> None:
    before = {path: path.read_bytes() for path in segments(state)}
    found = verify(state, deep=True)
    assert found.problems == ()
    assert (found.files, found.bytes) == (len(before), sum(map(len, before.values())))
    assert [what.partition(":")[0].partition(" of ")[0] for what in found.compared] == [
        "column facts",
        "keys",
        "functional dependencies",
        "inclusion dependencies",
        "violations",
        "violations",
    ]
    assert str(found).splitlines()[-1] == "all is well"
    assert json.loads(json.dumps(found.to_json()))["kind"] == "verify"
    assert verify(state).compared == ()


def test_all_problems_are_reported_together(state: Path) -> None:
    gone, cut, *_ = segments(state)
    gone.unlink()
    cut.write_bytes(cut.read_bytes()[:-9])
    problems = verify(state).problems
    assert [problem.partition(":")[0] for problem in problems] == [str(gone), str(cut)]
    assert str(verify(state)).splitlines()[1:] == list(problems)


def test_files_that_were_seen_before_are_looked_at_again(state: Path) -> None:
    """Bits turn without a word of the file system: the time of the file stays what it was."""
    assert verify(state).problems == ()
    path = max(segments(state), key=lambda path: path.stat().st_size)
    about, whole = path.stat(), bytearray(path.read_bytes())
    at = whole.index(np.array([1, 2, 3, 4, 5]).tobytes())  # among the first values of a column
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes([whole[at] ^ 1]))
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert len(verify(state).problems) == 1


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("UPDATE tables SET row_count = row_count + 1", "table people: its files hold 42 rows, the database says 43"),
        ("UPDATE results SET json = replace(json, '\"nulls\": 0', '\"nulls\": 1')", "the database: "),
        ("DELETE FROM results WHERE engine = 'ind'", "the database: "),
    ],
)
def test_facts_that_do_not_fit(state: Path, statement: str, expected: str) -> None:
    harm.change(state, statement)
    problems = verify(state).problems
    assert problems
    assert all(problem.startswith(expected) for problem in problems)


def test_a_damaged_index_of_the_database(state: Path) -> None:
    database = connect(state / "holdfast.db")
    database.execute("PRAGMA writable_schema = ON")
    database.execute("DELETE FROM sqlite_master WHERE name = 'events_by_text'")
    SumsWriter.of_new(state, database).close()
    assert any(problem.startswith(f"{state / 'holdfast.db'}: ") for problem in verify(state).problems)


@pytest.mark.parametrize("deep", [False, True])
def test_an_engine_that_went_astray(state: Path, deep: bool) -> None:
    """A state that was written as it is, and is wrong all the same: only a new search finds that."""
    real = Workspace.results

    def found(workspace: Workspace) -> dict[tuple[str, str], Result]:
        kept = real(workspace)
        return {**kept, ("fd", "people"): dict(list(kept["fd", "people"].items())[1:])}

    with patch.object(Workspace, "results", found):
        problems = verify(state, deep=deep).problems
    assert [problem.partition(": stored as ")[2][:7] for problem in problems] == (["nothing"] if deep else [])


def test_large_tables_are_found_again_by_a_few_columns(state: Path) -> None:
    real = verification._part

    def one_row_twice(table: Table, columns: list[int]) -> pa.Table:
        part = real(table, columns)
        return pa.concat_tables([part, part.slice(0, 1)])

    with patch.object(verification, "_SMALL_CELLS", 10), patch.object(verification, "_picked", lambda _: [0, 1, 5]):
        found = verify(state, deep=True)
        assert found.problems == ()
        assert found.compared[-1].startswith("rules (ucc, fd, ind) among people.id, people.twin, people.zip: ")
        with patch.object(verification, "_part", one_row_twice):
            assert "key(id)" in verify(state, deep=True).problems[0]


def test_what_is_no_state(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not a Holdfast state"):
        verify(tmp_path)


def test_a_compaction_that_comes_between_is_no_damage(state: Path) -> None:
    real = BulkFiles.named
    calls: list[set[str]] = []
    writing: list[bool] = []  # here, between two looks

    def named(bulk: BulkFiles) -> set[str]:
        names = real(bulk)
        if not writing:
            calls.append(names)
            if len(calls) == 1:
                writing.append(True)
                with Monitor.open(state) as monitor:
                    monitor.checkpoint()
                writing.clear()
        return names

    with patch.object(BulkFiles, "named", named):
        assert verify(state).problems == ()
    assert len(calls) == 3
