"""`kill -9` at any moment: the state is that before the batch or that after it, and going on gives the right answer.

Fifty random moments, seeded: forty of a process that applies many batches in a row, with a checkpoint and compaction
every other batch, seven of `holdfast apply`, three of `holdfast watch`. And every place at which a file or a
transaction reaches the disk, one by one. The same for a vacuum. A key is watched whose index lies in a file.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from pyarrow import csv, feather

import holdfast as hf
from holdfast.engines.functional import groups_keeper, key_index
from holdfast.errors import BadInput
from holdfast.store.store import Store
from tests.cli.applier import RULES, Applier, small_thresholds
from tests.cli.running import Holdfast, Row, finish, rows_of, run_process, start

SEED = 20_240_229
BATCHES = 16
ROWS = 2_000
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("amount", pa.float64())])


@dataclass(frozen=True)
class Story:
    """A state to begin with, the batches that follow, and what is true after each number of batches."""

    state: Path
    batches: Path
    names: list[str]
    rows: list[Counter[Row]]
    facts: list[list[dict[str, Any]]]

    @property
    def to_remove(self) -> list[int]:
        """Without how many rows the key would hold."""
        return [each.total() - len({row[1:] for row in each}) for each in self.rows]


@pytest.fixture(scope="module", autouse=True)
def the_key_has_a_file() -> Iterator[None]:
    with (
        patch.object(key_index, "FEWEST", key_index.FEWEST),
        patch.object(key_index, "MUCH", key_index.MUCH),
        patch.object(groups_keeper, "_FEW", groups_keeper._FEW),
    ):
        small_thresholds()
        yield


def arrow(rows: Sequence[Row], operations: Sequence[str] | None = None) -> pa.Table:
    columns = [[row[c] for row in rows] for c in range(len(SCHEMA))]
    table = pa.table(columns, schema=SCHEMA)
    return table.append_column("op", pa.array(operations)) if operations is not None else table


def facts_of(rows: Counter[Row]) -> list[dict[str, Any]]:
    """What discovery from scratch finds."""
    return hf.discover({"orders": arrow(list(rows.elements()))}).to_json()


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Each batch deletes, updates and inserts some rows of those that live at that time."""
    folder = tmp_path_factory.mktemp("story")
    batches = folder / "batches"
    batches.mkdir()
    draw = random.Random(SEED)

    def row(key: int) -> Row:
        return key, f"name {draw.randrange(key + 1) % 700}", draw.choice([None, 0.5, -1.25, float(key)])

    living: dict[int, Row] = {key: row(key) for key in range(ROWS)}
    hf.Monitor.create(folder / "state", {"orders": arrow(list(living.values()))}, rules=RULES, key=["id"]).close()
    rows, names = [Counter(living.values())], []
    for number in range(BATCHES):
        gone = draw.sample(sorted(living), 60)
        operations = [("delete", living.pop(key)) for key in gone]
        touched = draw.sample(sorted(living), 40)
        fresh = range(ROWS + 100 * number, ROWS + 100 * number + draw.choice([5, 80]))
        operations += [("update", row(key)) for key in touched] + [("insert", row(key)) for key in fresh]
        living |= {new[0]: new for kind, new in operations if kind != "delete"}  # type: ignore[misc]  # keys are ints
        names.append(f"{number:02}.arrow")
        feather.write_feather(
            arrow([new for _, new in operations], [kind for kind, _ in operations]), batches / names[-1]
        )
        rows.append(Counter(living.values()))
    return Story(folder / "state", batches, names, rows, [facts_of(each) for each in rows])


def check(state: Path, story: Story, reported: int, ids: Sequence[str] | None = None) -> int:
    """The state opens, and is right for its batches: at least those that were reported. Gives their number."""
    with hf.Monitor.open(state) as watch:
        applied = [record.batch_id for record in watch.history()]
        assert applied == (ids or story.names)[: len(applied)]
        assert reported <= len(applied)
        assert rows_of(watch.tables["orders"]) == story.rows[len(applied)]
        (key,), found = watch.results("named"), [each.to_json() for each in watch.results() if each.kind != "ucc"]
        assert (found, key.to_json()["violations"]) == (story.facts[len(applied)], story.to_remove[len(applied)])
        assert figures_of(watch) == [figures_in(facts) for facts in story.facts[: len(applied) + 1]], "it remembers all"
    assert {each.name for each in (state / "segments").iterdir()} == named_files(state), "no orphans are left"
    return len(applied)


