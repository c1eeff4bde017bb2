"""Wrong input: one clear sentence, exit code 2, and the state stays as it was."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from holdfast.intake import readers
from tests.cli.running import HEADER, Holdfast, Picture, refused, untouched, write

# ---- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["--insert", "--delete", "--changes", "--snapshot"])
@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "none.arrow", "none.jsonl"])
def test_a_missing_file(holdfast: Holdfast, state: Path, tmp_path: Path, part: str, name: str) -> None:
    with untouched(state):
        refused(holdfast("apply", state, part, tmp_path / name), str(tmp_path / name), "no such file")


def test_a_missing_file_before_there_is_a_state(holdfast: Holdfast, tmp_path: Path) -> None:
    refused(holdfast("discover", tmp_path / "none.csv"), "none.csv", "no such file")
    refused(holdfast("init", tmp_path / "state", tmp_path / "none.csv"), "none.csv", "no such file")
    assert not (tmp_path / "state").exists()


def test_a_failed_init_can_be_done_again(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    refused(holdfast("init", state, people, "--key", "nobody"), "'nobody'", "id, name, score, day")
    assert holdfast("init", state, people, "--key", "id").code == 0
    assert holdfast("status", state).code == 0


def test_other_columns_are_named(holdfast: Holdfast, state: Path, reader: str, tmp_path: Path) -> None:
    other = write(tmp_path / f"{reader}.csv", ["id,name,age", "9,Eve,30"])
    with untouched(state):
        refused(holdfast("apply", state, "--insert", other), str(other), "'score', 'day'", "'age'", "table people")
        refused(holdfast("apply", state, "--snapshot", other), str(other), "'score', 'day'", "'age'", "table people")


def test_a_value_of_another_type_is_named(holdfast: Holdfast, state: Path, reader: str, tmp_path: Path) -> None:
    other = write(tmp_path / f"{reader}.csv", [HEADER, "9,Eve,1.5,2024-01-01", "10,Flo,much,2024-01-01"])
    with untouched(state):
        refused(holdfast("apply", state, "--insert", other), str(other), "'score'", "'much'")


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_a_column_of_another_type_is_named(holdfast: Holdfast, state: Path, tmp_path: Path, suffix: str) -> None:
    other = tmp_path / f"other.{suffix}"
    rows = pa.table({"id": [9], "name": [7], "score": [1.5], "day": ["2024-01-01"]})
    feather.write_feather(rows, other) if suffix == "arrow" else pq.write_table(rows, other)
    with untouched(state):
        refused(holdfast("apply", state, "--insert", other), str(other), "'name' is integer", "text in the table")


def test_a_type_that_cannot_be_compared(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.arrow"
    rows = pa.table({"id": [9], "name": [["a"]], "score": [1.5], "day": pa.array([0], pa.date32())})
    feather.write_feather(rows, other)
    with untouched(state):
        refused(holdfast("apply", state, "--insert", other), str(other), "'name' is list", "text in the table")


def test_a_malformed_row(holdfast: Holdfast, state: Path, reader: str, tmp_path: Path) -> None:
    good = [f"{n},Eve,1.5,2024-01-01" for n in range(100, 110)]
    long = write(tmp_path / f"long-{reader}.csv", [HEADER, *good, "9,Eve,1.5,2024-01-01,more"])
    short = write(tmp_path / f"short-{reader}.csv", [HEADER, *good, "9,Eve", *good])
    open_quote = write(tmp_path / f"open-{reader}.csv", [HEADER, *good, '9,"Eve,1.5,2024-01-01', *good])
    with untouched(state):
        refused(holdfast("apply", state, "--insert", long), f"{long}, line 12", "5 fields where 4 are expected")
        refused(holdfast("apply", state, "--insert", short), f"{short}, line 12", "2 fields where 4 are expected")
        refused(holdfast("apply", state, "--insert", open_quote), f"{open_quote}, line 12", "never closed")
    refused(holdfast("init", tmp_path / "new", long), f"{long}, line 12", "5 fields where 4 are expected")
    assert not (tmp_path / "new").exists()


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_malformed_line_of_json(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    good = '{"id": 9, "name": "Eve", "score": 1.5, "day": "2024-01-01"}'
    bad = write(tmp_path / "bad.jsonl", [good, '{"id": 10, "name": '])
    with untouched(state):
        refused(holdfast("apply", state, "--insert", bad), f"{bad}, line 2", "not a JSON object")
        ddl = "id LONG, name STRING, score DOUBLE, day DATE"
        refused(holdfast("apply", state, "--insert", bad, "--schema", ddl), f"{bad}, line 2", "not a JSON object")


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_a_file_that_is_not_what_its_name_says(
    holdfast: Holdfast, state: Path, reader: str, tmp_path: Path, suffix: str
) -> None:
    broken = write(tmp_path / f"{reader}.{suffix}", ["this is no such file"])
    with untouched(state):
        refused(holdfast("apply", state, "--insert", broken), str(broken), "not readable" if reader == "local" else "")


def test_a_file_of_an_unknown_kind(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    odd = write(tmp_path / "rows.xlsx", [HEADER])
    with untouched(state):
        refused(holdfast("apply", state, "--insert", odd), str(odd), "--input-format")
        refused(holdfast("apply", state, "--insert", odd, "--input-format", "excel"), "'excel'")


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_damaged_file_that_opens(holdfast: Holdfast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = tmp_path / "damaged.parquet"
    pq.write_table(pa.table({"id": range(50_000)}), damaged)
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:1_000] + bytes(20_000) + whole[21_000:])
    refused(holdfast("init", tmp_path / "new", damaged), str(damaged), "not readable")
    monkeypatch.setattr(readers, "SHARE", 0.0)
    refused(holdfast("init", tmp_path / "new", damaged), str(damaged), "Spark can't read it")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("reader", ["local", "spark"])
def test_a_record_of_17_megabytes(holdfast: Holdfast, state: Path, tmp_path: Path, reader: str) -> None:
    """Refused at once by either reader: no session is started."""
    long = write(tmp_path / "long.csv", [HEADER, "9,Eve,1.5,2024-01-01", "10," + "x" * (17 << 20) + ",1.5,2024-01-01"])
    with untouched(state):
        ran = holdfast("apply", state, "--insert", long, "--with", reader)
        refused(ran, f"{long}, line 3: a record of more than 16 MB")
        refused(holdfast("discover", long, "--with", reader), f"{long}, line 3: a record of more than 16 MB")


def test_a_line_of_json_of_17_megabytes(holdfast: Holdfast, tmp_path: Path) -> None:
    long = write(tmp_path / "long.jsonl", ['{"a": "x"}', '{"a": "' + "x" * (17 << 20) + '"}'])
    refused(holdfast("discover", long), f"{long}, line 2: a record of more than 16 MB")


def test_passwords_are_not_shown(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    address = "jdbc:postgresql://ann:hush-hush@host/db?password=hush-hush"
    for ran in (
        holdfast("discover", address),
        holdfast("init", tmp_path / "new", address),
        holdfast("apply", state, "--insert", address),
        holdfast("discover", address.replace("jdbc:", "jbdc:")),
        holdfast("discover", address, "--with", "local"),
        holdfast("discover", address, "--jdbc-table", "t", "--jdbc-properties", tmp_path / "none.properties"),
    ):
        assert "hush" not in ran.sentence
        refused(ran)


def test_a_schema_that_does_not_fit(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    refused(holdfast("init", new, people, "--schema", "id NUMBERS, name"), "--schema 'id NUMBERS, name'", "no type")
    refused(holdfast("init", new, people, "--schema", "id INT, x INT"), str(people), "id, name, score, day", "--schema")
    wrong = "id INT, name INT, score DOUBLE, day DATE"
    refused(holdfast("init", new, people, "--schema", wrong), str(people), "'name'", "'Ann'")
    assert not new.exists()


def test_text_that_is_not_utf8(holdfast: Holdfast, state: Path, reader: str, tmp_path: Path) -> None:
    latin = tmp_path / f"{reader}.csv"
    rows = [f"{n},Eve,1.5,2024-01-01" for n in range(1000, 5000)]
    latin.write_bytes("\n".join([HEADER, *rows, "9,Zoë,1.5,2024-01-01", ""]).encode("latin1"))
    with untouched(state):
        refused(holdfast("apply", state, "--insert", latin), f"{latin}, line 4002", "0xeb", "not UTF-8", "iconv")
    refused(holdfast("init", tmp_path / "new", latin), f"{latin}, line 4002", "not UTF-8")
    refused(holdfast("discover", latin), f"{latin}, line 4002", "not UTF-8")


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_json_that_is_not_utf8(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    latin = tmp_path / "latin.jsonl"
    lines = ['{"id": 8, "name": "Eve", "score": 1.5, "day": "2024-01-01"}', '{"id": 9, "name": "Zoë", "score": 1.5}']
    latin.write_bytes("\n".join(lines).encode("latin1"))
    with untouched(state):
        refused(holdfast("apply", state, "--insert", latin), f"{latin}, line 2", "not UTF-8")


def test_a_file_of_a_header_only_changes_nothing(holdfast: Holdfast, state: Path, reader: str, tmp_path: Path) -> None:
    header = write(tmp_path / f"{reader}.csv", [HEADER])
    before = Picture.of(state)
    result = holdfast("apply", state, "--insert", header)
    assert result.code == 0
    assert "no change in people" in result.out
    after = Picture.of(state)
    assert after == replace(before, history=after.history)


# ---- rows -----------------------------------------------------------------------------------------------------------


def test_deletes_of_rows_that_are_not_there(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    gone = write(tmp_path / "rows.csv", ["id", "1", *map(str, range(71, 76))])
    with untouched(state):
        ran = holdfast("apply", state, "--delete", gone)
        refused(ran, "5 rows to delete or update are not there", "(id=71); (id=72); (id=73)", "--on-missing ignore")
        assert "74" not in ran.sentence
    result = holdfast("apply", state, "--delete", gone, "--on-missing", "ignore")
    assert result.code == 0
    assert "1 row deleted" in result.out
    assert "5 operations on rows that aren't there were ignored" in result.out
    assert Picture.of(state).rows["people"].total() == 3


def test_updates_of_rows_that_are_not_there(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    lines = [f"op,{HEADER}", "update,1,Ann,9.5,2024-01-01", "update,70,Eve,1.5,2024-01-01"]
    changes = write(tmp_path / "changes.csv", lines)
    with untouched(state):
        refused(holdfast("apply", state, "--changes", changes), "a row to delete or update is not there: (id=70)")
    result = holdfast("apply", state, "--changes", changes, "--on-missing", "ignore", "--format", "json")
    assert result.code == 0
    assert result.objects[0]["ignored"] == 1
    assert "max" in result.facts["score"]
    assert result.facts["score"]["max"] == 9.5


def test_deletes_without_a_key_name_the_first_columns(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert holdfast("init", state, people).code == 0
    gone = write(tmp_path / "gone.csv", [HEADER, "1,Ann,1.5,2024-01-01", "1,Ann,1.5,2024-01-01"])
    with untouched(state):
        refused(
            holdfast("apply", state, "--delete", gone),
            "a row to delete or update is not there: (id=1, name=Ann, score=1.5, day=2024-01-01)",
        )


def test_a_duplicate_declared_key(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    again = write(tmp_path / "rows.csv", [HEADER, "9,Eve,1.5,2024-01-01", "2,Flo,1.5,2024-01-01"])
    with untouched(state):
        refused(holdfast("apply", state, "--insert", again), "a row repeats a declared key", "(id=2)")
    twice = write(tmp_path / "twice.csv", [HEADER, "9,Eve,1.5,2024-01-01", "9,Flo,1.5,2024-01-01"])
    with untouched(state):
        refused(holdfast("apply", state, "--insert", twice), "a row repeats a declared key", "(id=9)")
        refused(holdfast("apply", state, "--snapshot", twice), "a row repeats a declared key", "(id=9)")
    refused(holdfast("init", tmp_path / "new", twice, "--key", "id"), str(twice), "(id=9)")
    assert not (tmp_path / "new").exists()


def test_a_null_in_a_declared_key(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    lines = [HEADER, ",Eve,1.5,2024-01-01", "9,Flo,1.5,2024-01-01"]
    nameless = write(tmp_path / "rows.csv", lines)
    with untouched(state):
        for part in ("--insert", "--delete", "--snapshot"):
            refused(holdfast("apply", state, part, nameless), "declared key (id) is null in 1 place;")
    refused(holdfast("init", tmp_path / "new", nameless, "--key", "id"), str(nameless), "(id) is null")
    assert not (tmp_path / "new").exists()


def test_an_unknown_operation(holdfast: Holdfast, state: Path, reader: str, tmp_path: Path) -> None:
    lines = [f"op,{HEADER}", "insert,9,Eve,1.5,2024-01-01", "merge,1,Ann,1.5,2024-01-01"]
    changes = write(tmp_path / f"{reader}.csv", lines)
    with untouched(state):
        refused(holdfast("apply", state, "--changes", changes), str(changes), "'merge'", "insert, delete, update")
    nameless = write(tmp_path / f"{reader}-none.csv", [HEADER, "9,Eve,1.5,2024-01-01"])
    with untouched(state):
        refused(holdfast("apply", state, "--changes", nameless), str(nameless), "--op")
        refused(holdfast("apply", state, "--changes", nameless, "--op", "what"), str(nameless), "'what'")


def test_an_update_without_a_key(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert holdfast("init", state, people).code == 0
    changes = write(tmp_path / "changes.csv", [f"op,{HEADER}", "u,1,Ann,2.5,2024-01-01"])
    with untouched(state):
        refused(holdfast("apply", state, "--changes", changes), "an update needs a declared key")


def test_values_of_ten_thousand_characters(holdfast: Holdfast, state: Path, reader: str, tmp_path: Path) -> None:
    long = "ä" * 9_999 + "z"
    rows = write(tmp_path / f"{reader}.csv", [HEADER, f"9,{long},1.5,2024-01-01", f'10,"{long}",1.5,2024-01-01'])
    result = holdfast("apply", state, "--insert", rows, "--format", "json")
    assert result.code == 0
    assert result.facts["name"]["max"] == long
    assert holdfast("status", state).code == 0
    with untouched(state):
        bad = write(tmp_path / f"{reader}-bad.csv", [HEADER, f"11,Eve,{long},2024-01-01"])
        ran = holdfast("apply", state, "--insert", bad)
        refused(ran, str(bad), "'score'")
        assert len(ran.sentence) < 500
        refused(holdfast("apply", state, "--insert", rows), "(id=9); (id=10)")


def test_long_values_as_keys_are_cut_in_sentences(holdfast: Holdfast, tmp_path: Path) -> None:
    long = "key\nof two lines" * 1_000
    table = pa.table({"key": [long, "short"]})
    feather.write_feather(table, tmp_path / "long.arrow")
    state = tmp_path / "state"
    assert holdfast("init", state, tmp_path / "long.arrow", "--key", "key").code == 0
    with untouched(state):
        ran = holdfast("apply", state, "--insert", tmp_path / "long.arrow")
        refused(ran, "2 rows repeat a declared key", "key=short")
        assert len(ran.sentence) < 500


# ---- column names ---------------------------------------------------------------------------------------------------

STRANGE = ["a b", "a.b", 'say "a"', "it's", "`tick`", "größe", "列", "Id", "ID", "op"]


def strange_file(folder: Path, suffix: str, rows: list[list[str]]) -> Path:
    """A file of text columns under strange names."""
    path = folder / f"strange{len(rows)}.{suffix}"
    if suffix == "csv":
        quoted = ['"' + name.replace('"', '""') + '"' for name in STRANGE]
        return write(path, [",".join(each) for each in [quoted, *rows]])
    if suffix == "jsonl":
        return write(path, [json.dumps(dict(zip(STRANGE, row, strict=True))) for row in rows])
    table = pa.table({name: [row[i] for row in rows] for i, name in enumerate(STRANGE)})
    feather.write_feather(table, path) if suffix == "arrow" else pq.write_table(table, path)
    return path


@pytest.mark.parametrize(
    ("reader", "suffix"),
    [
        ("local", "csv"),
        ("local", "parquet"),
        ("local", "arrow"),
        pytest.param("spark", "csv", marks=pytest.mark.spark),
        pytest.param("spark", "parquet", marks=pytest.mark.spark),
        pytest.param("spark", "jsonl", marks=pytest.mark.spark),
    ],
    indirect=["reader"],
)
def test_strange_column_names(holdfast: Holdfast, reader: str, tmp_path: Path, suffix: str) -> None:
    assert reader
    state = tmp_path / "state"
    old = [f"old {i}" for i in range(len(STRANGE))]
    new = [f"new {i}" for i in range(len(STRANGE))]
    first = strange_file(tmp_path, suffix, [old])
    made = holdfast("init", state, f"t={first}", "--key", "Id", "--format", "json")
    assert made.code == 0, made.err
    assert {name: facts["max"] for name, facts in made.facts.items()} == dict(zip(STRANGE, old, strict=True))
    both = strange_file(tmp_path, suffix, [old, new])
    result = holdfast("apply", state, "--snapshot", both, "--format", "json")
    assert result.code == 0, result.err
    assert result.objects[0]["inserted"] == 1
    assert {name: facts["min"] for name, facts in result.facts.items()} == dict(zip(STRANGE, new, strict=True))
    with untouched(state):
        refused(holdfast("apply", state, "--insert", both), "2 rows repeat a declared key", "(Id=old 7); (Id=new 7)")
    shown = holdfast("status", state)
    assert all(name in shown.out for name in STRANGE)


def test_two_columns_of_one_name(holdfast: Holdfast, reader: str, tmp_path: Path) -> None:
    twice = write(tmp_path / f"{reader}.csv", ["id,id", "1,2"])
    refused(holdfast("init", tmp_path / "state", twice), str(twice), "columns 1 and 2 are both named 'id'")
    table = pa.table([pa.array([1]), pa.array([2])], names=["id", "id"])
    feather.write_feather(table, tmp_path / "twice.arrow")
    refused(holdfast("init", tmp_path / "state", tmp_path / "twice.arrow"), "twice.arrow", "'id'")
