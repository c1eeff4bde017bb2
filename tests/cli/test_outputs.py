"""What commands write: it takes the place of an earlier output of the same kind, and of nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import holdfast as hf
from holdfast.rules.file import read_rules
from tests.cli.running import HEADER, Holdfast, Ran, refused, untouched, write

Write = Callable[[Path], Ran]
_ROW = pa.table({"rule": ["x"], "id": [1]})
_OTHERS = {
    ".html": b"<!doctype html><title>Somebody's page</title>",
    ".dot": b"digraph other {}",
    ".mmd": b"flowchart LR\n  a --> b\n",
    ".yaml": b"rules:\n  - rule: t.id > 0\n",
    ".csv": b'"rule","id"\n"x",1\n',
    ".jsonl": b'{"rule": "x"}\n',
}


@pytest.fixture
def broken(tmp_path: Path, holdfast: Holdfast, people: Path) -> Path:
    """A state with a rule that a row violates."""
    rules = tmp_path / "given.yaml"
    rules.write_text("rules:\n  - rule: t.id > 1\n", encoding="utf-8")
    made = tmp_path / "broken"
    assert holdfast("init", made, people, "--key", "id", "--rules", rules).code == 0
    return made


@pytest.fixture
def writers(holdfast: Holdfast, broken: Path, people: Path) -> dict[str, Write]:
    """Each command that writes a file, by its name; the ending is that of the file."""
    return {
        "report.html": lambda path: holdfast("report", broken, "--html", path),
        "overview.html": lambda path: holdfast("discover", people, "--html", path),
        "found.html": lambda path: holdfast("discover", people, "--rules", "fd", "--html", path),
        "picture.dot": lambda path: holdfast("discover", people, "--rules", "ind", "--picture", path),
        "picture.mmd": lambda path: holdfast("discover", people, "--rules", "ind", "--picture", path),
        "rules.yaml": lambda path: holdfast("suggest", people, "--to", path),
        "violations.csv": lambda path: holdfast("violations", broken, "--output", path),
        "violations.jsonl": lambda path: holdfast("violations", broken, "--output", path),
        "violations.parquet": lambda path: holdfast("violations", broken, "--output", path),
        "violations.arrow": lambda path: holdfast("violations", broken, "--output", path),
    }


_NAMES = (
    *("report.html", "overview.html", "found.html", "picture.dot", "picture.mmd", "rules.yaml"),
    *("violations.csv", "violations.jsonl", "violations.parquet", "violations.arrow"),
)


def _write_other(path: Path) -> bytes:
    """A file that has the ending of an output, and is somebody else's."""
    if path.suffix == ".parquet":
        pq.write_table(_ROW, path)
    elif path.suffix == ".arrow":
        feather.write_feather(_ROW, str(path))
    else:
        path.write_bytes(_OTHERS[path.suffix])
    return path.read_bytes()


@pytest.mark.parametrize("name", _NAMES)
def test_an_output_replaces_its_own_kind_alone(writers: dict[str, Write], tmp_path: Path, name: str) -> None:
    write_it, path = writers[name], tmp_path / f"out{Path(name).suffix}"
    for _ in range(2):  # where there is nothing, and in place of the first
        assert write_it(path).code == 0
    ours = path.read_bytes()
    assert ours
    path.write_bytes(b"")
    assert write_it(path).code == 0
    assert path.read_bytes()
    other = _write_other(path)
    refused(write_it(path), str(path), "already there, and not a", "remove it first")
    path.write_bytes(b"something else")
    link = tmp_path / f"link{path.suffix}"
    link.symlink_to(path)
    refused(write_it(link), str(link), "already there, and not a")
    assert (path.read_bytes(), len(other) > 0) == (b"something else", True)


@pytest.mark.parametrize("name", ["report.html", "overview.html", "rules.yaml", "violations.csv"])
def test_no_output_goes_where_a_state_has_its_files(
    writers: dict[str, Write], broken: Path, tmp_path: Path, name: str
) -> None:
    suffix = Path(name).suffix
    segment = next((broken / "segments").iterdir())
    (tmp_path / f"linked{suffix}").symlink_to(broken / "holdfast.db")
    kept = {path: path.read_bytes() for path in broken.rglob("*") if path.is_file()}
    places = [broken / "segments" / f"new{suffix}", broken / f"holdfast.db{suffix}", tmp_path / f"linked{suffix}"]
    if suffix == ".html":  # the other kinds ask for their endings
        places += [broken / "holdfast.db", broken / "holdfast.db-journal", broken / "lock", segment]
    for path in places:
        refused(writers[name](path), str(path), "this place belongs to the state")
    assert {path: path.read_bytes() for path in broken.rglob("*") if path.is_file()} == kept
    assert writers[name](broken / f"mine{suffix}").code == 0  # next to them there is room