def figures_of(watch: hf.Monitor) -> list[dict[str, tuple[int, int]]]:
    """Nulls and distinct values of each column at the start, and after each batch, as the state remembers them."""
    kept = watch.memory().columns()
    found: list[dict[str, tuple[int, int]]] = [{}]
    for seq in range(len(watch.history()) + 1):
        moved = [(column, each) for (_, column), own in kept.items() for each in own if each.seq == seq]
        found.append(found[-1] | {column: (each.nulls, each.distinct) for column, each in moved})
    return found[1:]


def figures_in(facts: list[dict[str, Any]]) -> dict[str, tuple[int, int]]:
    """The same in what discovery finds."""
    return {line["column"]: (line["nulls"], line["distinct"]) for line in facts if line["kind"] == "column"}


def named_files(state: Path) -> set[str]:
    store = Store(state)
    try:
        kept = {Path(path).name for path in store.bulk.states().values()} | store.bulk.with_states()
        return kept | {Path(s.path).name for record in store.tables() for s in record.where.segments}
    finally:
        store.close()


def has_key_file(state: Path) -> bool:
    """Whether the index of the key lies in a file: no other file goes with the states of so few rows."""
    store = Store(state)
    try:
        return bool(store.bulk.with_states())
    finally:
        store.close()


def go_on(state: Path, story: Story) -> None:
    """Applying all batches again, whether they were applied or not, ends well."""
    with hf.Monitor.open(state) as watch:
        for name in story.names:
            watch.apply(changes=story.batches / name, batch_id=name)
    assert check(state, story, BATCHES) == BATCHES


def copied(story: Story, tmp_path: Path) -> Path:
    return Path(shutil.copytree(story.state, tmp_path / "state"))


