"""Rows that can't be read or applied are set aside, and the rest is applied as if the good rows had come alone."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.api.monitor import Monitor
from holdfast.api.open_state import OpenState
from holdfast.errors import BadInput
from holdfast.table import admit
from tests.intake.building import changed, file_of, rows_in, small_pieces, watched
from tests.intake.set_aside import BAD, START, aside, reasons
from tests.oracle import rows as oracle

if TYPE_CHECKING:
    pass

Record = dict[str, Any]


@pytest.fixture
def things(tmp_path: Path) -> Iterator[Monitor]:
    with watched(tmp_path, START, key="id") as monitor:
        yield monitor


# ---- the law --------------------------------------------------------------------------------------------------------

good_fields = st.fixed_dictionaries(
    {
        "op": st.sampled_from(["insert", "insert", "delete", "update", "upsert"]),
        "id": st.sampled_from(["0", "1", "2", "3", "4", "5"]),
        "name": st.sampled_from(["a", "ä", "x\ny", 'q"q', "a,b", ""]),
        "n": st.sampled_from(["1", "-7", ""]),
    }
)
spoils = st.sampled_from(
    [{}, {}, {}, {"id": ""}, {"n": "x"}, {"n": "1.5"}, {"id": "?", "n": "?"}, {"op": "zap"}, {"op": ""}, {"raw": True}]
)
records = st.lists(st.builds(lambda fields, spoil: {**fields, **spoil}, good_fields, spoils), max_size=8)


def is_row(record: Record) -> bool:
    return not (record.get("raw") or {"x", "1.5", "?"} & {record["id"], record["n"]} or record["op"] in ("zap", ""))


def written_csv(records: list[Record]) -> bytes:
    """Records as CSV, those that are marked with bytes that are no text, or with a field too many."""
    lines = ["op,id,name,n"]
    for record in records:
        fields = [record[name] for name in ("op", "id", "name", "n")]
        line = ",".join('"' + field.replace('"', '""') + '"' if set(field) & set('",\n') else field for field in fields)
        lines.append(line + ",more" if record.get("raw") and record["n"] else line)
    marked = [
        "\udcff" + line if record.get("raw") and not record["n"] else line
        for record, line in zip(records, lines[1:], strict=True)
    ]
    return "\n".join([lines[0], *marked, ""]).encode(errors="surrogateescape")


def written_json(records: list[Record]) -> bytes:
    lines = []
    for record in records:
        row = {name: record[name] or None for name in ("op", "id", "name", "n")}
        row = {name: int(v) if name in ("id", "n") and v and v.lstrip("-").isdigit() else v for name, v in row.items()}
        lines.append(json.dumps(row, ensure_ascii=False)[: -1 if record.get("raw") else None])
    return "\n".join([*lines, ""]).encode()


@pytest.mark.parametrize("form", ["csv", "csv in pieces", "jsonl"])
@settings(max_examples=20)
@given(records=records)
def test_the_rest_is_applied_as_if_it_had_come_alone(form: str, records: list[Record]) -> None:
    write, name = (written_json, "feed.jsonl") if form == "jsonl" else (written_csv, "feed.csv")
    with tempfile.TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
        folder = Path(made)
        if form == "csv in pieces":
            small_pieces(patch)
        feed = file_of(folder, name, write(records))
        readable = [place for place, record in enumerate(records) if is_row(record)]
        wrong = [place for place in range(len(records)) if place not in readable]
        keyed = [place for place in readable if records[place]["id"]]
        listed = [(records[place]["op"], (int(records[place]["id"]), "", 0)) for place in keyed]
        outcome = oracle.apply([(0, "", 0), (1, "", 0), (2, "", 0)], listed, (0,))
        wrong += [place for place in readable if place not in keyed]
        wrong += [keyed[place] for place in (*outcome.missing, *outcome.duplicate)]
        good = [record for place, record in enumerate(records) if place not in wrong]
        with watched(folder, START, key="id") as one, watched(folder, START, key="id") as other:
            done = one.apply(changes=feed, quarantine=folder / "aside")
            if good:
                alone = other.apply(changes=file_of(folder, f"good.{name}", write(good)))
                assert changed(done) == changed(alone)
            assert Counter(rows_in(one)) == Counter(rows_in(other))
            assert [f.to_json() for f in one.results()] == [f.to_json() for f in other.results()]
            assert not list((one.path / "segments").glob("staged*"))
        ends = [1 + written_csv(records[: place + 1]).count(b"\n") for place in range(len(records))]
        starts = [2, *ends][: len(records)] if form != "jsonl" else range(1, len(records) + 1)
        assert [int(row["holdfast_line"]) for row in aside(done)] == [starts[place] for place in sorted(wrong)]
        if wrong:
            with watched(folder, START, key="id") as strict, pytest.raises(BadInput):
                strict.apply(changes=feed)


# ---- what the files hold --------------------------------------------------------------------------------------------


def test_a_file_says_what_is_wrong_with_each_row(things: Monitor, tmp_path: Path) -> None:
    outcome = things.apply(inserts=file_of(tmp_path, "new.csv", BAD), batch_id="monday", quarantine=tmp_path / "aside")
    assert changed(outcome) == (2, 0, 0)
    assert outcome.quarantined is not None
    assert outcome.quarantined.files == (str(tmp_path / "aside" / "monday.things.inserts.csv"),)
    assert (tmp_path / "aside" / "monday.things.inserts.csv").read_text() == (
        "id,name,n,holdfast_line,holdfast_reason,holdfast_text\n"
        "6,no number,x,3,column 'n': 'x' is not a whole number (int64),\n"
        ',,,4,2 fields where 3 are expected,"7,short"\n'
        ",no key,1,5,the declared key is null (id=null),\n"
        "1,taken,1,6,the declared key is taken (id=1),\n"
        "8,\"qu\"\"o,te\",?,7,column 'n': '?' is not a whole number (int64),\n"
    )
    assert str(outcome).splitlines()[1:3] == [
        f"quarantined: 5 of 7 rows in {tmp_path / 'aside' / 'monday.things.inserts.csv'}",
        "  new.csv, line 3: column 'n': 'x' is not a whole number (int64)",
    ]
    again = things.apply(inserts=file_of(tmp_path, "new.csv", BAD), batch_id="monday", quarantine=tmp_path / "aside")
    assert again.already_applied


def test_a_mended_file_is_applied_as_it_is(things: Monitor, tmp_path: Path) -> None:
    lines = "id;name;n\n5;a;b;c\n6;no number;x\n1;taken;1\n7;fine;3\n"
    outcome = things.apply(inserts=file_of(tmp_path, "new.csv", lines), quarantine=tmp_path / "aside")
    assert outcome.quarantined is not None
    path = Path(outcome.quarantined.files[0])
    mended = path.read_text().replace(";x;", ";2;")
    path.write_text(mended)
    with pytest.raises(BadInput, match="has 'holdfast_text' in addition"):
        things.apply(inserts=path)
    header, _, *rest = mended.splitlines()
    assert header == "id;name;n;holdfast_line;holdfast_reason;holdfast_text"
    path.write_text("\n".join(line.rpartition(";")[0] for line in [header, *rest]))
    still = things.apply(inserts=path, quarantine=tmp_path / "aside")
    assert changed(still) == (1, 0, 0)
    assert still.quarantined is not None
    assert Path(still.quarantined.files[0]).read_text() == (
        "id;name;n;holdfast_line;holdfast_reason\n1;taken;1;3;the declared key is taken (id=1)\n"
    )


@pytest.mark.parametrize("most_at_once", [admit.SMALL, 0])
def test_many_rows_none_of_which_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_at_once: int) -> None:
    monkeypatch.setattr(admit, "SMALL", most_at_once)
    with watched(tmp_path, START) as monitor:
        fine = file_of(tmp_path, "new.csv", "id,name,n\n7,fine,3\n8,x,4\n")
        assert changed(monitor.apply(inserts=fine, quarantine=tmp_path / "aside")) == (2, 0, 0)


def test_an_earlier_try_leaves_nothing(things: Monitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, folder = file_of(tmp_path, "new.csv", BAD), tmp_path / "aside"
    with monkeypatch.context() as patch:
        patch.setattr(OpenState, "follow", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            things.apply(inserts=path, batch_id="b", quarantine=folder)
    assert list(folder.iterdir()) == [], "the batch was not applied"
    file_of(folder, "b.things.inserts.csv", "id,holdfast_line,holdfast_reason\n1,2,left by a crash\n")
    done = things.apply(inserts=file_of(tmp_path, "new.csv", "id,name,n\n5,ok,1\n"), batch_id="b", quarantine=folder)
    assert done.quarantined is not None
    assert (done.quarantined.rows, list(folder.iterdir())) == (0, [])


def test_deletes_and_inserts_have_a_file_each(things: Monitor, tmp_path: Path) -> None:
    outcome = things.apply(
        inserts=file_of(tmp_path, "new.csv", "id,name,n\n1,again,1\n2,taken,1\n"),
        deletes=file_of(tmp_path, "old.csv", "id\n1\nx\n9\n"),
        batch_id="a/b",
        quarantine=tmp_path / "aside",
    )
    assert changed(outcome) == (1, 1, 0)
    assert [path.name for path in sorted((tmp_path / "aside").iterdir())] == [
        "b-c14cddc0.things.deletes.csv",
        "b-c14cddc0.things.inserts.csv",
    ]
    expected = ["column 'id': 'x' is not a whole number (int64)", "the row to delete or update is not there (id=9)"]
    assert reasons(outcome) == [(3, expected[0]), (4, expected[1]), (3, "the declared key is taken (id=2)")]


def test_missing_rows_that_are_ignored_are_not_set_aside(things: Monitor, tmp_path: Path) -> None:
    old = file_of(tmp_path, "old.csv", "id\n1\nx\n9\n")
    outcome = things.apply(deletes=old, on_missing="ignore", quarantine=tmp_path / "aside")
    assert changed(outcome) == (0, 1, 1)
    assert [line for line, _ in reasons(outcome)] == [3]


# ---- several tables -------------------------------------------------------------------------------------------------

FEED = [
    "table,op,id,name,total",
    "people,insert,5,Eve,",
    "orders,insert,7,,1.5",
    "orders,insert,8,,much",
    "pets,insert,1,Rex,",
    "people,insert,6",
    ",insert,6,Flo,",
    "people,delete,9,,",
    "orders,delete,1,,",
]


@pytest.mark.parametrize("form", ["csv", "jsonl", "arrow"])
def test_a_feed_of_several_tables(tmp_path: Path, form: str) -> None:
    """Each table has its bad rows in a file, and so have the rows of no table."""
    people, orders = pa.table({"id": [1], "name": ["Ann"]}), pa.table({"id": [1], "total": [0.5]})
    feed: Any = file_of(tmp_path, "feed.csv", "\n".join(FEED))
    if form == "jsonl":
        names, *rows = (line.split(",") for line in FEED)
        lines = [json.dumps({n: v or None for n, v in zip(names, row, strict=False)}) for row in rows]
        lines[4] = lines[4][:-1]
        feed = file_of(tmp_path, "feed.jsonl", "\n".join(["", *lines]))
    if form == "arrow":  # it can't be short of fields, nor can its numbers be words
        rows = [line.split(",") for line in FEED if "much" not in line and line.count(",") == 4]
        feed = pa.table({name: [row[c] or None for row in rows[1:]] for c, name in enumerate(rows[0])})
        feed = feed.set_column(2, "id", feed["id"].cast(pa.int64())).set_column(
            4, "total", feed["total"].cast(pa.float64())
        )
    with Monitor.create(tmp_path / "state", {"people": people, "orders": orders}, key="id") as monitor:
        with pytest.raises(BadInput):
            monitor.apply(changes=feed, table_column="table")
        done = monitor.apply(changes=feed, table_column="table", batch_id="b", quarantine=tmp_path / "aside")
        assert changed(done) == (2, 1, 0)
        assert monitor.tables["people"].rows == 2
        assert monitor.tables["orders"].values(monitor.tables["orders"].living_ids())["id"].to_pylist() == [7]
    expected = {"changes": [5, 6, 7], "orders": [4], "people": [8]}
    if form == "arrow":
        expected = {"changes": [3, 4], "people": [5]}
    assert done.quarantined is not None
    assert [Path(path).name.split(".")[1] for path in sorted(done.quarantined.files)] == list(expected)
    found = dict(reasons(done))
    assert sorted(found) == sorted(line for lines in expected.values() for line in lines)
    assert found[expected["changes"][0]] == "is for the table 'pets', which is not watched here"
    assert found[expected["changes"][-1]] == "names no table"
    assert found[expected["people"][0]] == "the row to delete or update is not there (id=9)"
