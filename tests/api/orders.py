"""A small state of orders and their customers, and a list of changes of its rules, columns and tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

import holdfast as hf
from holdfast.rules.file import Rules, rules_of

ORDERS = pa.table({"id": [1, 2, 3, 4], "cust": [1, 1, 2, 3], "zip": ["a", "a", "b", "b"], "city": ["x", "x", "y", "z"]})
CUSTOMERS = pa.table({"id": [1, 2], "name": ["one", "two"]})
KINDS = pa.table({"id": [1, 2], "kind": ["a", "b"]})
Step = Callable[[hf.Monitor, str], Any]
STEPS: dict[str, Step] = {
    "rules": lambda watch, at: watch.add_rules(for_orders("zip -> city", "t.city is not null"), change_id=at),
    "reference": lambda watch, at: watch.add_rules("orders.cust in customers.id", change_id=at),
    "both": lambda watch, at: watch.apply(
        inserts={"orders": with_id(ORDERS, 9), "customers": with_id(CUSTOMERS, 3)}, batch_id=at
    ),
    "table": lambda watch, at: watch.add_table("kinds", KINDS, key="id", change_id=at),
    "watch": lambda watch, at: watch.watch("ucc", change_id=at),
    "rename": lambda watch, at: watch.rename_column("zip", "postcode", table="orders", change_id=at),
    "retype": lambda watch, at: watch.retype_column("cust", "decimal(22,2)", table="orders", change_id=at),
    "add": lambda watch, at: watch.add_column("tel", "text", table="orders", change_id=at),
    "unwatch": lambda watch, at: watch.unwatch("fd", change_id=at),
    "drop": lambda watch, at: watch.drop_column("city", table="orders", change_id=at),
    "drop table": lambda watch, at: watch.drop_table("customers", change_id=at),
}


def with_id(table: pa.Table, number: int) -> pa.Table:
    """The first row, with another key."""
    return table.slice(0, 1).set_column(0, "id", pa.array([number]))


def for_orders(*texts: str) -> Rules:
    """Rules of the table of orders."""
    given = rules_of(texts)
    return replace(given, entries=tuple(replace(each, table="orders") for each in given.entries))


def fresh(folder: Path) -> Path:
    tables = {"orders": ORDERS, "customers": CUSTOMERS}
    hf.Monitor.create(folder, tables, watch=["fd", "column"], key={"orders": "id", "customers": "id"}).close()
    return folder


def run(state: Path) -> None:
    with hf.Monitor.open(state) as watch:
        for name, step in STEPS.items():
            step(watch, name)
