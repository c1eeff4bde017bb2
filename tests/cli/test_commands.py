"""What the commands do when all is well: what they print, as text and as JSON, exit codes, and the state after."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather

from tests.cli.running import HEADER, Holdfast, names_in, refused, run_process, write

COMMANDS = ["discover", "suggest", "init", "apply", "watch", "status", "history", "verify", "backup", "demo"]


# ---- discover and init ----------------------------------------------------------------------------------------------


def test_discover_prints_facts(holdfast: Holdfast, people: Path) -> None:
    result = holdfast("discover", people, "--rules", "column")
    assert result.code == 0
    assert "people: 3 rows" in result.out
    lines = [line for line in result.out.splitlines() if line.startswith("│")]
    assert [line.split()[1] for line in lines] == ["column", *HEADER.split(",")]
    assert result.err == f"{people}: separator ',', header row, quote '\"'\n"


def test_discover_prints_json(holdfast: Holdfast, people: Path) -> None:
    result = holdfast("discover", people, "--rules", "column", "--format", "json")
    assert result.code == 0
    assert result.facts["score"] == {
        "kind": "column", "table": "people", "column": "score", "type": "float", "rows": 3, "nulls": 1,
        "distinct": 2, "min": 1.5, "max": 2.5, "frequent": [[1.5, 1], [2.5, 1]], "text": "column(score)",
    }  # fmt: skip
    assert result.facts["day"]["max"] == "2024-01-02"
    assert list(result.facts) == HEADER.split(",")


def test_every_line_of_json_is_json(holdfast: Holdfast, tmp_path: Path) -> None:
    """Also where values are none that JSON knows: NaN, infinity, text of several lines."""
    odd = pa.table(
        {
            "float": [float("nan"), float("inf"), -float("inf"), None],
            "text": ["two\nlines", '"quoted"', "\u2028", None],
            "decimal": pa.array([1, 2, 3, None], pa.decimal128(20, 2)),
            "time": pa.array([0, 1, 2, None], pa.timestamp("us", "UTC")),
            "list": [[1], [2], None, None],
        }
    )
    feather.write_feather(odd, tmp_path / "odd.arrow")
    result = holdfast("discover", tmp_path / "odd.arrow", "--rules", "column", "--format", "json")
    assert result.code == 0
    assert list(result.facts) == ["float", "text", "decimal", "time"]
    assert result.err == "table odd: columns left out because their types can't be compared: list\n"
    assert run_process("discover", tmp_path / "odd.arrow", "--rules", "column", "--format", "json").out == result.out


def test_several_tables_under_names_of_their_own(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    days = write(tmp_path / "days.csv", ["day,what", "1,a", "2,b"])
    state = tmp_path / "state"
    made = holdfast(
        "init", state, f"staff={people}", days, "--key", "staff:id", "--key", "days:day", "--format", "json"
    )
    assert made.code == 0
    assert [(line["table"], line["rows"], line["key"]) for line in made.of_kind("table")] == [
        ("staff", 3, ["id"]), ("days", 2, ["day"]),
    ]  # fmt: skip
    facts = made.of_kind("column")
    assert [(line["table"], line["column"]) for line in facts] == [
        ("staff", "id"), ("staff", "name"), ("staff", "score"), ("staff", "day"), ("days", "day"), ("days", "what"),
    ]  # fmt: skip
    more = write(tmp_path / "more.csv", ["day,what", "3,c"])
    refused(holdfast("apply", state, "--insert", more), "several tables", "--table: staff, days")
    refused(holdfast("apply", state, "--insert", more, "--table", "months"), "'months'", "staff, days")
    assert holdfast("apply", state, "--insert", more, "--table", "days").code == 0
    refused(holdfast("apply", state, "--insert", more, "--table", "days"), "(day=3)")
    now = holdfast("status", state, "--format", "json").of_kind("column")
    assert now[:4] == facts[:4], "the tables come in their order, and only one of them changed"
    assert [(line["table"], line["column"], line["rows"], line["max"]) for line in now[4:]] == [
        ("days", "day", 3, 3),
        ("days", "what", 3, "c"),
    ]


def test_names_and_keys_that_do_not_fit(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    refused(holdfast("init", state, people, people), "two sources are named 'people'", "other=")
    refused(holdfast("init", state, people, f"b={people}", "--key", "id"), "--key id", "table:id")
    refused(holdfast("init", state, people, "--key", "nobody:id"), "'nobody'")
    refused(holdfast("init", state, people, "--watch", "magic"), "'magic'", "column")
    refused(holdfast("discover", people, "--rules", "magic"), "'magic'", "column")
    assert not state.exists()


def test_init_prints_facts(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    made = holdfast("init", tmp_path / "state", people)
    assert made.code == 0
    assert "people: 3 rows" in made.out
    refused(holdfast("init", tmp_path / "state", people), "already there")


# ---- how files are read ---------------------------------------------------------------------------------------------


def test_types_of_text(holdfast: Holdfast, people: Path, tmp_path: Path, reader: str) -> None:
    assert reader
    made = holdfast("init", tmp_path / "state", people, "--types", "text", "--format", "json")
    assert {facts["type"] for facts in made.facts.values()} == {"text"}
    assert made.facts["score"]["nulls"] == 1
    more = write(tmp_path / "more.csv", [HEADER, "x,y,z,"])
    assert holdfast("apply", tmp_path / "state", "--insert", more).code == 0
    assert names_in(tmp_path / "state", column=2) == ["1.5", None, "2.5", "z"]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_schema_gives_the_types(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    ddl = "id STRING, name STRING, score DECIMAL(6,2), day TIMESTAMP_NTZ"
    made = holdfast("init", tmp_path / "state", people, "--schema", ddl, "--format", "json")
    assert made.code == 0, made.err
    assert [facts["type"] for facts in made.facts.values()] == [
        "text", "text", "decimal(6,2)", "timestamp without time zone",
    ]  # fmt: skip
    assert holdfast("apply", tmp_path / "state", "--snapshot", people, "--format", "json").objects[0]["inserted"] == 0


def test_leading_zeros_stay_text(holdfast: Holdfast, tmp_path: Path, reader: str) -> None:
    zips = write(tmp_path / f"{reader}.csv", ["zip,n", "00501,1", "90210,2"])
    facts = holdfast("discover", zips, "--rules", "column", "--format", "json").facts
    assert (facts["zip"]["type"], facts["zip"]["min"]) == ("text", "00501")


def test_null_markers(holdfast: Holdfast, tmp_path: Path, reader: str) -> None:
    marked = write(tmp_path / f"{reader}.csv", ["id,x,y", "1,-,none", "2,3,NA", "3,4,"])
    facts = holdfast("discover", marked, "--null", "-", "--null", "none", "--format", "json").facts
    assert (facts["x"]["type"], facts["x"]["nulls"]) == ("integer", 1)
    assert (facts["y"]["nulls"], facts["y"]["distinct"]) == (1, 2), "the empty text is a text, where nulls are given"
    state = tmp_path / "state"
    holdfast("init", state, f"t={marked}", "--null", "-", "--null", "none")
    more = write(tmp_path / f"{reader}-more.csv", ["id,x,y", "4,-,a"])
    result = holdfast("apply", state, "--insert", more, "--format", "json")
    assert result.code == 0, "later files are read as the first was"
    assert result.facts["x"]["nulls"] == 2


def test_separators_quotes_and_headers(holdfast: Holdfast, tmp_path: Path, reader: str) -> None:
    plain = write(tmp_path / f"{reader}.txt", ["1~'a~b'", "2~'c'"])
    result = holdfast("discover", plain, "--sep", "~", "--quote", "'", "--no-header", "--format", "json")
    assert {name: facts["max"] for name, facts in result.facts.items()} == {"c1": 2, "c2": "c"}
    assert result.facts["c2"]["min"] == "a~b"
    assert result.err == ""
    tabs = write(tmp_path / f"{reader}.tsv", ["1\t2", "3\t4"])
    result = holdfast("discover", tabs, "--sep", "tab", "--header", "--format", "json")
    assert list(result.facts) == ["1", "2"]
    sniffed = holdfast("discover", tabs, "--format", "json")
    assert "guessed the separator tab" in sniffed.err
    assert "guessed that there is no header row" in sniffed.err


def test_a_file_named_otherwise(holdfast: Holdfast, people: Path) -> None:
    other = people.rename(people.with_suffix(".dat"))
    refused(holdfast("discover", other), "--input-format")
    assert holdfast("discover", other, "--input-format", "csv", "--format", "json").facts["id"]["rows"] == 3


# ---- apply ----------------------------------------------------------------------------------------------------------


def test_inserts_and_deletes(holdfast: Holdfast, state: Path, tmp_path: Path, reader: str) -> None:
    new = write(tmp_path / f"{reader}-new.csv", ["day,name,score,id", "2024-02-01,Eve,0.5,9", "2024-02-01,Flo,,10"])
    old = write(tmp_path / f"{reader}-old.csv", ["id", "1"])
    result = holdfast("apply", state, "--insert", new, "--delete", old)
    assert result.code == 0
    assert "Batch 2: 2 rows inserted, 1 deleted. No rules are watched." in result.out
    assert names_in(state) == ["Flo", "Bob", "Cy", "Di", "Eve"]
    whole = write(tmp_path / f"{reader}-whole.csv", [HEADER, "9,Eve,0.5,2024-02-01"])
    result = holdfast("apply", state, "--delete", whole, "--format", "json")
    assert result.code == 0
    assert {key: result.objects[0][key] for key in ("kind", "seq", "inserted", "deleted", "how")} == {
        "kind": "batch", "seq": 3, "inserted": 0, "deleted": 1, "how": "deletes",
    }  # fmt: skip
    changed = next(line for line in result.objects if line.get("column") == "score")
    assert (changed["event"], changed["min"], changed["before"]["min"]) == ("changed", 2.5, 0.5)
    assert names_in(state) == ["Flo", "Bob", "Cy", "Di"]


def test_an_update_is_a_delete_and_an_insert_of_one_key(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    new = write(tmp_path / "new.csv", [HEADER, "1,Anna,1.5,2024-01-01"])
    old = write(tmp_path / "old.csv", ["id", "1"])
    assert holdfast("apply", state, "--insert", new, "--delete", old).code == 0
    assert names_in(state) == ["Anna", "Bob", "Cy", "Di"]


@pytest.mark.parametrize("words", [("insert", "delete", "update"), ("c", "d", "u"), ("Insert", "DELETE", " update ")])
def test_operations_in_words(holdfast: Holdfast, state: Path, tmp_path: Path, words: tuple[str, str, str]) -> None:
    insert, delete, update = words
    lines = [
        f"op,{HEADER}",
        f"{insert},9,Eve,0.5,2024-02-01",
        f"{delete},2,,,",
        f"{update},3,Cyd,2.5,2024-01-02",
        f"{update},9,Eva,0.5,2024-02-01",
    ]
    changes = write(tmp_path / "changes.csv", lines)
    assert holdfast("apply", state, "--changes", changes).code == 0
    assert names_in(state) == ["Ann", "Cyd", "Di", "Eva"]


def test_the_operation_column_can_be_named(holdfast: Holdfast, state: Path, tmp_path: Path, reader: str) -> None:
    lines = [f"{HEADER},what", "9,Eve,0.5,2024-02-01,c", "1,,,,d"]
    changes = write(tmp_path / f"{reader}.csv", lines)
    assert holdfast("apply", state, "--changes", changes, "--op", "what").code == 0
    assert names_in(state) == ["Bob", "Cy", "Di", "Eve"]


def test_a_change_feed_with_versions(holdfast: Holdfast, state: Path, tmp_path: Path, reader: str) -> None:
    """Delta's feed comes in any order; what counts is the version, and the old row before the new one."""
    lines = [
        f"{HEADER},_change_type,_commit_version,_commit_timestamp",
        "1,Anna,3.5,2024-01-01,update_postimage,7,2024-03-01 00:00:00",
        "1,Anne,2.5,2024-01-01,update_postimage,6,2024-02-01 00:00:00",
        "1,Anne,2.5,2024-01-01,update_preimage,7,2024-03-01 00:00:00",
        "1,Ann,1.5,2024-01-01,update_preimage,6,2024-02-01 00:00:00",
        "9,Eve,0.5,2024-02-01,delete,8,2024-04-01 00:00:00",
        "9,Eve,0.5,2024-02-01,insert,5,2024-01-01 00:00:00",
        "2,Bob,,2024-01-02,delete,8,2024-04-01 00:00:00",
    ]
    changes = write(tmp_path / f"{reader}.csv", lines)
    result = holdfast("apply", state, "--changes", changes, "--format", "json")
    assert result.code == 0, result.err
    assert names_in(state) == ["Anna", "Cy", "Di"]


