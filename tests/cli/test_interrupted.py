"""Ctrl-C in the middle, and a disk that is full: one sentence, and the state is what it was."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, feather

from tests.cli.mounting import Mounted, mounted
from tests.cli.running import Holdfast, Picture, Ran, finish, refused, start, untouched, write

# ---- Ctrl-C ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More rows than are taken in within a moment."""
    path = tmp_path_factory.mktemp("many") / "many.arrow"
    count = 600_000
    columns = {f"text {c}": [f"value {(c + 7) * i % 99_991}" for i in range(count)] for c in range(3)}
    feather.write_feather(pa.table({"id": range(count), **columns}), path, compression="uncompressed")
    return path


def interrupted(process: subprocess.Popen[str], when: Callable[[], bool], look_every: float = 0.002) -> Ran:
    """Press Ctrl-C, which a terminal sends to all processes of a command, at some moment."""
    until = time.monotonic() + 100
    while process.poll() is None and not when():
        assert time.monotonic() < until
        time.sleep(look_every)
    assert process.poll() is None, process.communicate()
    os.killpg(process.pid, signal.SIGINT)
    return finish(process)


def files_in(folder: Path) -> int:
    return len(list(folder.iterdir())) if folder.exists() else 0


@pytest.mark.parametrize("more", [1, 3, 6])
def test_ctrl_c_while_a_batch_is_applied(holdfast: Holdfast, many_rows: Path, tmp_path: Path, more: int) -> None:
    state = tmp_path / "state"
    few = tmp_path / "few.arrow"
    feather.write_feather(feather.read_table(many_rows).slice(0, 10), few)
    assert holdfast("init", state, f"many={few}", "--key", "id").code == 0
    segments, there = state / "segments", files_in(state / "segments")
    with untouched(state):
        applying = start("apply", state, "--snapshot", many_rows, start_new_session=True)
        ran = interrupted(applying, lambda: files_in(segments) >= there + more)
        refused(ran, "stopped", "applied whole, or not at all")
    assert holdfast("apply", state, "--snapshot", few).code == 0


@pytest.mark.parametrize("more", [1, 4])
def test_ctrl_c_while_a_state_is_made(holdfast: Holdfast, many_rows: Path, tmp_path: Path, more: int) -> None:
    state = tmp_path / "state"
    making = start("init", state, many_rows, start_new_session=True)
    refused(interrupted(making, lambda: files_in(state / "segments") >= more), "stopped")
    assert not state.exists()
    assert holdfast("init", state, write(tmp_path / "few.csv", ["id", "1"])).code == 0


@pytest.mark.spark
def test_ctrl_c_while_spark_works(many_rows: Path, tmp_path: Path) -> None:
    state, text = tmp_path / "state", tmp_path / "many.csv"
    csv.write_csv(feather.read_table(many_rows).slice(0, 250_000), text)
    ddl = "id LONG, " + ", ".join(f"`text {c}` STRING" for c in range(3))
    making = start("init", state, text, "--schema", ddl, start_new_session=True)
    refused(interrupted(making, lambda: files_in(state / "segments") >= 1, look_every=0.02), "stopped")
    assert not state.exists()


@pytest.mark.spark
def test_ctrl_c_ends_a_watch(state: Path, tmp_path: Path) -> None:
    folder = tmp_path / "incoming"
    folder.mkdir()
    write(folder / "one.csv", ["id,name,score,day", "7,Eve,1.5,2024-01-01"])
    watching = start("watch", state, "--from", folder, "--format", "json", start_new_session=True)
    ran = interrupted(watching, lambda: len(Picture.of(state).history) == 2, look_every=0.2)
    assert ran.code == 0
    assert "Traceback" not in ran.err
    assert ran.err.splitlines()[-1].startswith("Stopped.")
    assert len(Picture.of(state).history) == 2


# ---- a full disk ----------------------------------------------------------------------------------------------------


class SmallDisk(Mounted):
    """A disk of 8 MB."""

    def fill(self, but: int = 0) -> None:
        """Leave this number of bytes free."""
        script = (
            "import os, shutil, sys\n"
            "size = shutil.disk_usage(sys.argv[1]).free - int(sys.argv[2])\n"
            "with open(sys.argv[1] + '/filler', 'wb') as file: os.posix_fallocate(file.fileno(), 0, size)"
        )
        assert self.run(sys.executable, "-c", script, self.path, but).code == 0

    def free(self) -> None:
        """Make room again."""
        assert self.run("rm", "-f", self.path / "filler").code == 0

    def picture(self, copy: Path) -> Picture:
        """The state on the disk, looked at from outside."""
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(Path(f"/proc/{self.keeper}/root{self.path}/state"), copy)
        return Picture.of(copy)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    here = tmp_path / "disk"
    here.mkdir()
    with mounted('mount -t tmpfs -o size=8m none "$0"', here) as disk:
        yield SmallDisk(disk.keeper, disk.path)


def numbered(path: Path, first: int, count: int = 4_000) -> Path:
    feather.write_feather(pa.table({"id": range(first, first + count), "x": [f"x{i}" for i in range(count)]}), path)
    return path


def test_no_space_left_for_a_batch(small_disk: SmallDisk, tmp_path: Path) -> None:
    state = small_disk.path / "state"
    batch = numbered(tmp_path / "batch.arrow", 10_000)
    made = small_disk.holdfast("init", state, numbered(tmp_path / "first.arrow", 0), "--key", "id", "--watch", "column")
    assert made.code == 0, made.err
    before = small_disk.picture(tmp_path / "copy")
    for room in (0, 16_384, 65_536):
        small_disk.fill(but=room)
        refused(small_disk.holdfast("apply", state, "--insert", batch), str(state), "no space left")
        small_disk.free()
        assert small_disk.picture(tmp_path / "copy") == before, room
    assert small_disk.holdfast("apply", state, "--insert", batch).code == 0
    assert small_disk.picture(tmp_path / "copy").rows["first"].total() == 8_000


