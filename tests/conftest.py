"""What all tests share: the markers, how many random examples are tried, and one quiet Spark session for the whole run,
started when a test first asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from holdfast.intake import readers
from tests import needs
from tests.compiling import compile_once
from tests.sources.databases.server import Server, running

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Machines are noisy: no test may fail because it was slow. Long streams are for the soak (tests/laws/soak.py).
settings.register_profile("holdfast", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("holdfast")
compile_once()
# Spark's JVM compiles lightly: jobs on a few rows end before thorough compilation pays. A third less time here.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")
_FEWEST = 3  # examples of each test, whatever share of them is tried


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--examples", type=float, default=1.0, help="this share of the random examples of each test")
    parser.addoption("--everywhere", action="store_true", help="kill at every file that reaches the disk, not at some")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Where a test is marked with the flushes at which to kill: at each of them, or at all up to the last."""
    for marker in metafunc.definition.iter_markers("flushes"):
        everywhere = range(1, marker.kwargs["last"] + 1)
        metafunc.parametrize("flush", everywhere if metafunc.config.getoption("--everywhere") else marker.args)


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of the processes that share a run, one has the Spark session: all tests that need it go there. And tests of one
    engine go to one process, for they need the same kernels: while it compiles these, others compile others.
    """
    share = config.getoption("--examples")
    for item in items:
        needs.mark(item)
        if share != 1:
            _try(item, share)
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
        elif not item.get_closest_marker("xdist_group") and (folder := _of_kernels(item.path)):
            item.add_marker(pytest.mark.xdist_group(folder))


def _try(item: pytest.Item, share: float) -> None:
    """Try only a share of the random examples of a test, or more than all."""
    test: Any = getattr(item, "function", None)
    usual = getattr(test, "_hypothesis_internal_use_settings", None)  # Hypothesis itself has no setting for a share
    if usual is not None and not hasattr(test, "tries_a_share"):
        examples = max(_FEWEST, round(usual.max_examples * share))
        test._hypothesis_internal_use_settings = settings(usual, max_examples=examples)
        test.tries_a_share = True


def _of_kernels(test: Path) -> str:
    """The folder of a test whose kernels few other tests need; nothing where there is no such thing."""
    folder, outer = test.parent.name, test.parent.parent.name
    return folder if outer == "engines" or folder in ("borders", "pairs", "search", "kernels") else ""


SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def one_session() -> Iterator[SparkSession]:
    from holdfast.spark.session import session

    running = session()
    yield running
    running.stop()


@pytest.fixture
def spark(one_session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    """The session, which reads all files of the test, however small they are."""
    monkeypatch.setattr(readers, "SMALL", 0)
    return one_session


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The data sets of the field; tests that need them are skipped where they are not at hand."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the shared data sets are not here (../shared/data)")
    return SHARED_DATA