@pytest.fixture(scope="module")
def seconds(story: Story, tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long applying all batches takes when nobody kills."""
    folder = tmp_path_factory.mktemp("whole")
    state = copied(story, folder)
    process = Applier(state, story.batches).ready()
    started = time.perf_counter()
    assert process.rest() == story.names
    taken = time.perf_counter() - started
    assert check(state, story, BATCHES) == BATCHES
    return taken


@pytest.mark.parametrize("chain", range(4))
def test_killed_again_and_again_while_applying(story: Story, seconds: float, tmp_path: Path, chain: int) -> None:
    """Five kills one after another, each somewhere in the next third of the work; then the rest."""
    state = copied(story, tmp_path)
    draw = random.Random(SEED + chain)
    for _ in range(5):
        process = Applier(state, story.batches).ready()
        time.sleep(draw.uniform(0, seconds / 3))
        process.kill()
        check(state, story, len(process.rest()))
    go_on(state, story)


@pytest.mark.flushes(1, 2, 3, 4, 5, 6, 7, 8, 11, 14, last=60)
def test_killed_before_a_file_or_a_transaction_reaches_the_disk(story: Story, tmp_path: Path, flush: int) -> None:
    state = copied(story, tmp_path)
    process = Applier(state, story.batches, die=flush).ready()
    reported = len(process.rest())
    assert process.exit_code == -signal.SIGKILL
    assert check(state, story, reported) <= reported + 1
    assert has_key_file(state)
    go_on(state, story)


@pytest.fixture(scope="module")
def churned(story: Story, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state after half of the batches, some of which wait for their replay."""
    state = Path(shutil.copytree(story.state, tmp_path_factory.mktemp("churned") / "state"))
    with hf.Monitor.open(state) as watch:
        for name in story.names[: BATCHES // 2]:
            watch.apply(changes=story.batches / name, batch_id=name)
    return state


@pytest.mark.parametrize("flush", range(1, 9))
def test_killed_while_a_state_is_rewritten(story: Story, churned: Path, tmp_path: Path, flush: int) -> None:
    """Before each file and each transaction of ours reaches the disk."""
    state = Path(shutil.copytree(churned, tmp_path / "state"))
    process = Applier(state, die=flush).ready()
    process.rest()
    assert process.exit_code == -signal.SIGKILL
    assert check(state, story, BATCHES // 2) == BATCHES // 2
    go_on(state, story)


def test_killed_at_any_moment_of_a_vacuum(story: Story, churned: Path, tmp_path: Path) -> None:
    """Also while SQLite rewrites its file; the state can be vacuumed again, and is as small as ever."""
    state = Path(shutil.copytree(churned, tmp_path / "state"))
    draw = random.Random(SEED)
    for _ in range(5):
        process = Applier(state).ready()
        time.sleep(draw.uniform(0, 0.15))
        process.kill()
        process.rest()
        assert check(state, story, BATCHES // 2) == BATCHES // 2
    with hf.Monitor.open(state) as watch:
        watch.vacuum()
        assert watch.vacuum().values == 0
    go_on(state, story)


def test_killed_while_a_state_is_made(story: Story, tmp_path: Path) -> None:
    """A state is there as a whole, or it is not there and can be made again."""
    source = tmp_path / "orders.arrow"
    feather.write_feather(arrow(list(story.rows[0].elements())), source)
    for flush in range(1, 100):
        state = tmp_path / f"state{flush}"
        process = Applier(state, source=source, die=flush)
        process.rest()
        if process.exit_code == 0:
            assert flush > 3
            return
        try:
            Store(state).close()
        except BadInput:
            hf.Monitor.create(state, {"orders": source}, rules=RULES, key=["id"]).close()
        assert check(state, story, 0) == 0
    pytest.fail("it never came to an end")


def test_killed_while_the_command_applies_a_batch(holdfast: Holdfast, story: Story, tmp_path: Path) -> None:
    """The command as people run it, killed at some moment of its life, and run again."""
    state = copied(story, tmp_path)
    draw = random.Random(SEED)

    def command(number: int) -> list[object]:
        name = story.names[number]
        return ["apply", state, "--changes", story.batches / name, "--batch-id", name, "--format", "json"]

    started = time.perf_counter()
    assert run_process(*command(0)).code <= 1, "the key may have got worse"
    seconds = time.perf_counter() - started
    applied = check(state, story, 1)
    for _ in range(7):
        process = start(*command(applied))
        time.sleep(draw.uniform(seconds / 2, seconds))
        process.kill()
        applied = check(state, story, applied + bool(finish(process).out))
    again = [holdfast(*command(number)).objects[0]["already_applied"] for number in range(BATCHES)]
    assert again == [True] * applied + [False] * (BATCHES - applied)
    assert check(state, story, BATCHES) == BATCHES


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_killed_while_a_folder_is_watched(holdfast: Holdfast, story: Story, tmp_path: Path) -> None:
    """Structured Streaming names a file again where the crash came before its own commit; it counts once."""
    state, folder = copied(story, tmp_path), tmp_path / "incoming"
    folder.mkdir()
    command = ["watch", state, "--from", folder, "--as", "changes", "--once", "--format", "json"]
    draw = random.Random(SEED)
    ids: list[str] = []
    applied = 0
    for more in (5, 5, 4):
        ids += [f"file:{arrive(story, folder, len(ids) + number)}" for number in range(more)]
        process = start(*command)
        reported = applied + wait_for_batches(process, draw.randrange(more))
        time.sleep(draw.uniform(0, 0.02))
        process.kill()
        finish(process)
        applied = check(state, story, reported, ids)
    ids += [f"file:{arrive(story, folder, number)}" for number in range(len(ids), BATCHES)]
    last = holdfast(*command)
    assert last.code <= 1
    assert check(state, story, BATCHES, ids) == BATCHES
    fresh = [line for line in last.objects if line["kind"] == "batch" and not line["already_applied"]]
    assert len(fresh) == BATCHES - applied
    assert holdfast(*command).out == "", "no file is reported a third time"


def arrive(story: Story, folder: Path, number: int) -> Path:
    """A file of the next batch, moved into the folder: every other one as text."""
    name = story.names[number]
    made = folder.with_name(name)
    shutil.copy(story.batches / name, made)
    if number % 2:
        made = made.with_suffix(".csv")
        csv.write_csv(feather.read_table(story.batches / name), made)
    os.utime(made, (time.time(), 1_700_000_000 + number))
    return made.rename(folder / made.name)


def wait_for_batches(process: subprocess.Popen[str], count: int) -> int:
    """Read on until `count` batches were reported as applied."""
    assert process.stdout is not None
    reported = 0
    while reported < count:
        line = json.loads(process.stdout.readline())
        reported += line["kind"] == "batch" and not line["already_applied"]
    return reported
