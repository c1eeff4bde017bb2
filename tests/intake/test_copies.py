"""What is no local file is copied: standard input, the web, and patterns, which are local but stand for many files."""

from __future__ import annotations

import base64
import gc
import gzip
import io
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import holdfast as hf
from holdfast.errors import BadInput
from holdfast.intake import copies
from holdfast.intake.paths import table_name
from holdfast.intake.source import ReadOptions
from tests.intake.building import csv_options, file_of, read

CSV = b"id,n\n1,2\n3,4\n"
ROWS = [(1, 2), (3, 4)]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary folder, in which nothing may be left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


# ---- standard input --------------------------------------------------------------------------------------------------


def pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    copies._standard_input.cache_clear()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def packed(table: pa.Table, kind: str) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink) if kind == "parquet" else feather.write_feather(table, sink)
    return sink.getvalue()


TABLE = pa.table({"id": [1, 3], "n": [2, 4]})
JSON = b'{"id": 1, "n": 2}\n{"id": 3, "n": 4}\n'


@pytest.mark.parametrize(
    "data",
    [
        CSV,
        b"\xef\xbb\xbf" + CSV,
        gzip.compress(CSV),
        JSON,
        gzip.compress(JSON),
        packed(TABLE, "parquet"),
        packed(TABLE, "arrow"),
    ],
    ids=["csv", "bom", "csv.gz", "json", "json.gz", "parquet", "arrow"],
)
def test_standard_input(data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, data)
    assert read(tmp_path, "-")[1] == ROWS
    assert read(tmp_path, "-")[1] == ROWS  # it may be read more than once


def test_the_format_of_standard_input_may_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, b"{id;n\n1;2\n")
    assert read(tmp_path, "-", ReadOptions(csv_options(separator=";").csv, format="csv")) == (
        {"{id": "int64", "n": "int64"},
        [(1, 2)],
    )


def test_bad_rows_of_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, CSV + b"5\n")
    with pytest.raises(BadInput, match=r"^standard input, line 4: 1 field where 2 are expected"):
        hf.discover("-")
    with hf.Monitor.create(tmp_path / "state", {"t": pa.table({"id": [0], "n": [0]})}) as monitor:
        outcome = monitor.apply(inserts="-", quarantine=tmp_path / "aside")
        assert outcome.batch.inserted == 2
        assert outcome.quarantined is not None
        assert outcome.quarantined.rows == 1
    pipe(monkeypatch, b"")
    with pytest.raises(BadInput, match=r"^standard input: it is empty"):
        hf.discover("-")


# ---- the web ---------------------------------------------------------------------------------------------------------


@dataclass
class Web:
    """A server of some files."""

    address: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cut: int = 0  # bytes that are missing at the end of each answer
    wants: str | None = None  # the user and the password


class Answers(BaseHTTPRequestHandler):
    def __init__(self, web: Web, *given: object) -> None:
        self.web = web
        super().__init__(*given)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        word = None if self.web.wants is None else "Basic " + base64.b64encode(self.web.wants.encode()).decode()
        body = self.web.files.get(self.path)
        if body is None or (word is not None and self.headers["Authorization"] != word):
            self.send_error(404 if body is None else 401)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) - self.web.cut])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def web() -> Iterator[Web]:
    served = Web()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Answers, served)) as server:
        served.address = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        yield served
        server.shutdown()


def test_files_on_the_web(web: Web, tmp_path: Path, temporary: Path) -> None:
    web.files = {"/in/t.csv?x=1": CSV, "/in/t.csv.gz": gzip.compress(CSV), "/t.parquet": packed(TABLE, "parquet")}
    web.files |= {"/download?id=7": CSV, "/": JSON, "/my%20t.csv": CSV}
    for path in web.files:
        assert read(tmp_path, web.address + path)[1] == ROWS
    assert table_name("https://host/in/t.csv?x=/y") == "t"
    gc.collect()
    assert list(temporary.glob("holdfast-*")) == []


def test_refusals_of_the_web(web: Web, temporary: Path) -> None:
    web.files = {"/bad.csv": CSV + b"5\n", "/t.csv": CSV}
    with pytest.raises(BadInput, match=rf"^{web.address}/bad.csv, line 4: 1 field where 2 are expected"):
        hf.discover(f"{web.address}/bad.csv")
    with pytest.raises(
        BadInput, match=rf"^{web.address}/no.csv: the server answers 404 \(Not Found\); check the address"
    ):
        hf.discover(f"{web.address}/no.csv")
    web.cut = 3
    with pytest.raises(BadInput, match=r"t.csv: the server sent 10 of 13 bytes; try again"):
        hf.discover(f"{web.address}/t.csv")
    with pytest.raises(BadInput, match=r"http://127.0.0.1:9/t.csv: it can't be read .*refused.*; check the address"):
        hf.discover("http://127.0.0.1:9/t.csv")
    with pytest.raises(BadInput, match=r"http://: it can't be read .*; check the address"):
        hf.discover("http://")
    gc.collect()
    assert list(temporary.glob("holdfast-*")) == []


