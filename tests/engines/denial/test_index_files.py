"""Indexes of given rules in a state folder: batches go on with them, and files that nothing names any more are gone."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from holdfast.api.monitor import Monitor
from holdfast.api.verification import verify
from holdfast.engines.functional import groups_keeper
from holdfast.search import index, index_files, search
from holdfast.search.index import PairIndex
from holdfast.search.shared import NullsFirstSearch, TableSearch
from holdfast.store.backup import backup

RULES = [
    "not(t.a = s.a and t.b != s.b)",
    "not(t.b = s.b and t.c < s.c and t.a > s.a)",
    "not(t.a = s.a and t.b = 'u' and s.b = 'v' and t.c > s.c)",
    "not(t.a = 1 and t.c = 2)",
    "[c] orders [a]",
    "[b, a desc] orders [b, c]",
    "a, b -> c",
    "key(a, b, c)",
]
INDEXES = 4 + 2  # of the denial constraints, and of the lists, where nulls come first
SCHEMA = pa.schema([("id", pa.int64()), ("a", pa.int64()), ("b", pa.string()), ("c", pa.float64())])


@pytest.fixture(autouse=True)
def indexes_of_few_rows_have_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_files, "FEWEST", 0)
    monkeypatch.setattr(search, "FEWEST", 0)
    monkeypatch.setattr(index_files, "_FEW", 20)
    for module in (index_files, index):
        monkeypatch.setattr(module, "MUCH", 4)
    monkeypatch.setattr(groups_keeper, "_FEW", 0)


def rows(chance: random.Random, ids: Iterable[int]) -> pa.Table:
    plain = [(i, chance.choice([None, *range(8)]), chance.choice("uvwxyz"), float(chance.randrange(9))) for i in ids]
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in plain], SCHEMA)


def start(folder: Path, chance: random.Random) -> Monitor:
    return Monitor.create(folder / "state", {"t": rows(chance, range(150))}, watch=[], rules=RULES, key="id")


def files_of(monitor: Monitor) -> list[Path]:
    (watched,) = monitor._state.workspace.tables.values()
    names = [name for kind in (TableSearch, NullsFirstSearch) for name in watched.part(kind).pairs.dump()[1]["files"]]
    return [Path(monitor._store.folder) / name for name in names]


def opened_from_files(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each index that is opened from now on: whether it came from its file."""
    opened, from_file = PairIndex.opened, []

    def listening(*given: Any) -> PairIndex | None:
        index = opened(*given)
        from_file.append(index is not None)
        return index

    monkeypatch.setattr(PairIndex, "opened", listening)
    return from_file


@pytest.mark.parametrize("seed", range(6))
def test_batches_go_on_with_indexes_from_files(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    came_from_files = opened_from_files(monkeypatch)
    start(tmp_path, chance).close()
    for number in range(6):
        with Monitor.open(tmp_path / "state") as monitor:
            for _ in range(chance.randrange(4)):
                first = 150 + 100 * number + chance.randrange(90)
                alive = monitor.tables["t"].values(monitor.tables["t"].living_ids())["id"].to_pylist()
                fresh = [row for row in range(first, first + chance.randrange(12)) if row not in alive]
                gone = pa.table({"id": chance.sample(alive, chance.randrange(9))})
                monitor.apply(inserts=rows(chance, fresh), deletes=gone)
            if upkeep := chance.choice(["", "checkpoint", "vacuum"]):
                getattr(monitor, upkeep)()
        assert not verify(tmp_path / "state", deep=True).problems
    assert sum(came_from_files) > len(came_from_files) // 2  # the others have changed much since they were written


def test_a_checkpoint_leaves_the_files_of_indexes_as_they_are(tmp_path: Path) -> None:
    chance = random.Random(7)
    with start(tmp_path, chance) as monitor:
        made = files_of(monitor)
        assert len(made) == INDEXES
        monitor.apply(inserts=rows(chance, range(200, 205)), deletes=pa.table({"id": [3, 4]}))
        monitor.checkpoint()
        assert files_of(monitor) == made
        monitor.apply(inserts=rows(chance, range(300, 450)))
        monitor.checkpoint()
        assert not set(files_of(monitor)) & set(made)
        assert not any(path.exists() for path in made)
        assert all(path.exists() for path in files_of(monitor))


def test_vacuum_makes_new_indexes_and_a_backup_copies_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(8)
    with start(tmp_path, chance) as monitor:
        made = files_of(monitor)
        monitor.apply(deletes=pa.table({"id": list(range(40))}))
        monitor.vacuum()
        assert not set(files_of(monitor)) & set(made)
        names = {path.name for path in files_of(monitor)}
    backup(tmp_path / "state", tmp_path / "copy")
    assert names <= {path.name for path in (tmp_path / "copy" / "segments").iterdir()}
    came_from_files = opened_from_files(monkeypatch)
    with Monitor.open(tmp_path / "copy") as monitor:
        monitor.apply(inserts=rows(chance, range(400, 405)))
    assert came_from_files == [True] * INDEXES
    assert not verify(tmp_path / "copy", deep=True).problems


def test_damage_in_an_index_is_reported_and_a_vacuum_mends_it(tmp_path: Path) -> None:
    chance = random.Random(9)
    with start(tmp_path, chance) as monitor:
        path = files_of(monitor)[0]
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 3] ^= 1
    path.write_bytes(whole)
    assert any(path.name in problem for problem in verify(tmp_path / "state").problems)
    with Monitor.open(tmp_path / "state") as monitor:
        monitor.vacuum()
        monitor.apply(inserts=rows(chance, range(500, 505)))
    assert not verify(tmp_path / "state", deep=True).problems