def test_no_output_replaces_a_source(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    before = people.read_bytes()
    hard = tmp_path / "hard.html"
    os.link(people, hard)
    for path in (people, hard):
        refused(holdfast("discover", people, "--html", path), str(path), "not a page of ours")
        refused(holdfast("discover", people, "--rules", "fd", "--html", path), str(path), "not a page of ours")
    with pytest.raises(hf.BadInput, match="not a page of ours"):
        hf.discover(people, "column", html=people)
    with pytest.raises(hf.BadInput, match="unknown ending"):
        hf.discover(people, "column").picture(people)
    assert people.read_bytes() == before


# ---- rows and files that are set aside ------------------------------------------------------------------------------


def test_bad_rows_replace_no_other_file(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    aside = tmp_path / "aside"
    aside.mkdir()
    mine = write(aside / "b.people.inserts.csv", [HEADER, "9,Eve,1.5,2024-01-01"])
    bad = write(tmp_path / "bad.csv", [HEADER, "5,Eve,much,2024-01-01", "6,Flo,1.5,2024-01-01"])
    good = write(tmp_path / "good.csv", [HEADER, "7,Eve,1.5,2024-01-01"])
    before = mine.read_bytes()
    with untouched(state):
        result = holdfast("apply", state, "--insert", bad, "--batch-id", "b", "--quarantine", aside)
        refused(result, str(mine), "where bad rows would go", "another batch id")
    assert holdfast("apply", state, "--insert", good, "--batch-id", "b", "--quarantine", aside).code == 0
    assert mine.read_bytes() == before


def test_a_source_in_the_quarantine_stays(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    aside = tmp_path / "aside"
    aside.mkdir()
    noted = f"{HEADER},holdfast_line,holdfast_reason"
    mended = write(aside / "b.people.inserts.csv", [noted, "8,Eve,1.5,2024-01-01,2,was bad"])
    before = mended.read_bytes()
    with untouched(state):
        bad = write(aside / "c.people.inserts.csv", [noted, "5,Eve,much,2024-01-01,2,is bad"])
        result = holdfast("apply", state, "--insert", bad, "--batch-id", "c", "--quarantine", aside)
        refused(result, str(bad), "where bad rows would go")
        assert bad.exists()
    assert holdfast("apply", state, "--insert", mended, "--batch-id", "b", "--quarantine", aside).code == 0
    assert mended.read_bytes() == before


def test_a_reason_replaces_no_file_that_was_set_aside(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    inbox, aside = tmp_path / "inbox", tmp_path / "aside"
    inbox.mkdir()
    write(inbox / "a.csv.reason", ["arrived under this name"])
    options = ("--from", inbox, "--quarantine", aside, "--once")
    assert holdfast("watch", state, *options).code == 2
    write(inbox / "a.csv", [""])
    assert holdfast("watch", state, *options).code == 2
    assert (aside / "a.csv.reason").read_text(encoding="utf-8").startswith("arrived under this name")
    assert (aside / "a-2.csv.reason").read_text(encoding="utf-8").startswith(f"{inbox / 'a.csv'}\n")
    assert {each.name for each in aside.iterdir()} == {
        "a.csv.reason", "a.csv.reason.reason", "a-2.csv", "a-2.csv.reason",
    }  # fmt: skip


# ---- what is said of outputs ----------------------------------------------------------------------------------------


def test_the_figures_of_what_was_written(holdfast: Holdfast, tmp_path: Path) -> None:
    lines = ["id,zip,city", *(f"{n},{n % 7},{chr(65 + n % 7)}" for n in range(60)), "60,1,C", "61,2,E"]
    towns, state = write(tmp_path / "towns.csv", lines), tmp_path / "towns"
    given = tmp_path / "given.yaml"
    given.write_text("rules:\n  - rule: t.id > 1\n  - rule: t.id != 5\n", encoding="utf-8")
    assert holdfast("init", state, towns, "--key", "id", "--rules", given).code == 0
    listed = tmp_path / "all.jsonl"
    assert holdfast("violations", state, "--output", listed).err == f"3 violations written to {listed}\n"
    assert len(listed.read_text(encoding="utf-8").splitlines()) == 3
    page = tmp_path / "page.html"
    output = holdfast("report", state, "--html", page).out
    assert output == f"{page}: {page.stat().st_size / 1e6:,.1f} MB; open it in a browser\n"
    with hf.Monitor.open(state, write=False) as view:
        assert view.report(page) == page.stat().st_size
    rules = tmp_path / "rules.yaml"
    output = holdfast("suggest", towns, "--to", rules).err
    assert f"wrote {len(read_rules(rules).entries):,} rules to {rules}; " in output


def test_the_figures_of_what_was_set_aside(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    new = write(tmp_path / "new.csv", [HEADER, *(f"{n},Eve,much,2024-01-01" for n in range(10, 14)), "9,Eve,,"])
    old = write(tmp_path / "old.csv", ["id", "77", "1", "78", "79"])
    aside = tmp_path / "aside"
    result = holdfast("apply", state, "--insert", new, "--delete", old, "--batch-id", "b", "--quarantine", aside)
    files = [aside / "b.people.deletes.csv", aside / "b.people.inserts.csv"]
    assert [len(file.read_text(encoding="utf-8").splitlines()) - 1 for file in files] == [3, 4]
    assert f"quarantined: 7 of 9 rows in {files[0]} and {files[1]}\n" in result.out
    assert [result.out.count(f"  {file}, line ") for file in ("old.csv", "new.csv")] == [3, 2]
    assert "… and 2 more" in result.out
