"""Arguments without a meaning: bytes that are no characters, names that are none, quotes that stay open."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import holdfast as hf
from tests.cli.running import HEADER, Holdfast, refused, untouched, write

_BYTES = os.fsdecode(b"caf\xe9")  # Latin-1


def test_arguments_are_utf8(holdfast: Holdfast, state: Path, people: Path, tmp_path: Path) -> None:
    with untouched(state):
        for words in (
            ("apply", state, "--insert", people, "--batch-id", _BYTES),
            ("columns", state, "rename", "name", _BYTES),
            ("columns", state, "add", _BYTES, "integer"),
            ("columns", state, "drop", "name", "--id", _BYTES),
            ("tables", state, "add", f"{_BYTES}={people}"),
            ("tables", state, "drop", _BYTES),
            ("rules", state, "add", f"{_BYTES} -> name"),
            ("rows", state, f"id={_BYTES}"),
            ("explain", state, _BYTES),
            ("discover", f"{_BYTES}.csv"),
            ("init", tmp_path / _BYTES, people),
            ("check", people, "--rule", f"t.name = '{_BYTES}'"),
            ("discover", people, "--null", _BYTES),
            (_BYTES,),
        ):
            result = holdfast(*words)
            refused(result, "is not UTF-8", "caf\\udce9")
    assert not (tmp_path / _BYTES).exists()


def test_bytes_of_a_shell_are_refused(people: Path) -> None:
    command: list[str | bytes] = [sys.executable, "-m", "holdfast.cli", "discover", str(people), "--table", b"caf\xe9"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, b"is not UTF-8" in done.stderr, b"Traceback" in done.stderr) == (2, True, False)


def test_a_watched_name_that_is_not_utf8(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    write(inbox / f"{_BYTES}.csv", [HEADER, "9,Eve,1.5,2024-01-01"])
    with untouched(state):
        result = holdfast("watch", state, "--from", inbox, "--once")
    assert (result.code, "is not UTF-8" in result.err, "Traceback" in result.err) == (2, True, False)


def test_files_and_folders_whose_names_are_not_utf8(
    holdfast: Holdfast, state: Path, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are met without being named in an argument: in a folder of files, and around the place where one stands."""
    folder = tmp_path / "files"
    (folder / _BYTES).mkdir(parents=True)
    shutil.copyfile(people, folder / f"{_BYTES}.csv")
    with untouched(state):
        refused(holdfast("apply", state, "--insert", folder), "is not UTF-8", "caf\\udce9")
    refused(holdfast("discover", folder), "is not UTF-8", "caf\\udce9")
    monkeypatch.chdir(folder / _BYTES)
    refused(holdfast("init", "state", people), "is not UTF-8", "caf\\udce9")
    assert not Path("state").exists()
    shutil.copytree(state, "copy")
    refused(holdfast("status", "copy"), "is not UTF-8")


def test_names_that_are_not_utf8_in_python(state: Path, tmp_path: Path) -> None:
    table = pa.table({"id": [77]})
    with hf.Monitor.open(state) as monitor:
        name = monitor.tables["people"].schema.names[0]
        for change in (
            lambda: monitor.apply(deletes=table, batch_id=_BYTES),
            lambda: monitor.rename_column(name, _BYTES),
            lambda: monitor.add_column(_BYTES, "integer"),
            lambda: monitor.add_table(_BYTES, table),
            lambda: monitor.drop_column(name, change_id=_BYTES),
        ):
            with untouched(state), pytest.raises(hf.BadInput, match="is not UTF-8"):
                change()
    with pytest.raises(hf.BadInput, match="is not UTF-8"):
        hf.Monitor.create(tmp_path / "other", {_BYTES: table})


# ---- names ----------------------------------------------------------------------------------------------------------


def test_a_table_has_a_name(holdfast: Holdfast, state: Path, people: Path, tmp_path: Path) -> None:
    hidden = write(tmp_path / ".hidden.csv", ["a,b", "1,2"])
    with untouched(state):
        for source in (f"={people}", f" ={people}", hidden):
            refused(holdfast("tables", state, "add", source), "the table has no name", "name=path")
    for words in (("discover",), ("suggest",), ("init", tmp_path / "other"), ("check", "--rule", "rows > 0")):
        refused(holdfast(*words, f"={people}"), "the table has no name", "name=path")
    refused(holdfast("apply", state, "--table", f"={people}"), f"--table ={people}", "name the table")
    with pytest.raises(hf.BadInput, match="the table has no name"):
        hf.discover({"": people}, "column")
    assert holdfast("discover", f"here={hidden}", "--rules", "column").code == 0


@pytest.mark.parametrize("named", ['"id', 'id,"name', '"id"x,name'])
def test_quotes_around_names_are_closed(holdfast: Holdfast, people: Path, tmp_path: Path, named: str) -> None:
    refused(holdfast("discover", people, "--columns", named), repr(named), "is not closed")
    refused(holdfast("init", tmp_path / "other", people, "--key", named), repr(named), "is not closed")
    odd = write(tmp_path / "odd.csv", ['"a,b","c""d"', "1,2"])
    result = holdfast("discover", odd, "--columns", '"a,b", "c""d"', "--rules", "column", "--format", "json")
    assert set(result.facts) == {"a,b", 'c"d'}


@pytest.mark.parametrize("mark", ['"', "'"])
def test_a_separator_that_quotes(holdfast: Holdfast, tmp_path: Path, mark: str) -> None:
    path = write(tmp_path / "t.csv", [f"a{mark}b", f"1{mark}2"])
    refused(holdfast("discover", path, "--sep", mark), f"the separator {mark} is a quote", "say which quote")
    other = "'" if mark == '"' else '"'
    for quote in (other, ""):
        result = holdfast("discover", path, "--sep", mark, "--quote", quote, "--rules", "column", "--format", "json")
        assert set(result.facts) == {"a", "b"}


def test_a_wrong_schema_needs_no_spark(holdfast: Holdfast, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.spark.session.session", lambda *_: pytest.fail("Spark was started"))
    refused(holdfast("discover", people, "--schema", "id INTT, name STRING"), "no type 'INTT'", "did you mean 'int'")
    refused(holdfast("discover", people, "--schema", "id INT name STRING"), "is no column")
