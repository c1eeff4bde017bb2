"""What the tests of the live page share: a small state with rules that are violated, and what asks for its pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from holdfast.api.monitor import Monitor
from holdfast.serve.app import application
from holdfast.serve.guard import Address
from holdfast.serve.live import Live
from tests.serve.asking import Client

EVIL = "<script>alert(1)</script>\x1b[2J"


def people(first: int, count: int) -> pa.Table:
    """Some rows: those with an even Id have the city that others of their Zip don't."""
    ids = range(first, first + count)
    return pa.table(
        {
            "Id": list(ids),
            "Zip": [f"{i % 5:05}" for i in ids],
            "City": [EVIL if i % 2 else "Aberdeen" for i in ids],
        }
    )


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state of 40 rows with a denial constraint and a dependency that rows violate, and a rule that holds."""
    path = tmp_path_factory.mktemp("serve") / "state"
    rules = ["not(t.Zip = s.Zip and t.City != s.City)", "Zip -> City", "key(Id)"]
    Monitor.create(path, {"people": people(0, 40)}, rules=rules, key=["Id"]).close()
    return path


@pytest.fixture
def state(made: Path, tmp_path: Path) -> Path:
    """A copy of it, to change."""
    return Path(shutil.copytree(made, tmp_path / "state"))


@pytest.fixture
def live(state: Path) -> Iterator[Live]:
    """That copy, followed when a test says so."""
    served = Live(state)
    yield served
    served.close()


@pytest.fixture
def client(live: Live) -> Client:
    """A browser on this machine."""
    return local_client(live)


def local_client(live: Live) -> Client:
    """What asks on this machine."""
    return Client(application(live, Address("127.0.0.1", 8765)), "http://127.0.0.1:8765")
