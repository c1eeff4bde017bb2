"""A state that lives: what a change of rules or columns costs, beside a new start with the same rules on the same rows.

The rival is ourselves: to give one more rule, or to rename a column, one had to make the state again, and lose its
history. Both read the rows as an Arrow table in memory, both leave a state on the disk.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import pyarrow as pa

from benchmarks.bench_denial import sizes, tax
from benchmarks.frame import Case, benchmark
from holdfast.api.monitor import Monitor
from holdfast.engines.registry import rule_class

RULES = ("Zip -> State", "not(t.State = s.State and t.Salary > s.Salary and t.Rate < s.Rate)", "t.Salary >= 0")
CLASSES = ("column", "ucc")
BATCH = 1000


@benchmark("living", "changes of rules and columns on a Tax state, beside a new start")
def living() -> Iterator[Case]:
    rows = sizes()[1]
    data = tax(rows + BATCH)
    folder = Path(tempfile.mkdtemp())
    try:
        with Monitor.create(folder / "state", {"tax": data.slice(0, rows)}, watch=CLASSES, rules=RULES):
            pass
        with Monitor.open(folder / "state") as watch:
            for name, change in CHANGES.items():
                started = perf_counter()
                change(watch, data)
                seconds = perf_counter() - started
                again, same = _made_again(watch, folder / "again")
                yield Case(name, seconds, again, "a new start", None, same, "", None, "", rows)
    finally:
        shutil.rmtree(folder)


def _made_again(watch: Monitor, folder: Path) -> tuple[float, bool]:
    """How long it takes to make a state with the same rules on the same rows, and whether it says the same."""
    table = watch.tables["tax"]
    rows = table.values(table.living_ids())
    found = [name for name in watch._store.watched if not rule_class(name).given]
    started = perf_counter()
    with Monitor.create(folder, {"tax": rows}, watch=found, rules=watch.rules()) as again:
        seconds = perf_counter() - started
        same = _rules_of(watch) == _rules_of(again)
    shutil.rmtree(folder)
    return seconds, same


def _rules_of(watch: Monitor) -> list[tuple[str, int]]:
    """All rules by their texts, and how many violations those have that were given."""
    found = [finding.to_json() for finding in watch.results()]
    return sorted((line.get("text", line.get("column", "")), line.get("violations", 0)) for line in found)


def _batch(watch: Monitor, data: pa.Table) -> None:
    """The next rows, as files of the changed table have them."""
    last = data.slice(len(data) - BATCH, BATCH)
    called = last.rename_columns(["Town" if name == "City" else name for name in last.column_names])
    watch.apply(inserts=called.append_column("Tel", pa.nulls(BATCH, pa.string())))


CHANGES: dict[str, Callable[[Monitor, pa.Table], object]] = {
    "one more dependency": lambda watch, _: watch.add_rules("Phone, AreaCode -> Zip"),
    "one more denial constraint": lambda watch, _: watch.add_rules(
        "not(t.AreaCode = s.AreaCode and t.State != s.State)"
    ),
    "one more rule about a row": lambda watch, _: watch.add_rules("t.City is not null"),
    "one rule less": lambda watch, _: watch.remove_rules("Zip -> State"),
    "a found key promoted": lambda watch, _: watch.promote("key(Phone)"),
    "one more class": lambda watch, _: watch.watch("ind"),
    "a column renamed": lambda watch, _: watch.rename_column("City", "Town"),
    "a column joins": lambda watch, _: watch.add_column("Tel", "text"),
    f"the next {BATCH:,} rows": _batch,
}
