"""Places on this machine where Spark runs outside of this process: a cluster of one worker, a server of Connect."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from holdfast.spark import session

HOME = Path(pyspark.__file__).parent
_LONG = 120.0  # seconds


def environment() -> dict[str, str]:
    """Of a user whose Spark is that of this Python."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK_GATEWAY", "SPARK_"))}
    ours = {"JAVA_HOME": session._java_home(), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    return kept | ours | {"SPARK_HOME": str(HOME), "SPARK_NO_DAEMONIZE": "1"}


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """The address of a cluster: a master and a worker, whose tasks run in processes of their own."""
    port, pages = free_port(), ["--webui-port", str(free_port())]
    master, here = f"spark://127.0.0.1:{port}", ["--host", "127.0.0.1"]
    java = [str(HOME / "bin" / "spark-class")]
    with ExitStack() as running:
        first = [*java, "org.apache.spark.deploy.master.Master", *here, "--port", str(port), *pages]
        running.enter_context(_process(first, folder / "master.log", "I have been elected leader"))
        second = [*java, "org.apache.spark.deploy.worker.Worker", *here, "--webui-port", str(free_port())]
        second += ["--cores", "2", "--memory", "1g", "--work-dir", str(folder / "work"), master]
        running.enter_context(_process(second, folder / "worker.log", "Successfully registered with master"))
        yield master


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """The address of a server of Spark Connect."""
    port = free_port()
    command = [str(HOME / "bin" / "spark-submit"), "--master", "local[2]", "--conf", "spark.ui.enabled=false"]
    command += ["--conf", f"spark.connect.grpc.binding.port={port}", "--conf", "spark.driver.host=127.0.0.1"]
    command += ["--conf", f"spark.sql.warehouse.dir={folder / 'warehouse'}"]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with _process(command, folder / "connect.log", "Spark Connect server started at"):
        yield f"sc://127.0.0.1:{port}"


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def _process(command: list[str], log: Path, ready: str) -> Iterator[None]:
    """A process that runs, and has said that it is ready."""
    with log.open("w") as out:
        process = subprocess.Popen(command, env=environment(), cwd=log.parent, stdout=out, stderr=subprocess.STDOUT)
        try:
            end = time.monotonic() + _LONG
            while ready not in log.read_text(errors="replace"):
                said = log.read_text(errors="replace")[-2000:]
                assert process.poll() is None, f"{command[1]} ended: {said}"
                assert time.monotonic() < end, f"{command[1]} didn't come up: {said}"
                time.sleep(0.2)
            yield
        finally:
            process.terminate()
            process.wait(_LONG)