def test_a_snapshot(holdfast: Holdfast, state: Path, tmp_path: Path, reader: str) -> None:
    lines = [HEADER, "3,Cy,2.5,2024-01-02", "1,Ann,9.5,2024-01-01", "7,New,,"]
    now = write(tmp_path / f"{reader}.csv", lines)
    result = holdfast("apply", state, "--snapshot", now, "--format", "json")
    assert result.code == 0
    assert (result.objects[0]["inserted"], result.objects[0]["deleted"], result.objects[0]["how"]) == (2, 3, "snapshot")
    assert names_in(state) == ["Ann", "Cy", "New"]
    again = holdfast("apply", state, "--snapshot", now)
    assert again.code == 0
    assert "no change in people" in again.out


def test_parts_that_do_not_go_together(holdfast: Holdfast, state: Path, people: Path) -> None:
    refused(holdfast("apply", state), "nothing to apply: give --insert FILE, or --upsert")
    refused(
        holdfast("apply", state, "--insert", people, "--snapshot", people), "inserts and snapshot can't be one batch"
    )


def test_a_broken_rule_gives_exit_code_1(holdfast: Holdfast, people: Path, tmp_path: Path) -> None:
    rules = write(tmp_path / "rules.yaml", ["rules:", '  - {name: one, rule: "not(t.name = s.name and t.id != s.id)"}'])
    state = tmp_path / "state"
    assert holdfast("init", state, people, "--rules", rules).code == 0
    fine = write(tmp_path / "fine.csv", [HEADER, "8,Eve,0.5,2024-02-01"])
    assert holdfast("apply", state, "--insert", fine).code == 0
    broken = write(tmp_path / "broken.csv", [HEADER, "9,Ann,0.5,2024-02-01"])
    assert holdfast("apply", state, "--insert", broken).code == 1
    assert run_process("apply", state, "--insert", broken, "--format", "json").code == 1


