"""Where Spark runs: as `--master`, HOLDFAST_SPARK and `spark-submit` say, and everywhere with the same answers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

import holdfast.cli
from holdfast.errors import BadInput
from holdfast.spark.session import _started as started
from tests.spark.places import HOME, connect_server, environment, free_port, standalone

PROGRAM = Path(holdfast.cli.__file__).with_name("__main__.py")
pytestmark = pytest.mark.spark  # heavy as the shared session is, so one at a time
has_connect = any(HOME.glob("jars/spark-connect_*.jar"))  # of Spark 3.5 it comes with no wheel
PLACES = [
    pytest.param(lambda _: nullcontext("local[2]"), "pyspark.sql.session here", id="here"),
    pytest.param(standalone, "pyspark.sql.session elsewhere", id="cluster"),
    pytest.param(
        connect_server,
        "pyspark.sql.connect.session elsewhere",
        id="connect",
        marks=pytest.mark.skipif(not has_connect, reason="this Spark brings no server of Spark Connect"),
    ),
]


def run(*command: object, **more: str) -> subprocess.CompletedProcess[str]:
    """A command of a user who has this Python and its Spark."""
    ours = environment() | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)} | more
    return subprocess.run([*map(str, command)], env=ours, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize(("start", "said"), PLACES)
def test_the_same_answers(tmp_path: Path, start: Callable[[Path], AbstractContextManager[str]], said: str) -> None:
    with start(tmp_path) as master:
        ran = run(sys.executable, "-m", "tests.spark.same_answers", tmp_path, HOLDFAST_SPARK=master)
    assert ran.returncode == 0, ran.stderr
    version, answers = ran.stdout.splitlines()
    assert version.endswith(said)
    assert answers == "the same answers"


def test_where_no_server_answers() -> None:
    """At once: the client of Spark Connect would try for minutes."""
    address = f"sc://127.0.0.1:{free_port()}/;token=geheim"
    with pytest.raises(BadInput, match=r"Spark at sc://127.0.0.1:\d+/;token=\*\*\* can't be used: Connection refused"):
        started(address)
    with pytest.raises(BadInput, match=r"can't be used: .*not known"):
        started("sc://no.such.host.invalid")


def test_spark_submit_is_obeyed(tmp_path: Path) -> None:
    """Its session is used as it is, whatever the environment says."""
    script = tmp_path / "job.py"
    script.write_text(
        "import sys\nfrom holdfast.spark.session import session\nspark = session()\n"
        "print('at', spark.conf.get('spark.master'), spark.conf.get('spark.app.name'), spark.range(5).count())\n"
    )
    submit = [
        HOME / "bin" / "spark-submit",
        "--master",
        "local[3]",
        "--name",
        "ours",
        "--conf",
        "spark.ui.enabled=false",
    ]
    ran = run(*submit, script, HOLDFAST_SPARK="spark://127.0.0.1:1")
    assert ran.returncode == 0, ran.stderr
    assert "at local[3] ours 5\n" in ran.stdout


def test_the_command_line_with_spark_submit(tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    data.write_text("a,b\n1,x\n2,y\n")
    submit = [HOME / "bin" / "spark-submit", "--master", "local[2]", "--conf", "spark.ui.enabled=false"]
    ran = run(*submit, PROGRAM, "discover", data, "--with", "spark", "--rules", "ucc", "--format", "json")
    assert ran.returncode == 0, ran.stderr
    assert '"text": "key(a)"' in ran.stdout


@pytest.mark.parametrize("given", ["option", "environment"])
def test_where_a_session_is_wanted(tmp_path: Path, given: str) -> None:
    data = tmp_path / "t.csv"
    data.write_text("a,b\n1,x\n2,y\n")
    program = [sys.executable, "-m", "holdfast.cli", "discover", data, "--rules", "ucc"]
    option, variable = (["--master", "nonsense"], {}) if given == "option" else ([], {"HOLDFAST_SPARK": "nonsense"})
    ran = run(*program, "--with", "spark", *option, **variable)
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1].startswith("holdfast: 'nonsense' is no place where Spark runs; give --master")
    assert run(*program, *option, **variable).returncode == 0  # a small file needs no Spark
