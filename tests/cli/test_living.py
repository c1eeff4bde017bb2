"""The commands that change a state while its history goes on: `rules`, `columns`, and `apply --evolve`."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast as hf
from tests.cli.running import Holdfast, write

HEADER = "id,zip,city,note"
ROWS = [f"{row},{row % 40},town {row % 40},{row * 7919 % 1200}" for row in range(1200)]  # zip and city go together
WRONG = "1200,7,another town,5"  # breaks zip -> city


@pytest.fixture
def state(holdfast: Holdfast, tmp_path: Path) -> Path:
    folder = tmp_path / "state"
    source = write(tmp_path / "towns.csv", [HEADER, *ROWS])
    assert holdfast("init", folder, source, "--watch", "fd", "--key", "id").code == 0
    return folder


def wrong(folder: Path) -> Path:
    return write(folder / "wrong.csv", [HEADER, WRONG])


# ---- rules ----------------------------------------------------------------------------------------------------------


def test_rules_come_and_go(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "r.yaml", ["rules:", '  - {name: zip, rule: "zip -> city"}', '  - {rule: "t.id >= 0"}'])
    added = holdfast("rules", state, "add", file, "--id", "monday")
    assert (added.code, "zip: zip -> city: now given; 0 violations" in added.out) == (0, True)
    assert "made before" in holdfast("rules", state, "add", file, "--id", "monday").out
    shown = holdfast("rules", state, "show").out
    assert (
        hf.check({"towns": str(tmp_path / "towns.csv")}, write(tmp_path / "again.yaml", shown.splitlines())).violated
        is False
    )
    assert holdfast("rules", state).out == shown
    assert "row1" in holdfast("rules", state, "remove", "row1").out
    assert [line["name"] for line in holdfast("rules", state, "show", "--format", "json").of_kind("rule")] == ["zip"]
    lines = holdfast("history", state, "--format", "json").objects
    assert [(line["how"], line["batch_id"] == "monday") for line in lines] == [("rules", True), ("rules", False)]


def test_a_file_of_rules_takes_the_place_of_all(
    holdfast: Holdfast, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holdfast("rules", state, "add", "zip -> city", "key(id)")
    file = write(tmp_path / "r.yaml", ["rules:", '  - {name: fd1, rule: "zip -> city", severity: warn}'])
    edited = holdfast("rules", state, "edit", file).out
    assert "fd1: zip -> city: severity warn, was error; 0 violations" in edited
    assert "key1: key(id): no longer given" in edited
    monkeypatch.setenv("EDITOR", "sed -i s/warn/error/")
    assert "fd1: zip -> city: severity error, was warn; 0 violations" in holdfast("rules", state, "edit").out
    monkeypatch.setenv("EDITOR", "true")
    assert "nothing changed" in holdfast("rules", state, "edit").out
    monkeypatch.setenv("EDITOR", "no-such-editor")
    assert "set EDITOR, or give a FILE" in holdfast("rules", state, "edit").sentence
    monkeypatch.setenv("EDITOR", "sed -i s/zip/zap/")
    sentence = holdfast("rules", state, "edit").sentence
    kept = Path(sentence.rpartition("run: edit ")[2])  # what was written is not lost with a slip of the pen
    assert "zap -> city" in kept.read_text()
    assert "'zap'" in holdfast("rules", state, "edit", kept).sentence


def test_a_promoted_rule_stays_when_it_breaks(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    promoted = holdfast("rules", state, "promote", "zip -> city", "--name", "zip", "--severity", "error")
    assert "zip: zip -> city: now given; 0 violations" in promoted.out
    result = holdfast("apply", state, "--insert", wrong(tmp_path))
    assert result.code == 1
    (rule,) = [line for line in holdfast("status", state, "--format", "json").objects if line.get("name") == "zip"]
    assert (rule["text"], rule["violations"], rule["severity"]) == ("zip -> city", 1, "error")


@pytest.mark.parametrize(
    ("mark", "code", "expected"),
    [("ignore", 0, "ignored: 1 rule that you ignore broke"), ("pin", 1, "Failed: zip -> city broke")],
)
def test_marks_decide_what_an_alarm_is(
    holdfast: Holdfast, state: Path, tmp_path: Path, mark: str, code: int, expected: str
) -> None:
    assert holdfast("rules", state, mark, "zip -> city").code == 0
    applied = holdfast(
        "apply", state, "--insert", wrong(tmp_path), "--fail-on", "likely" if mark == "ignore" else "given"
    )
    assert applied.code == code
    assert expected in applied.out
    again = holdfast("rules", state, mark, "zip -> city", "--undo").out
    assert "no longer pinned or ignored" in again


def test_json_says_which_rules_are_pinned(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    holdfast("rules", state, "pin", "zip -> city")
    lines = holdfast("apply", state, "--insert", wrong(tmp_path), "--format", "json").objects
    assert [line["text"] for line in lines if line.get("mark") == "pinned"] == ["zip -> city"]
    unmarked = [line["text"] for line in lines if line.get("event") == "lost" and "mark" not in line]
    assert "zip -> city" not in unmarked
    assert lines[1]["text"] == "zip -> city", "it comes first"


def test_classes_are_watched_and_dropped(holdfast: Holdfast, state: Path) -> None:
    assert "ucc: watched from now on; " in holdfast("rules", state, "watch", "ucc").out
    assert "key(id)" in holdfast("status", state, "--format", "json").out
    assert "fd: no longer watched" in holdfast("rules", state, "unwatch", "fd").out
    kinds = {line["kind"] for line in holdfast("status", state, "--format", "json").objects}
    assert "ucc" in kinds
    assert "fd" not in kinds


def test_a_wrong_word_is_one_sentence(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "z.yaml", ["rules:", "  - {name: zip, rule: zip -> city}"])
    assert holdfast("rules", state, "add", file).code == 0
    assert "there is no rule 'zp'; did you mean 'zip'?" in holdfast("rules", state, "remove", "zp").sentence
    assert "'zip' is a given rule: remove it" in holdfast("rules", state, "ignore", "zip").sentence
    assert "'zip' is a given rule: it is watched anyway" in holdfast("rules", state, "pin", "zip").sentence
    assert "not a Holdfast state" in holdfast("rules", tmp_path / "nowhere", "show").sentence
    assert "there is a rule 'zip' already" in (
        holdfast("rules", state, "promote", "id -> note", "--name", "zip").sentence
    )


def test_a_table_without_rows_to_list_is_one_sentence(holdfast: Holdfast, state: Path) -> None:
    assert "table1: rows <= 60: now given; 1 violation\n" in holdfast("rules", state, "add", "rows <= 60").out
    assert holdfast("violations", state, "table1").out.splitlines() == [
        "rows <= 60: 1 violation",
        "the table itself is the violation: there are no rows to list",
    ]


# ---- columns --------------------------------------------------------------------------------------------------------


def test_columns_join_leave_and_change(holdfast: Holdfast, state: Path) -> None:
    holdfast("rules", state, "add", "zip -> city", "key(id)")
    assert "column 'zip' renamed to 'postcode'" in holdfast("columns", state, "rename", "zip", "postcode").out
    assert "postcode -> city" in holdfast("rules", state, "show").out
    assert "is now decimal(22,2), was integer" in holdfast("columns", state, "retype", "note", "decimal(22,2)").out
    assert "column 'tel' (text) added" in holdfast("columns", state, "add", "tel", "text").out
    dropped = holdfast("columns", state, "drop", "city").out
    assert "fd1: postcode -> city: no longer given, as it has no meaning now" in dropped
    shown = holdfast("columns", state, "show", "--format", "json").objects
    assert {line["kind"] for line in shown} == {"column"}
    assert [(line["column"], line["type"], line["about"]) for line in shown] == [
        ("id", "integer", "key"),
        ("postcode", "integer", ""),
        ("note", "decimal(22,2)", ""),
        ("tel", "text", ""),
        ("city", "", "not watched"),
    ]
    assert holdfast("verify", state, "--deep").code == 0
    assert [line["how"] for line in holdfast("history", state, "--format", "json").objects] == ["rules"] + [
        "columns"
    ] * 4


def test_a_table_evolves_with_its_files(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    more = write(tmp_path / "more.csv", [f"{HEADER},tel", "1201,8,town 8,1.5,555"])
    assert "--evolve" in holdfast("apply", state, "--insert", more).sentence
    result = holdfast("apply", state, "--insert", more, "--evolve", "--batch-id", "more")
    assert result.code == 0
    assert "column 'tel' (integer) added, null in all existing rows; column 'note' is now float" in result.err
    ids = [line["batch_id"] for line in holdfast("history", state, "--format", "json").objects]
    assert ids == ["more:columns", "more"]
    holdfast("rules", state, "add", "t.note is not null")
    fewer = write(tmp_path / "fewer.csv", ["id,zip,city,tel", "1202,8,town 8,556"])
    gone = "column 'note' dropped; row1: t.note is not null: no longer given, as it has no meaning now."
    assert gone in holdfast("apply", state, "--insert", fewer, "--evolve").err
    renamed = write(tmp_path / "renamed.csv", ["id,zip,the town,tel", "1203,8,town 8,556"])
    sentence = holdfast("apply", state, "--insert", renamed, "--evolve").sentence
    assert f"holdfast columns {state} rename city 'the town'" in sentence
    assert holdfast("verify", state, "--deep").code == 0


# ---- tables ---------------------------------------------------------------------------------------------------------


def test_tables_join_and_leave(holdfast: Holdfast, state: Path, tmp_path: Path) -> None:
    more = write(tmp_path / "cities.csv", ["city,people", *(f"town {n},{n}" for n in range(39))])
    assert "table 'cities': watched from now on; 39 rows" in holdfast("tables", state, "add", more, "--key", "city").out
    added = holdfast("rules", state, "add", "towns.city in cities.city").out
    assert "ref1: towns.city in cities.city: now given; 30 violations" in added
    shown = holdfast("tables", state, "show", "--format", "json").objects
    assert [(line["table"], line["rows"], line["key"]) for line in shown] == [
        ("towns", 1200, ["id"]),
        ("cities", 39, ["city"]),
    ]
    assert "no longer given, as it has no meaning now" in holdfast("tables", state, "drop", "cities").out
    assert "is the only table here" in holdfast("tables", state, "drop", "towns").sentence
    assert holdfast("verify", state, "--deep").code == 0


def test_the_command_line_accepts(holdfast: Holdfast, tmp_path: Path) -> None:
    source = write(tmp_path / "t.csv", ["id,zip,city", "1,a,x", "2,a,x", "3,a,y"])
    state = tmp_path / "state"
    holdfast("init", state, source, "--key", "id")
    holdfast("rules", state, "add", "zip -> city")
    assert "fd1: zip -> city: accepted; 1 violation" in holdfast("rules", state, "accept", "fd1").out
    assert "1, all accepted" in holdfast("status", state).out
    (line,) = [each for each in holdfast("status", state, "--format", "json").objects if each.get("name") == "fd1"]
    assert (line["violations"], line["accepted"]) == (1, 1)
    assert "zip -> city: 1 violation, all accepted" in holdfast("violations", state, "fd1").out
    fine = write(tmp_path / "fine.csv", ["id,zip,city", "4,a,x"])
    assert holdfast("apply", state, "--insert", fine).code == 0
    wrong = write(tmp_path / "wrong.csv", ["id,zip,city", "5,a,z"])
    assert holdfast("apply", state, "--insert", wrong).code == 1
    assert "no longer accepted; 2 violations" in holdfast("rules", state, "accept", "fd1", "--undo").out