# ---- status and history ---------------------------------------------------------------------------------------------


def test_status(holdfast: Holdfast, state: Path, people: Path) -> None:
    result = holdfast("status", state)
    assert result.code == 0
    assert "people: 4 rows" in result.out
    assert re.fullmatch(r"last batch: 1 at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n", result.err)
    assert "read in this process: people\n" in holdfast("status", state, "--verbose").err
    lines = holdfast("status", state, "--format", "json")
    assert (lines.code, lines.err) == (0, "")
    assert list(lines.facts) == HEADER.split(",")
    assert lines.facts["score"]["max"] == 3.5
    assert holdfast("status", state, "--rules", "column", "--format", "json").out == lines.out
    fresh = holdfast("discover", people, "--rules", "column", "--format", "json")
    assert lines.facts["id"].keys() == fresh.facts["id"].keys()


def test_history(holdfast: Holdfast, state: Path, tmp_path: Path, people: Path) -> None:
    assert holdfast("apply", state, "--delete", people).code == 0
    result = holdfast("history", state)
    assert result.code == 0
    assert result.err == ""
    assert "first" in result.out
    lines = holdfast("history", state, "--format", "json").objects
    assert [(line["seq"], line["inserted"], line["deleted"], line["how"]) for line in lines] == [
        (1, 1, 0, "inserts"),
        (2, 0, 3, "deletes"),
    ]
    assert lines[0]["batch_id"] == "first"
    assert holdfast("history", state, "--last", "1", "--format", "json").objects == lines[1:]
    untouched = tmp_path / "untouched"
    holdfast("init", untouched, people)
    assert "no batch was applied yet" in holdfast("history", untouched).out
    assert holdfast("history", untouched, "--format", "json").out == ""


