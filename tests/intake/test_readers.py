"""The law of readers: in this process, at once or in pieces, and with Spark, a file gives the same state.

The same types, rows, findings and refusals; and the same changes under batches of every kind.
"""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from holdfast.api.monitor import Monitor
from holdfast.errors import BadInput
from holdfast.intake import readers, source
from holdfast.intake.readers import Reader
from holdfast.intake.source import ReadOptions, open_source
from tests.intake.building import changed, file_of, rows_in, small_pieces, types_in, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema(
    [
        ("k", pa.int64()),
        ("t", pa.string()),
        ("f", pa.float64()),
        ("b", pa.bool_()),
        ("d", pa.date32()),
        ("m", pa.decimal128(12, 2)),
        ("at", pa.timestamp("us", tz="UTC")),
    ]
)
Writer = Callable[[pa.Table, Path], Any]


def write_csv(table: pa.Table, path: Path) -> None:
    arrow_csv.write_csv(table, path)


def write_parquet(table: pa.Table, path: Path) -> None:
    pq.write_table(table, path, row_group_size=4)


def write_orc(table: pa.Table, path: Path) -> None:
    orc.write_table(table, str(path))


def write_json(table: pa.Table, path: Path) -> None:
    """With decimals as numbers, and dates and times as text."""

    def plain(value: Any) -> str:
        return str(value) if isinstance(value, Decimal) else json.dumps(value, default=str)

    rows = [", ".join(f'"{name}": {plain(value)}' for name, value in row.items()) for row in table.to_pylist()]
    path.write_text("".join(f"{{{row}}}\n" for row in rows), encoding="utf-8")


WRITERS: dict[str, Writer] = {"csv": write_csv, "json": write_json, "parquet": write_parquet, "orc": write_orc}


def random_rows(numbers: random.Random, keys: list[int]) -> list[tuple[Any, ...]]:
    def one(key: int) -> tuple[Any, ...]:
        values = (
            numbers.choice(["", "a", 'b "c"', "x,\ny", "007", "Łódź", "NA"]),
            numbers.choice([0.5, -2.0, 1e20, 3.25]),
            numbers.choice([True, False]),
            dt.date(2024, 2, numbers.randrange(1, 29)),
            Decimal(numbers.randrange(-300, 300)) / 100,
            dt.datetime(2024, 2, 29, numbers.randrange(24), 0, 1, tzinfo=dt.UTC),
        )
        return (key, *(None if numbers.random() < 0.2 else value for value in values))

    return [one(key) for key in keys]


