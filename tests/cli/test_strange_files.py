"""Files that hold nothing, or not what their names say, and names that no file has: a clear sentence, or no rows."""

from __future__ import annotations

import gzip
import os
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather, orc

import holdfast as hf
from tests.cli.running import Holdfast, Picture, refused, untouched, write

# ---- files of nothing -----------------------------------------------------------------------------------------------

_FAILED = {
    "none.csv": b"",
    "newline.csv": b"\r\n\n",
    "mark.csv": b"\xef\xbb\xbf",
    "none.csv.gz": gzip.compress(b""),
    "newline.csv.gz": gzip.compress(b"\n"),
    "none.parquet": b"",
    "none.orc": b"",
    "none.arrow": b"",
}
_NO_ROWS = {"none.jsonl": b"", "newline.jsonl": b"\n", "none.jsonl.gz": gzip.compress(b"")}


def file_of(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", _FAILED)
def test_an_export_that_failed_is_refused(holdfast: Holdfast, state: Path, tmp_path: Path, name: str) -> None:
    empty = file_of(tmp_path, name, _FAILED[name])
    said = str(empty), "it is empty and doesn't even name its columns", "export it again"
    with untouched(state):
        for part in ("--snapshot", "--insert", "--delete", "--changes", "--upsert"):
            refused(holdfast("apply", state, part, empty), *said)
        refused(holdfast("apply", state, "--snapshot", empty, "--evolve"), *said)
    refused(holdfast("discover", empty), *said)
    refused(holdfast("init", tmp_path / "other", empty), *said)


@pytest.mark.parametrize("name", ["cut.jsonl.gz", "cut.json.zst", "cut.csv.bz2", "folder"])
def test_a_compressed_file_of_no_bytes_is_no_table(holdfast: Holdfast, state: Path, tmp_path: Path, name: str) -> None:
    """Compressed, even nothing has some bytes: one without is an export that failed, also among others."""
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
        file_of(path, "whole.jsonl", b'{"id": 1}')
    empty = file_of(path if path.is_dir() else tmp_path, "cut.jsonl.gz" if path.is_dir() else name, b"")
    with untouched(state):
        for part in ("--snapshot", "--insert"):
            refused(holdfast("apply", state, part, path), str(empty), "not even compressed", "export it again")
    refused(holdfast("discover", path), str(empty), "not even compressed")


@pytest.mark.parametrize("part", ["--insert", "--delete", "--changes", "--upsert"])
@pytest.mark.parametrize("name", [*_NO_ROWS, "none.csv"])
def test_no_rows_change_nothing(holdfast: Holdfast, state: Path, tmp_path: Path, part: str, name: str) -> None:
    empty = file_of(tmp_path, name, _NO_ROWS.get(name, b""))
    before = Picture.of(state)
    declared = ["--no-header"] if name == "none.csv" else []  # such a file names no columns, as JSON lines don't
    result = holdfast("apply", state, part, empty, "--batch-id", "nothing", *declared)
    assert (result.code, result.err) == (0, "")
    assert "no change in people" in result.out
    after = Picture.of(state)
    assert after == replace(before, history=after.history)
    assert after.history[:-1] == before.history


@pytest.mark.parametrize("name", _NO_ROWS)
def test_a_snapshot_of_no_json_lines_has_no_rows(holdfast: Holdfast, state: Path, tmp_path: Path, name: str) -> None:
    empty = file_of(tmp_path, name, _NO_ROWS[name])
    (batch, *_) = holdfast("apply", state, "--snapshot", empty, "--format", "json").objects
    assert (batch["inserted"], batch["deleted"]) == (0, 4)
    refused(holdfast("discover", empty), str(empty), "no column")


def test_a_snapshot_without_columns_is_refused(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    with untouched(state):
        empty = file_of(tmp_path, "none.csv", b"")
        refused(holdfast("apply", state, "--snapshot", empty, "--no-header"), str(empty), "without any column")
        keyless = file_of(tmp_path, "keyless.jsonl", b"{}\n{}\n")
        for part in ("--snapshot", "--insert"):
            refused(holdfast("apply", state, part, keyless), str(keyless), "objects have no keys")
        aside = ["--quarantine", tmp_path / "aside"]
        refused(holdfast("apply", state, "--insert", keyless, *aside), str(keyless), "objects have no keys")
    with hf.Monitor.open(state) as monitor, pytest.raises(hf.BadInput, match="without any column"):
        monitor.apply(snapshot=pd.DataFrame())


def test_a_watched_export_that_failed_is_set_aside(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    inbox, aside = tmp_path / "inbox", tmp_path / "aside"
    inbox.mkdir()
    file_of(inbox, "a.csv", b"")
    result = holdfast("watch", state, "--from", inbox, "--as", "snapshot", "--quarantine", aside, "--once")
    assert result.code == 2, result.err
    assert "export it again" in (aside / "a.csv.reason").read_text()
    assert not any(inbox.iterdir())


# ---- tables without rows --------------------------------------------------------------------------------------------

_SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
_ONE = pa.table({"id": [1], "name": ["Ann"]}, schema=_SCHEMA)


def _grouped(path: Path, *groups: pa.Table) -> None:
    with pq.ParquetWriter(path, _SCHEMA) as writer:
        for group in groups:
            writer.write_table(group)


@pytest.mark.parametrize("groups", [(0,), (), (0, 1), (0, 0, 1, 0), (1, 0, 1)])
def test_row_groups_may_be_empty(holdfast: Holdfast, tmp_path: Path, groups: tuple[int, ...]) -> None:
    path, state = tmp_path / "t.parquet", tmp_path / "state"
    _grouped(path, *(_ONE.slice(0, rows) for rows in groups))
    assert pq.read_metadata(path).num_row_groups == len(groups)
    result = holdfast("init", state, path, "--format", "json")
    assert result.code == 0, result.err
    assert result.of_kind("table")[0]["rows"] == sum(groups)
    assert holdfast("apply", state, "--snapshot", path).code == 0


def test_empty_frames_arrive(holdfast: Holdfast, tmp_path: Path) -> None:
    state, inbox, aside = tmp_path / "state", tmp_path / "inbox", tmp_path / "aside"
    pq.write_table(_ONE, tmp_path / "t.parquet")
    assert holdfast("init", state, tmp_path / "t.parquet").code == 0
    inbox.mkdir()
    empty = _SCHEMA.empty_table()
    empty.to_pandas().astype({"id": "int64", "name": "str"}).to_parquet(inbox / "pandas.parquet", schema=_SCHEMA)
    pq.write_table(empty, inbox / "arrow.parquet")
    orc.write_table(empty, str(inbox / "t.orc"))
    feather.write_feather(empty, inbox / "t.feather")
    pq.write_table(_ONE, inbox / "z.parquet")
    result = holdfast("watch", state, "--from", inbox, "--quarantine", aside, "--once")
    assert (result.code, aside.exists()) == (0, False), result.err
    assert [batch[:2] for batch in _changes(state)] == [(0, 0)] * 4 + [(1, 0)]


def _changes(state: Path) -> list[tuple[int, int]]:
    with hf.Monitor.open(state, write=False) as view:
        return sorted((batch.inserted, batch.deleted) for batch in view.history())


# ---- names that mislead ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_another_format_than_the_name_says(holdfast: Holdfast, state: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for kind, make in (("Parquet", pq.write_table), ("ORC", orc.write_table), ("Arrow", feather.write_feather)):
        make(_ONE, str(path))
        options = ("--input-format", kind.lower())
        with untouched(state):
            refused(holdfast("apply", state, "--insert", path), f"{path}: this is a", f"{kind} file", " ".join(options))
        refused(holdfast("discover", path), f"{kind} file")
        assert holdfast("discover", path, *options, "--rules", "column").code == 0
    path.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    refused(holdfast("discover", path), str(path), "gzip", "end with .gz")


def test_a_text_may_begin_as_another_format_does(holdfast: Holdfast, tmp_path: Path) -> None:
    for word in ("PAR1", "ORC", "ARROW1"):
        path = write(tmp_path / "t.csv", [f"{word},b", "1,2", f"3,{word}"])
        assert holdfast("discover", path, "--rules", "column").code == 0


def test_a_pipe_is_no_file(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    with untouched(state):
        refused(holdfast("apply", state, "--insert", pipe), str(pipe), "a pipe or a device", "to a file first")
    refused(holdfast("discover", pipe), str(pipe), "a pipe or a device")


@pytest.mark.parametrize("long", ["x" * 300, "x/" * 2500], ids=["name", "parts"])
def test_paths_that_are_too_long(holdfast: Holdfast, state: Path, people: Path, tmp_path: Path, long: str) -> None:
    here = f"{tmp_path}/{long}"
    with untouched(state):
        for words in (
            ("discover", f"{here}.csv"),
            ("discover", people, "--html", f"{here}.html"),
            ("discover", people, "--rules", "ind", "--picture", f"{here}.dot"),
            ("init", here, people),
            ("init", tmp_path / "other", people, "--rules", f"{here}.yaml"),
            ("init", tmp_path / "other", people, "--segments", here),
            ("suggest", people, "--to", f"{here}.yaml"),
            ("suggest", here),
            ("check", people, "--rules", f"{here}.yaml"),
            ("check", people, "--rule", here),
            ("status", here),
            ("report", state, "--html", f"{here}.html"),
            ("apply", state, "--insert", f"{here}.csv"),
            ("apply", state, "--insert", people, "--quarantine", here, "--on-missing", "ignore"),
            ("watch", state, "--from", here, "--once"),
            ("violations", state, "--output", f"{here}.csv"),
            ("rules", state, "add", f"{here}.yaml"),
            ("tables", state, "add", f"{here}.csv"),
            ("backup", state, here),
        ):
            result = holdfast(*words)
            assert result.code == 2, (words, result.err[-300:])
            assert "Traceback" not in result.err


def test_a_state_lies_where_its_database_can_be_opened(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["x" * 150] * 4, "state")
    refused(holdfast("init", deep, people), str(deep), "the path is too long for a state", "choose a shorter one")