# ---- help -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches(holdfast: Holdfast, command: str) -> None:
    result = holdfast(command, "--help")
    assert (result.code, result.err) == (0, "")
    assert f"Usage: holdfast {command}" in result.out
    if command not in ("status", "history", "demo"):
        assert f"Example: holdfast {command}" in result.out


def test_help_of_all(holdfast: Holdfast) -> None:
    result = holdfast("--help")
    assert result.code == 0
    assert all(f"│ {command} " in result.out for command in COMMANDS)
    bare = holdfast()
    assert (bare.code, bare.out.strip(), bare.err) == (2, result.out.strip(), "")


def test_help_imports_nothing_heavy() -> None:
    """So that it answers within half a second: starting Python takes a tenth of that, NumPy and Arrow all of it."""
    script = (
        "import sys, json\n"
        "from holdfast import cli\n"
        "for words in ([], *([command] for command in sys.argv[1:])):\n"
        "    sys.argv = ['holdfast', *words, '--help']\n"
        "    try: cli.main()\n"
        "    except SystemExit as end: assert not end.code\n"
        "heavy = ('numpy', 'pyarrow', 'pyspark', 'numba', 'pandas', 'sqlite3')\n"
        "print(json.dumps([name for name in heavy if name in sys.modules]), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", script, *COMMANDS], capture_output=True, text=True, check=True)
    assert json.loads(ran.stderr) == []
    assert ran.stdout.count("Usage: holdfast") == 1 + len(COMMANDS)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["discovr"], "No such command 'discovr'"),
        (["status"], "Missing argument 'STATE'"),
        (["status", "x", "--wrong"], "No such option: --wrong"),
        (["status", "x", "--format", "xml"], "'xml'"),
        (["watch", "x"], "--from"),
    ],
)
def test_wrong_usage(holdfast: Holdfast, words: list[str], expected: str) -> None:
    refused(holdfast(*words), expected, "--help")