def test_no_space_left_for_a_state(small_disk: SmallDisk, tmp_path: Path) -> None:
    state, source = small_disk.path / "state", numbered(tmp_path / "first.arrow", 0)
    for room in (0, 65_536, 131_072):
        small_disk.fill(but=room)
        refused(
            small_disk.holdfast("init", state, source, "--key", "id", "--watch", "column"), str(state), "no space left"
        )
        small_disk.free()
    assert small_disk.holdfast("init", state, source, "--key", "id", "--watch", "column").code == 0


BATCHES_UNTIL_FULL = """
import sys, pyarrow as pa
from holdfast.api import monitor, upkeep
from holdfast.errors import BadInput
from holdfast.progress import Progress
upkeep._REPLAY_BATCHES = 3
notes = []
class Ear(Progress):
    def note(self, text):
        notes.append(text)
with monitor.Monitor.open(sys.argv[1], progress=Ear()) as watch:
    number = len(watch.history())
    try:
        while True:
            ids = [10_000 + 1_000 * number + i for i in range(1_000)]
            watch.apply(inserts=pa.table({"id": ids, "x": [f"y{i}" for i in ids]}))
            number += 1
    except BadInput as error:
        assert "no space left" in str(error), error
    assert sum(table.rows for table in watch.tables.values()) == 4_000 + 1_000 * number
    print([number, sum("when the disk has room" in note for note in notes)])
"""


def test_no_space_left_for_a_checkpoint(small_disk: SmallDisk, tmp_path: Path) -> None:
    """Batches that were reported are stored, those that failed are not, wherever the disk was full."""
    state = small_disk.path / "state"
    source = numbered(tmp_path / "first.arrow", 0)
    assert small_disk.holdfast("init", state, source, "--key", "id", "--watch", "column").code == 0
    waited = 0
    for room in (350_000, 500_000, 700_000):
        small_disk.fill(but=room)
        ran = small_disk.run(sys.executable, "-c", BATCHES_UNTIL_FULL, state)
        assert ran.code == 0, ran.err
        assert small_disk.holdfast("status", state).code == 0
        small_disk.free()
        seen = small_disk.picture(tmp_path / "copy")
        number, waits = json.loads(ran.out)
        assert len(seen.history) == number
        assert seen.rows["first"].total() == 4_000 + 1_000 * number
        waited += waits
    assert waited, "some checkpoint met the full disk"


# ---- Ctrl-C at the very beginning -----------------------------------------------------------------------------------

CTRL_C_WHILE_IMPORTING = """
import os, sys
class Presser:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            import _signal
            os.kill(os.getpid(), _signal.SIGINT)
module = sys.argv.pop(1)
from holdfast.cli import main
sys.meta_path.insert(0, Presser())
main()
"""


@pytest.mark.parametrize(
    "module", ["signal", "holdfast.cli.entry", "typer", "rich.console", "holdfast.api.discovery", "numpy", "pyarrow"]
)
def test_ctrl_c_while_the_command_line_is_loaded(people: Path, module: str) -> None:
    words = [sys.executable, "-c", CTRL_C_WHILE_IMPORTING, module, "discover", str(people)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    refused(Ran(done.returncode, done.stdout, done.stderr), "stopped")
    assert done.stderr.count("\n") == 1


def test_nothing_is_imported_before_ctrl_c_is_answered() -> None:
    script = "import sys; known = set(sys.modules); import holdfast.cli; print(sorted(set(sys.modules) - known))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "['__future__', 'holdfast', 'holdfast.cli']\n"


SMALL_BATCHES = """
import sys, pyarrow as pa
from holdfast.api import monitor, upkeep
from holdfast.store.store import Store
upkeep._REPLAY_BATCHES = 2
tried, look = [], Store.room_for_checkpoint
Store.room_for_checkpoint = lambda store: tried.append(store.history(1)[-1].seq) or look(store)
with monitor.Monitor.open(sys.argv[1]) as watch:
    for number in range(int(sys.argv[2])):
        watch.apply(inserts=pa.table({"id": [100_000 + len(watch.history())], "x": ["new"]}))
    print([tried, watch._store.checkpoint()])
"""


def test_a_nearly_full_disk_does_not_cost_every_batch_a_checkpoint(small_disk: SmallDisk, tmp_path: Path) -> None:
    """There is room for batches, and none for the states of the engines: 90,000 pairs that violate a rule."""
    state, source = small_disk.path / "state", tmp_path / "first.arrow"
    feather.write_feather(pa.table({"id": range(3_000), "x": [f"x{i % 50}" for i in range(3_000)]}), source)
    rules = write(tmp_path / "rules.yaml", ["rules:", '  - {name: once, rule: "not(t.x = s.x and t.id < s.id)"}'])
    assert small_disk.holdfast("init", state, source, "--key", "id", "--rules", rules).code == 0
    small_disk.fill(but=1_280_000)
    ran = small_disk.run(sys.executable, "-c", SMALL_BATCHES, state, 20)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out) == [[2, 4, 8, 16], 0]
    small_disk.free()
    ran = small_disk.run(sys.executable, "-c", SMALL_BATCHES, state, 14)
    assert json.loads(ran.out) == [[32, 34], 34]
    assert small_disk.picture(tmp_path / "copy").rows["first"].total() == 3_034