def table_of(rows: list[tuple[Any, ...]], **more: list[Any]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    table = pa.table([pa.array(list(v), f.type) for v, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)
    for name, values in more.items():
        table = table.append_column(name, pa.array(values))
    return table


def state_after(folder: Path, files: dict[str, str], options: ReadOptions, spark: Any) -> list[Any]:
    """The contents and results of a state that is made and changed by files."""
    answers: list[Any] = []

    def look(monitor: Monitor, *more: Any) -> None:
        found = sorted(str(finding.to_json()) for finding in monitor.results())
        answers.append((types_in(monitor), sorted(rows_in(monitor), key=repr), found, *more))

    rules = ["k -> t", "not(t.f > s.f and t.m < s.m)"]
    with watched(
        folder, files["first"], options, key=["k"], watch=["column", "fd"], rules=rules, spark=spark
    ) as monitor:
        look(monitor)
        for part, name in (
            ("inserts", "more"), ("deletes", "old"), ("changes", "feed"), ("snapshot", "last")
        ):  # fmt: skip
            outcome = monitor.apply(**{part: files[name]}, options=options)  # type: ignore[arg-type]
            look(monitor, changed(outcome), sorted(map(str, outcome.to_json()[1:])))
        with pytest.raises(BadInput) as refused:
            monitor.apply(inserts=files["last"], options=options)
        answers.append("repeat a declared key" in str(refused.value))
    return answers


def batch_files(folder: Path, kind: str) -> dict[str, str]:
    """A table and a batch of each sort, as files of one kind."""
    numbers = random.Random(kind)
    first, more = random_rows(numbers, list(range(20))), random_rows(numbers, list(range(20, 30)))
    feed = [*random_rows(numbers, [3, 4, 22, 40]), first[5]]
    tables = {
        "first": table_of(first),
        "more": table_of(more),
        "old": table_of([first[0], more[1]]),
        "feed": table_of(feed, op=["update", "update", "u", "insert", "d"]),
        "last": table_of([*random_rows(numbers, [3, 4, 41]), first[7]]),
    }
    for name, table in tables.items():
        WRITERS[kind](table, folder / f"{name}.{kind}")
    return {name: str(folder / f"{name}.{kind}") for name in tables}


@pytest.mark.parametrize("kind", WRITERS)
def test_pieces_give_the_same_state(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = batch_files(tmp_path, kind)
    at_once = state_after(tmp_path, files, ReadOptions(), None)
    small_pieces(monkeypatch, 30)
    assert state_after(tmp_path, files, ReadOptions(), None) == at_once


@pytest.mark.spark
@pytest.mark.parametrize("kind", WRITERS)
def test_spark_gives_the_same_state(tmp_path: Path, kind: str, spark: SparkSession) -> None:
    files = batch_files(tmp_path, kind)
    here = state_after(tmp_path, files, ReadOptions(reader="local"), None)
    assert state_after(tmp_path, files, ReadOptions(reader="spark"), spark) == here


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("reader", ["local", pytest.param("spark", marks=pytest.mark.spark)])
def test_folders_in_a_folder(tmp_path: Path, kind: str, reader: Reader, request: pytest.FixtureRequest) -> None:
    spark = request.getfixturevalue("spark") if reader == "spark" else None
    numbers = random.Random(kind)
    parts = [table_of(random_rows(numbers, list(range(10 * n, 10 * n + 10)))) for n in range(3)]
    folder = tmp_path / "things"
    (folder / "below").mkdir(parents=True)
    for part, name in zip(parts, ("a", "b", "below/c"), strict=True):
        WRITERS[kind](part, folder / f"{name}.{kind}")
    WRITERS[kind](pa.concat_tables(parts), tmp_path / f"whole.{kind}")
    options = ReadOptions(format=kind)
    assert open_source(str(folder), options, spark).reader == reader
    whole = watched(tmp_path, tmp_path / f"whole.{kind}")
    with whole, watched(tmp_path, str(folder), options, spark=spark) as monitor:
        assert sorted(rows_in(monitor), key=repr) == sorted(rows_in(whole), key=repr)
        assert types_in(monitor) == types_in(whole)


@pytest.mark.parametrize("few", [0, 1000], ids=["in pieces", "at once"])
def test_some_files_of_a_folder_may_promise_no_nulls(tmp_path: Path, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_FEW_ROWS", few)
    (tmp_path / "in").mkdir()
    for number, nullable in enumerate([False, True]):
        schema = pa.schema([pa.field("a", pa.int64(), nullable=nullable)])
        pq.write_table(pa.table({"a": [number]}, schema=schema), tmp_path / "in" / f"{number}.parquet")
    with watched(tmp_path, str(tmp_path / "in"), ReadOptions(format="parquet")) as monitor:
        assert rows_in(monitor) == [(0,), (1,)]


def test_files_of_one_folder_have_one_shape(tmp_path: Path) -> None:
    for number, table in enumerate([pa.table({"a": [1]}), pa.table({"a": ["x"]})]):
        pq.write_table(table, tmp_path / f"{number}.parquet")
    with pytest.raises(BadInput, match=r"1\.parquet: its columns differ from those of .*0\.parquet"):
        open_source(str(tmp_path), ReadOptions(), None)


# ---- which reader is taken ------------------------------------------------------------------------------------------


def reader_of(path: str, options: ReadOptions | None = None, session: Any = None) -> Reader:
    kind = Path(path).suffixes[0][1:] if Path(path).is_file() else "parquet"
    files = [path] if Path(path).is_file() else sorted(map(str, Path(path).rglob("*.parquet")))
    return readers.choose_reader(path, kind, files, (options or ReadOptions()).reader, session)


def test_memory_session_and_number_of_files_decide_the_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of(tmp_path, "t.csv", "a,b\n" + "1,x\n" * 1000)
    packed = file_of(tmp_path, "t.csv.gz", "a,b\n" + "1,x\n" * 1000)
    assert reader_of(path) == "local"
    assert reader_of(path, session=object()) == "local", "a job takes longer to start"
    monkeypatch.setattr(readers, "SMALL", 1000)
    assert reader_of(path, session=object()) == "spark"
    assert reader_of(path, ReadOptions(reader="local"), session=object()) == "local"
    assert reader_of(path, ReadOptions(reader="spark")) == "spark"
    need = readers.needed_memory("csv", [path])
    monkeypatch.setattr(readers, "free_memory", lambda: need / readers.SHARE)
    assert (reader_of(path), reader_of(packed)) == ("local", "spark")
    monkeypatch.setattr(readers, "free_memory", lambda: need / readers.SHARE - 1)
    assert reader_of(path) == "spark"
    monkeypatch.undo()
    lines = file_of(tmp_path, "t.json", '{"a": 1}\n')
    assert reader_of(lines) == "local"
    monkeypatch.setattr(readers, "_MOST_JSON", 1)
    assert reader_of(lines) == "spark"
    monkeypatch.setattr(readers, "MANY_FILES", 0)
    assert reader_of(path) == "spark"


def test_some_sources_have_one_reader_only(tmp_path: Path) -> None:
    folder = tmp_path / "things"
    (folder / "year=2020").mkdir(parents=True)
    pq.write_table(pa.table({"a": [1]}), folder / "year=2020" / "t.parquet")
    assert reader_of(str(folder)) == "spark"
    arrow = file_of(tmp_path, "t.arrow", "x")
    cases = [
        (str(folder), ReadOptions(reader="local"), "names of its folders"),
        (arrow, ReadOptions(reader="spark"), "Arrow files are not for Spark"),
        ("hdfs://host/t.parquet", ReadOptions(reader="local"), "not a local file"),
        ("jdbc:x://host/db", ReadOptions(reader="local"), "Spark reads databases"),
        (str(folder / "year=2020" / "t.parquet"), ReadOptions(reader="local", schema="a INT"), "with a --schema"),
        (arrow, ReadOptions(reader="magic"), "unknown reader 'magic'"),  # type: ignore[arg-type]
    ]
    for path, options, words in cases:
        with pytest.raises(BadInput, match=words):
            open_source(path, options, None)


def test_memory_is_that_of_the_container(monkeypatch: pytest.MonkeyPatch) -> None:
    free = readers.free_memory()
    assert free > 0
    numbers = {"/sys/fs/cgroup/memory.max": 3e6, "/sys/fs/cgroup/memory.current": 2e6}
    monkeypatch.setattr(readers, "_number", numbers.get)
    fields = {"/proc/meminfo": {"MemAvailable:": 8e6}, "/sys/fs/cgroup/memory.stat": {"inactive_file": 5e5}}
    monkeypatch.setattr(readers, "_fields", lambda path: fields.get(path, {}))
    assert readers.free_memory() == 1.5e6
    fields["/proc/meminfo"] = {"MemAvailable:": 100.0}
    assert readers.free_memory() == 100 * 1024
    fields.clear()
    assert readers.free_memory() > 1e6  # not Linux
