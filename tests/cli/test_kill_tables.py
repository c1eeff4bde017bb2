"""`kill -9` while batches change two tables at once: both have a batch, or neither has."""

from __future__ import annotations

import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import feather

import holdfast as hf
from tests.cli.applier import Applier
from tests.cli.running import Row, rows_of
from tests.cli.test_kill import named_files

BATCHES = 6
RULE = "orders.cust in customers.id"
KEYS = {"orders": "id", "customers": "id"}
ORDERS = pa.schema([("id", pa.int64()), ("cust", pa.int64())])
CUSTOMERS = pa.schema([("id", pa.int64()), ("name", pa.string())])


@dataclass(frozen=True)
class Story:
    """A state to begin with, the batches that follow, and the rows of both tables after each number of batches."""

    state: Path
    batches: Path
    names: list[str]
    rows: list[dict[str, Counter[Row]]]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    """Each batch brings customers with their orders, and removes others with theirs: no order is ever an orphan."""
    folder = tmp_path_factory.mktemp("story")
    (folder / "batches").mkdir()
    draw = random.Random(15)
    customers = {number: f"name {number % 7}" for number in range(300)}
    orders = {number: draw.choice(sorted(customers)) for number in range(900)}
    first = {"orders": table(ORDERS, orders), "customers": table(CUSTOMERS, customers)}
    hf.Monitor.create(folder / "state", first, watch=["column", "ind"], rules=RULE, key=KEYS).close()
    rows, names = [both(orders, customers)], []
    for batch in range(BATCHES):
        gone = draw.sample(sorted(customers), 5)
        lost = [order for order, customer in orders.items() if customer in gone]
        new = {1000 * (batch + 1) + number: "new" for number in range(20)}
        placed = {5000 * (batch + 1) + number: draw.choice(sorted(new)) for number in range(40)}
        feed: list[tuple[Any, ...]] = [("customers", "delete", number, None, None) for number in gone]
        feed += [("orders", "delete", number, orders[number], None) for number in lost]
        feed += [("orders", "insert", number, customer, None) for number, customer in placed.items()]
        feed += [("customers", "insert", number, None, name) for number, name in new.items()]
        customers = {**{key: name for key, name in customers.items() if key not in gone}, **new}
        orders = {**{key: customer for key, customer in orders.items() if key not in lost}, **placed}
        names.append(f"{batch}.feed.arrow")
        columns = dict(zip(("tbl", "op", "id", "cust", "name"), zip(*feed, strict=True), strict=True))
        arrow = pa.table({name: pa.array(list(values)) for name, values in columns.items()})
        feather.write_feather(arrow, folder / "batches" / names[-1])
        rows.append(both(orders, customers))
    return Story(folder / "state", folder / "batches", names, rows)


def table(schema: pa.Schema, rows: Mapping[int, object]) -> pa.Table:
    return pa.table([list(rows), list(rows.values())], schema=schema)


def both(orders: Mapping[int, object], customers: Mapping[int, object]) -> dict[str, Counter[Row]]:
    return {"orders": Counter(orders.items()), "customers": Counter(customers.items())}


def check(state: Path, story: Story, reported: int) -> int:
    """The state opens, and both tables are those of the batches that it has. Gives their number."""
    with hf.Monitor.open(state) as watch:
        applied = [record.batch_id for record in watch.history()]
        assert applied == story.names[: len(applied)]
        assert reported <= len(applied) <= reported + 1
        assert {name: rows_of(each) for name, each in watch.tables.items()} == story.rows[len(applied)]
        assert watch.violations()[0].count == 0, "an order comes with its customer, and goes with it"
        assert not [event for event in watch.memory().events() if event.text == RULE]
    assert {each.name for each in (state / "segments").iterdir()} == named_files(state), "no orphans are left"
    return len(applied)


def go_on(state: Path, story: Story) -> None:
    with hf.Monitor.open(state) as watch:
        for name in story.names:
            watch.apply(changes=story.batches / name, batch_id=name, table_column="tbl")
    assert check(state, story, BATCHES) == BATCHES
    assert not hf.verify(state, deep=True).problems


@pytest.mark.flushes(1, 2, 3, 4, 7, last=30)
def test_killed_before_a_file_or_a_transaction_reaches_the_disk(story: Story, tmp_path: Path, flush: int) -> None:
    state = Path(shutil.copytree(story.state, tmp_path / "state"))
    process = Applier(state, story.batches, die=flush).ready()
    reported = len(process.rest())
    assert process.exit_code == -signal.SIGKILL
    check(state, story, reported)
    go_on(state, story)


def test_killed_again_and_again(story: Story, tmp_path: Path) -> None:
    state = Path(shutil.copytree(story.state, tmp_path / "state"))
    draw, applied = random.Random(15), 0
    for _ in range(4):
        process = Applier(state, story.batches).ready()
        time.sleep(draw.uniform(0, 0.3))
        process.kill()
        applied = check(state, story, max(applied, len(process.rest())))
    go_on(state, story)
