"""`kill -9` while a folder is watched in which several files are one batch: each batch whole or not at all, each once;
and a batch that goes to the quarantine goes there whole.
"""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

import holdfast as hf
from tests.cli.applier import Applier
from tests.cli.running import rows_of, write
from tests.cli.test_kill import named_files

FILES = r"(?P<batch>\d+)-(?P<table>\w+)\.csv"
KEYS = {"orders": "id", "customers": "id"}
RULE = "orders.cust in customers.id"
BAD = "5"  # the batch whose first file has other columns
BATCHES = ["2", "10", "11"]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state, and a folder of batches of orders with their new customers; one of them is wrong."""
    root = tmp_path_factory.mktemp("story")
    orders = pa.schema([("id", pa.int64()), ("cust", pa.int64())])
    customers = pa.schema([("id", pa.int64()), ("name", pa.string())])
    start = {
        "orders": pa.table({"id": [1], "cust": [1]}, orders),
        "customers": pa.table({"id": [1], "name": ["a"]}, customers),
    }
    hf.Monitor.create(root / "state", start, watch=["column"], rules=RULE, key=KEYS).close()
    (root / "in").mkdir()
    for batch in [*BATCHES, BAD]:
        placed = ["op,else", "insert,1"] if batch == BAD else [f"insert,{batch}{n},{batch}" for n in (0, 1)]
        write(root / "in" / f"{batch}-orders.csv", placed if batch == BAD else ["op,id,cust", *placed])
        write(root / "in" / f"{batch}-customers.csv", ["op,id,name", f"insert,{batch},b"])
    return root


def check(root: Path) -> list[str]:
    """The state has whole batches in their order, and no file is lost. Gives the batches."""
    with hf.Monitor.open(root / "state") as watch:
        applied = [record.batch_id.rpartition("/")[2] for record in watch.history()]
        assert applied == BATCHES[: len(applied)]
        orders = Counter({(1, 1): 1} | {(int(f"{batch}{n}"), int(batch)): 1 for batch in applied for n in (0, 1)})
        assert rows_of(watch.tables["orders"]) == orders
        assert rows_of(watch.tables["customers"]) == Counter([(1, "a"), *((int(batch), "b") for batch in applied)])
        assert watch.violations()[0].count == 0, "an order comes with its customer"
        assert not watch.memory().events()
    assert {each.name for each in (root / "state" / "segments").iterdir()} == named_files(root / "state")
    folders = [root / "in", root / "aside"]
    places = Counter(path.name for folder in folders if folder.exists() for path in folder.glob("*.csv"))
    assert set(places.values()) == {1}
    assert len(places) == 2 * (len(BATCHES) + 1)
    return applied


@pytest.mark.flushes(1, 2, 4, 6, 7, 8, 9, 11, 14, 17, last=23)
def test_killed_before_a_file_or_a_transaction_reaches_the_disk(story: Path, tmp_path: Path, flush: int) -> None:
    root = Path(shutil.copytree(story, tmp_path / "place"))
    process = Applier(root / "state", root / "in", aside=root / "aside", files=FILES, die=flush)
    process.rest()
    assert process.exit_code == -signal.SIGKILL
    check(root)
    Applier(root / "state", root / "in", aside=root / "aside", files=FILES).rest()
    assert check(root) == BATCHES
    assert sorted(path.name for path in (root / "aside").glob("*.csv")) == [f"{BAD}-customers.csv", f"{BAD}-orders.csv"]
    assert not hf.verify(root / "state", deep=True).problems
