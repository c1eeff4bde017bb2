"""Keys with many groups in a state folder: a process that opens it follows batches by the index in a file, and tells
what it would tell if it had grouped all rows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import holdfast as hf
from holdfast.engines.functional import groups_keeper, key_index
from holdfast.engines.functional.groups import Groups
from holdfast.engines.functional.groups_keeper import OpenedKey
from holdfast.engines.functional.key_index import KeyIndex
from holdfast.engines.given.keeper import Effect
from holdfast.engines.registry import make_engine
from holdfast.errors import Damaged
from holdfast.rules.given import GivenRule, TableRules
from holdfast.table import checks, files
from holdfast.table.nulls import NullMode
from tests.engines.functional.test_groups import followed
from tests.laws.world import Batch, Kept, Row, World, batches, null_modes, row_lists

KEYS = ("key(text, day)", "key(number)", "key(number, text, real, flag, day)")
ENGINE = make_engine(
    "named", given={"t": TableRules(tuple(GivenRule(text, "t", text) for text in (*KEYS, "number -> text")))}
)
lefts = st.lists(st.integers(0, 4), min_size=1, max_size=3, unique=True).map(sorted)
some_batches = st.lists(batches, min_size=1, max_size=6)
numbers = st.sets(st.integers(0, 5))


@pytest.fixture(autouse=True)
def keys_of_few_rows_have_files() -> Iterator[None]:
    with (
        patch.object(key_index, "FEWEST", 0),
        patch.object(key_index, "MUCH", 2),
        patch.object(groups_keeper, "_FEW", 1 << 40),  # all groups are many
        patch.object(checks, "BLOCK", 16),
    ):
        yield


def few_hashes(columns: list[NDArray[Any]], _: int | None = None) -> NDArray[np.uint64]:
    """All keys share two hashes."""
    total: NDArray[np.uint64] = np.sum([column.astype(np.uint64) for column in columns], axis=0)
    return total << np.uint64(63)


colliding = st.sampled_from([nullcontext(), patch.object(key_index, "hash_rows", few_hashes)])


@settings(max_examples=80)
@given(
    first=row_lists, stream=some_batches, lhs=lefts, nulls=null_modes, opened=numbers, written=numbers, hashes=colliding
)
def test_what_was_opened_follows_as_all_groups_do(
    first: list[Row],
    stream: list[Batch],
    lhs: list[int],
    nulls: NullMode,
    opened: set[int],
    written: set[int],
    hashes: Any,
) -> None:
    world = World(nulls)
    world.change(Batch(first or [(1, "a", 0.0, True, 1)]))
    every = Groups(world.table, lhs, None)
    with hashes, patch.object(key_index, "MUCH", 0):  # however much has changed
        file = key_index.write(world.table, lhs)
        some: Groups | None = None
        for number, batch in enumerate(stream):
            file = key_index.write(world.table, lhs) if number in written else file
            assert file is not None
            if number in opened or some is None:
                index = KeyIndex.opened(world.table, lhs, file)
                if index is None:  # there is no room for the ids of more rows
                    file = key_index.write(world.table, lhs)
                    assert file is not None
                    index = KeyIndex.opened(world.table, lhs, file)
                assert index is not None
                some = OpenedKey(world.table, lhs, every.totals, index)
            change = world.change(batch)
            assert described(followed(some, change)) == described(followed(every, change))
            assert some.totals == every.totals
            assert (some.broken_pairs, some.to_remove, some.with_nulls) == (
                every.broken_pairs,
                every.to_remove,
                every.with_nulls,
            )


def described(effect: Effect) -> list[Any]:
    return [sorted(effect.added.tolist()), sorted(effect.resolved.tolist()), *effect[2:]]


steps = st.lists(st.one_of(batches, st.sampled_from(["reload", "rewrite"])), min_size=1, max_size=8)


@settings(max_examples=60)
@given(first=row_lists, steps=steps, nulls=null_modes, hashes=colliding)
def test_kept_equals_fresh(first: list[Row], steps: list[Batch | str], nulls: NullMode, hashes: Any) -> None:
    """Whatever comes between: a process that ends, new codes."""
    world = World(nulls)
    with hashes:
        world.change(Batch(first))
        kept = Kept(ENGINE, world)
        for step in steps:
            if isinstance(step, Batch):
                kept.follow(world.change(step))
            elif step == "reload":
                kept.reload()
            else:
                kept.rewrite()
            assert kept.result() == kept.rediscovered()
            assert kept.lines() == kept.rediscovered_lines()
        fresh = Kept(ENGINE, world)
        for ours, theirs in zip(listed(kept), listed(fresh), strict=True):
            assert ours == theirs


def listed(kept: Kept) -> list[list[list[int]]]:
    found = [listing.pairs for listing in ENGINE.listings(kept.state, kept.watched)]
    return [pairs.tolist() for pairs in found if pairs is not None]


# ---- in a state folder ----------------------------------------------------------------------------------------------

RULES = ["key(a, b)", "key(id)", "a -> b"]
SCHEMA = pa.schema([("id", pa.int64()), ("a", pa.int64()), ("b", pa.string())])


def rows(chance: random.Random, ids: range) -> pa.Table:
    plain = [{"id": i, "a": chance.choice([None, *range(40)]), "b": chance.choice("uvwxyz")} for i in ids]
    return pa.Table.from_pylist(plain, SCHEMA)


def start(folder: Path, chance: random.Random) -> hf.Monitor:
    return hf.Monitor.create(folder / "state", {"t": rows(chance, range(150))}, watch=[], rules=RULES, key="id")


def files_of(monitor: hf.Monitor) -> set[Path]:
    (state,) = monitor._state.workspace.states.values()
    return {Path(monitor._store.folder) / kept.file.name for kept in state.own.keys.values()}


def whole_groups(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows were grouped, each time that all rows of a table are, from now on."""
    grouped: list[int] = []
    make = Groups.__init__

    def noting(made: Groups, table: Any, lhs: Any, rhs: Any) -> None:
        if rhs is None:
            grouped.append(table.rows)
        make(made, table, lhs, rhs)

    monkeypatch.setattr(Groups, "__init__", noting)
    return grouped


