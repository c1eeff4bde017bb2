"""Object stores: files, folders and patterns at `s3:` addresses, from a server that speaks S3."""

from __future__ import annotations

import gc
import gzip
import logging
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import holdfast as hf
from holdfast.errors import BadInput
from holdfast.intake.source import ReadOptions
from tests.intake.building import read

CSV = b"id,n\n1,2\n3,4\n"
ROWS = [(1, 2), (3, 4)]
SECRET = "hush-hush-hush"
Put = Callable[[str, bytes], None]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    moto = pytest.importorskip("moto.server", reason="moto is not installed, which serves S3")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # it logs every request
    running = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    yield "http://{}:{}".format(*running.get_host_and_port())
    running.stop()


@pytest.fixture
def put(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Put:
    """Stores an object; credentials and the server are in the environment, as with every tool."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "ann", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ENDPOINT_URL": server,
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    import boto3

    client: Any = boto3.client("s3", endpoint_url=server)
    client.create_bucket(Bucket="shop")
    for old in client.list_objects_v2(Bucket="shop").get("Contents", ()):
        client.delete_object(Bucket="shop", Key=old["Key"])

    def put_object(key: str, body: bytes) -> None:
        client.put_object(Bucket="shop", Key=key, Body=body)

    return put_object


def test_files_folders_and_patterns(put: Put, tmp_path: Path) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": [1, 3], "n": [2, 4]}), sink)
    put("in/t.csv", CSV)
    put("in/t.csv.gz", gzip.compress(CSV))
    put("in/t.parquet", sink.getvalue().to_pybytes())
    put("days/1/orders-1.csv", b"id,n\n1,2\n")
    put("days/2/orders-2.csv", b"id,n\n3,4\n")
    put("days/_tmp/orders-3.csv", b"other\n")
    for path in ("in/t.csv", "in/t.csv.gz", "in/t.parquet", "days", "days/", "days/*/orders-*.csv"):
        assert read(tmp_path, f"s3://shop/{path}")[1] == ROWS, path
    assert hf.discover("s3://shop/days/*/orders-*.csv").shapes["orders"][1] == 2
    gc.collect()
    assert list((tmp_path / "temporary").glob("holdfast-*")) == []


def test_batches(put: Put, tmp_path: Path) -> None:
    put("t.csv", CSV)
    with hf.Monitor.create(tmp_path / "state", "s3://shop/t.csv", key=["id"]) as monitor:
        put("t.csv", b"id,n\n1,2\n3,5\n")
        batch = monitor.apply(snapshot="s3://shop/t.csv").batch
        assert (batch.inserted, batch.deleted) == (1, 1)
        put("new.csv", b"id,n\n5,6\n7\n")
        outcome = monitor.apply(inserts="s3://shop/new.csv", quarantine=tmp_path / "aside")
        assert outcome.batch.inserted == 1
    kept = b"".join(each.read_bytes() for each in (tmp_path / "state").rglob("*") if each.is_file())
    assert SECRET.encode() not in kept


def test_refusals(put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("bad.csv", CSV + b"5\n")
    put("lake/_delta_log/0.json", b"{}")
    put("lake/a.parquet", b"")
    put("other/a.csv", CSV)
    put("other/b.csv", b"id,m\n1,2\n")
    for path, sentence in (
        ("bad.csv", r"^s3://shop/bad.csv, line 4: 1 field where 2 are expected"),
        ("none.csv", r"^s3://shop/none.csv: there is no such file"),
        ("*.parquet", r"^s3://shop/\*.parquet: there is no such file"),
        ("other", r"^s3://shop/other/b.csv: its columns differ from those of s3://shop/other/a.csv"),
        ("lake", "^s3://shop/lake: this is a table of Delta"),
        ("lake/*.parquet", "this is a table of Delta"),
    ):
        with pytest.raises(BadInput, match=sentence):
            hf.discover(f"s3://shop/{path}")
    with pytest.raises(BadInput, match=r"^s3://none/t.csv: "):
        hf.discover("s3://none/t.csv")
    monkeypatch.setenv("HOLDFAST_TEST_WORD", SECRET)
    with pytest.raises(BadInput, match=r"^s3://ann:\*\*\*@shop/none.csv: there is no such file"):
        hf.discover("s3://ann:${HOLDFAST_TEST_WORD}@shop/none.csv")
    assert list((tmp_path / "temporary").glob("holdfast-*")) == []


def test_spark_reads_in_place() -> None:
    with pytest.raises(BadInput, match="CSV is read from local paths"):
        hf.discover("s3://shop/t.csv", options=ReadOptions(reader="spark"))