def test_passwords_of_the_web(web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web.files, web.wants = {"/t.csv": CSV, "/t.csv?token=hush%20hush": CSV}, "ann:hush hush"
    host = web.address.removeprefix("http://")
    monkeypatch.setenv("HOLDFAST_TEST_WORD", "hush hush")
    assert read(tmp_path, f"http://ann:${{HOLDFAST_TEST_WORD}}@{host}/t.csv")[1] == ROWS
    monkeypatch.setenv("HOLDFAST_TEST_WORD", "wrong word")
    with pytest.raises(BadInput, match=r"//ann:\*\*\*@.*: the server answers 401") as caught:
        hf.discover(f"http://ann:${{HOLDFAST_TEST_WORD}}@{host}/t.csv")
    assert "wrong" not in str(caught.value)
    web.wants = None
    monkeypatch.setenv("HOLDFAST_TEST_WORD", "hush hush")
    with hf.Monitor.create(tmp_path / "state", f"{web.address}/t.csv?token=${{HOLDFAST_TEST_WORD}}") as monitor:
        monitor.apply(snapshot=f"{web.address}/t.csv?token=hush%20hush")
    kept = b"".join(each.read_bytes() for each in (tmp_path / "state").rglob("*") if each.is_file())
    assert b"hush" not in kept


# ---- patterns --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reader", ["local", pytest.param("spark", marks=pytest.mark.spark)])
@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_several_files_as_one_table(kind: str, reader: str, tmp_path: Path) -> None:
    for number, (a, b) in enumerate(ROWS):
        path = tmp_path / "in" / f"orders-{number}.{kind}"
        content = f"id,n\n{a},{b}\n" if kind == "csv" else f'{{"id": {a}, "n": {b}}}\n'
        file_of(tmp_path, f"in/{path.name}", content)
        if kind == "parquet":
            pq.write_table(pa.table({"id": [a], "n": [b]}), path)
    file_of(tmp_path, f"in/other.{kind}", "other\n")
    file_of(tmp_path, f"in/.orders-9.{kind}", "other\n")
    options = ReadOptions(reader=reader)  # type: ignore[arg-type]
    for pattern in ("in/orders-*", "i*/orders-?." + kind, "**/orders-[0-9]." + kind):
        assert sorted(read(tmp_path, f"{tmp_path}/{pattern}", options)[1]) == ROWS


@pytest.mark.spark
def test_names_of_folders_hold_values_below_a_pattern(tmp_path: Path) -> None:
    for year in (2020, 2021):
        (tmp_path / f"in/year={year}").mkdir(parents=True)
        pq.write_table(pa.table({"id": [year]}), tmp_path / f"in/year={year}/a.parquet")
    types, rows = read(tmp_path, f"{tmp_path}/in/*/a.parquet")
    assert list(types) == ["id", "year"]
    assert sorted(rows) == [(2020, 2020), (2021, 2021)]


def test_a_file_may_be_named_like_a_pattern(tmp_path: Path) -> None:
    file_of(tmp_path, "in/t[1].csv", CSV)
    file_of(tmp_path, "in/t1.csv", "other\n")
    assert read(tmp_path, f"{tmp_path}/in/t[1].csv")[1] == ROWS
    with pytest.raises(BadInput, match=r"t\[2\]\.csv: there is no such file"):
        hf.discover(f"{tmp_path}/in/t[2].csv")


def test_files_of_a_pattern_have_the_same_columns(tmp_path: Path) -> None:
    file_of(tmp_path, "in/a.csv", CSV)
    file_of(tmp_path, "in/b.csv", "id,m\n1,2\n")
    with pytest.raises(BadInput, match=r"in/b\.csv: its columns differ from those of .*in/a\.csv"):
        hf.discover(f"{tmp_path}/in/*.csv")


def test_a_pattern_in_a_lake(tmp_path: Path) -> None:
    pq.write_table(TABLE, Path(file_of(tmp_path, "t/a.parquet", "")))
    file_of(tmp_path, "t/_delta_log/0.json", "{}")
    with pytest.raises(BadInput, match="this is a table of Delta"):
        hf.discover(f"{tmp_path}/t/*.parquet")


def test_the_name_of_a_pattern() -> None:
    names = {"in/orders-*.csv": "orders", "in/*.csv": "in", "*.csv": "table", "-": "stdin"}
    for pattern, name in names.items():
        assert table_name(pattern) == name
