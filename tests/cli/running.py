"""Running the command line, in this process or as one of its own, and a picture of a state to compare with later."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.store.store import Store
from holdfast.table.load import load_table
from holdfast.table.table import Table


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


COMMAND = str(Path(sys.executable).with_name("holdfast"))
Row = tuple[object, ...]
HEADER = "id,name,score,day"  # of the small table that most tests watch


@dataclass(frozen=True)
class Ran:
    """What a command did: its exit code, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Standard output as JSON: every line is an object, and there is nothing else."""
        lines = [json.loads(line, parse_constant=_refuse) for line in self.out.split("\n")[:-1]]
        assert all(isinstance(line, dict) for line in lines)
        return lines

    def of_kind(self, *kinds: str) -> list[dict[str, Any]]:
        """The objects of some kinds."""
        return [line for line in self.objects if line["kind"] in kinds]

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        """The column facts that were printed as JSON, by column."""
        return {line["column"]: line for line in self.of_kind("column")}

    @property
    def sentence(self) -> str:
        """The one sentence about what is wrong. Before it, notes may say how files were read, and nothing else."""
        assert "Traceback" not in self.err
        *notes, last = self.err.splitlines()
        assert last.startswith("holdfast: "), self.err
        for note in notes:
            assert any(word in note for word in ("header row", "guessed", "null markers", " …")), self.err
        assert self.out == ""
        return last.removeprefix("holdfast: ")


Holdfast = Callable[..., Ran]


def refused(ran: Ran, *words: str) -> None:
    """The command ended with exit code 2 and one sentence that holds the words."""
    sentence = ran.sentence
    assert ran.code == 2, sentence
    for word in words:
        assert word in sentence, sentence


def environment() -> dict[str, str]:
    """The surroundings of commands: a wide screen, so that tables aren't cut."""
    return {**os.environ, "COLUMNS": "200"}


def start(*words: object, **more: Any) -> subprocess.Popen[str]:
    """The command as a process of its own, just started."""
    pipe = subprocess.PIPE
    command = [COMMAND, *map(str, words)]
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment(), **more)


def finish(process: subprocess.Popen[str]) -> Ran:
    """Wait for a process."""
    out, err = process.communicate(timeout=120)
    return Ran(process.returncode, out, err)


def run_process(*words: object) -> Ran:
    """The command as a process of its own."""
    return finish(start(*words))


def rows_of(table: Table) -> Counter[Row]:
    """The living rows of a table as a multiset of values."""
    values = table.values(table.living_ids())
    columns = [column.to_pylist() for column in values.columns]
    return Counter(zip(*columns, strict=True))


@dataclass(frozen=True)
class Picture:
    """A state as its users see it, and the files that it lies in."""

    results: list[dict[str, Any]]
    history: list[dict[str, Any]]
    rows: dict[str, Counter[Row]]
    segments: dict[str, bytes]

    @staticmethod
    def of(state: Path) -> Picture:
        """Look at a state without its lock."""
        store = Store(state)
        try:
            tables = {record.schema.name: rows_of(load_table(record.where)) for record in store.tables()}
            history = [record.to_json() for record in store.history()]
            return Picture(store.rules.results(), history, tables, _contents(state / "segments"))
        finally:
            store.close()


def names_in(state: Path, table: str = "people", column: int = 1) -> list[object]:
    """The values of a column in the rows that live, sorted by the first column."""
    rows: list[Row] = sorted(Picture.of(state).rows[table].elements(), key=lambda row: str(row[0]))
    return [row[column] for row in rows]


def _contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


@contextmanager
def untouched(state: Path) -> Iterator[None]:
    """Afterwards the state is what it was: the same results, history, rows and files."""
    before = Picture.of(state)
    yield
    assert Picture.of(state) == before


def write(path: Path, lines: Sequence[str]) -> Path:
    """A text file."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
