"""What all tests share: one quiet Spark session for the whole run, started when a test first asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.compiling import compile_once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Machines are noisy: no test may fail because it was slow. Long streams are for the soak (tests/laws/soak.py).
settings.register_profile("holdfast", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("holdfast")
compile_once()


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the processes that share a run, one has the Spark session: all tests that need it go there. And tests of one
    engine go to one process, for they need the same kernels: while it compiles these, others compile others.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()) or item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
        elif not item.get_closest_marker("xdist_group") and (folder := _of_kernels(item.path)):
            item.add_marker(pytest.mark.xdist_group(folder))


def _of_kernels(test: Path) -> str:
    """The folder of a test whose kernels few other tests need; nothing where there is no such thing."""
    folder, outer = test.parent.name, test.parent.parent.name
    return folder if outer == "engines" or folder in ("borders", "pairs", "search", "kernels") else ""


SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from holdfast.spark.session import session

    running = session()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The data sets of the field; tests that need them are skipped where they are not at hand."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the shared data sets are not here (../shared/data)")
    return SHARED_DATA