@pytest.mark.parametrize("seed", range(4))
def test_processes_go_on_with_files(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    start(tmp_path, chance).close()
    for _ in range(6):
        with hf.Monitor.open(tmp_path / "state") as monitor:
            grouped = whole_groups(monkeypatch)
            for _ in range(chance.randrange(1, 4)):
                alive = monitor.tables["t"].values(monitor.tables["t"].living_ids())["id"].to_pylist()
                fresh = rows(chance, range(max(alive) + 1, max(alive) + 1 + chance.randrange(5)))
                gone = pa.table({"id": chance.sample(alive, chance.randrange(5))})
                monitor.apply(inserts=fresh, deletes=gone)
            assert not grouped, "no batch grouped all rows"
            if upkeep := chance.choice(["", "checkpoint", "vacuum"]):
                getattr(monitor, upkeep)()
            assert not grouped
            monkeypatch.undo()
        assert not hf.verify(tmp_path / "state", deep=True).problems


def test_a_checkpoint_leaves_a_file_until_much_has_changed(tmp_path: Path) -> None:
    chance = random.Random(7)
    with start(tmp_path, chance) as monitor:
        made = files_of(monitor)
        assert len(made) == 2
        monitor.apply(inserts=rows(chance, range(200, 205)), deletes=pa.table({"id": [3, 4]}))
        monitor.checkpoint()
        assert files_of(monitor) == made
    with hf.Monitor.open(tmp_path / "state") as monitor:  # of a process that looks at no group
        monitor.checkpoint()
        assert files_of(monitor) == made
        monitor.apply(inserts=rows(chance, range(300, 450)))
        monitor.checkpoint()
        assert not files_of(monitor) & made
        assert [path.exists() for path in sorted(made)] == [False, False]
        assert all(path.exists() for path in files_of(monitor))


def test_a_vacuum_rewrites_files_and_a_backup_copies_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(8)
    with start(tmp_path, chance) as monitor:
        made = files_of(monitor)
    with hf.Monitor.open(tmp_path / "state") as monitor:
        monitor.vacuum()  # of a process that looks at no group
        assert len(files_of(monitor) - made) == 2
        monitor.apply(deletes=pa.table({"id": list(range(20))}))
        monitor.vacuum()
    hf.backup(tmp_path / "state", tmp_path / "copy")
    grouped = whole_groups(monkeypatch)
    with hf.Monitor.open(tmp_path / "copy") as monitor:
        monitor.apply(inserts=rows(chance, range(400, 405)))
    assert not grouped
    assert not hf.verify(tmp_path / "copy", deep=True).problems


def test_a_file_that_is_gone_or_of_other_rules_is_not_missed(tmp_path: Path) -> None:
    chance = random.Random(9)
    with start(tmp_path, chance) as monitor:
        made = files_of(monitor)
        monitor.remove_rules(["key(id)"])
        assert len(files_of(monitor)) == 1
        monitor.rename_column("a", "c")
    assert len(files_of_folder(tmp_path) & {path.name for path in made}) == 0
    with hf.Monitor.open(tmp_path / "state") as monitor:
        for path in files_of(monitor):
            path.unlink()
        monitor.apply(inserts=rows(chance, range(400, 405)).rename_columns(["id", "c", "b"]))
        monitor.vacuum()
    assert not hf.verify(tmp_path / "state", deep=True).problems


def files_of_folder(folder: Path) -> set[str]:
    return {path.name for path in (folder / "state" / "segments").iterdir()}


def test_damage_is_refused_and_a_vacuum_mends_it(tmp_path: Path) -> None:
    chance = random.Random(10)
    with start(tmp_path, chance) as monitor:
        made = files_of(monitor)
    for path in made:
        whole, entries = bytearray(path.read_bytes()), files.read(str(path))[0]["entries"].tobytes()
        first = whole.index(entries)
        for place in range(first, first + len(entries), 16):  # one bit a block
            whole[place] ^= 1
        path.write_bytes(whole)
    problems = hf.verify(tmp_path / "state").problems
    assert all(any(path.name in problem for problem in problems) for path in made)
    with hf.Monitor.open(tmp_path / "state") as monitor, pytest.raises(Damaged, match="differs from its checksum"):
        monitor.apply(inserts=rows(chance, range(500, 550)))
    with hf.Monitor.open(tmp_path / "state") as monitor:
        monitor.vacuum()
        monitor.apply(inserts=rows(chance, range(500, 505)))
    assert not hf.verify(tmp_path / "state", deep=True).problems
