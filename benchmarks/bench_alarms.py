"""Alarms that people trust: rows held back from the same file make none, and a wrong cell makes one.

The trial: shuffle the rows, start with half of them while keys and FDs are watched, and feed the rest in ten batches.
Nothing is wrong with any of these rows, so every batch that ends with exit code 1 is a false alarm. Then errors are
planted, while the dependencies are watched that are suggested: a row comes that shares the left side of one with
others, and has another value on the right.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

import holdfast as hf
from benchmarks.data import shared
from benchmarks.frame import Case, benchmark, quick
from holdfast.api.monitor import Monitor
from holdfast.rules.dependency import FD

TABLES = ("tax_10k", "adult", "ncvoter_1k", "hospital")
BATCHES = 10
PLANTED = 30


def read(name: str) -> pa.Table:
    """One of the tables, with the types that its values have."""
    return pa.csv.read_csv(shared(name), convert_options=pa.csv.ConvertOptions(strings_can_be_null=True))


def rules_for(data: pa.Table) -> list[str]:
    """The dependencies that are given for a table: those that are suggested and hold."""
    found = hf.suggest({"t": data}, "fd").listed
    return [each.text for each in found if each.severity == "error"]


@benchmark("alarms", "rows held back from the same file make no alarm, and planted errors make one each")
def alarms() -> Iterator[Case]:
    for name in TABLES[-2:] if quick() else TABLES:
        data = read(name)
        for seed in range(1 if quick() else 6):
            yield _held_back(name, data, seed)
        if rules := rules_for(data):
            yield _planted(name, data, rules, 5 if quick() else PLANTED)


def _held_back(name: str, data: pa.Table, seed: int) -> Case:
    """Half of the rows, and then the others, in an order by chance."""
    mixed = data.take(np.random.default_rng(seed).permutation(data.num_rows))
    half = data.num_rows // 2
    spent, by_any, by_default, lost = 0.0, 0, 0, 0
    with (
        TemporaryDirectory() as folder,
        Monitor.create(Path(folder) / "state", {"t": mixed.slice(0, half)}, watch=["fd", "ucc"]) as monitor,
    ):
        for places in np.array_split(np.arange(half, data.num_rows), BATCHES):
            started = perf_counter()
            outcome = monitor.apply(inserts=mixed.take(places))
            alarmed = outcome.broken
            spent += perf_counter() - started
            by_default += alarmed
            by_any += bool(outcome.alarms("any"))
            lost += len(outcome.lost)
    return Case(
        f"{name}, held back, seed {seed}", spent / BATCHES, equal=by_default == 0, goal="no alarm", met=by_default == 0,
        note=f"{by_default} of {BATCHES} batches alarm, {by_any} with --fail-on any; {lost:,} rules broke",
        rows=data.num_rows,
    )  # fmt: skip


def _planted(name: str, data: pa.Table, rules: list[str], count: int) -> Case:
    """Wrong cells, each in a row that is otherwise one of the table's, and that goes again."""
    spent, alarmed = 0.0, 0
    random = np.random.default_rng(0)
    with (
        TemporaryDirectory() as folder,
        Monitor.create(Path(folder) / "state", {"t": data}, watch=["fd", "ucc"], rules=rules) as monitor,
    ):
        for number in range(count):
            wrong = _with_error(data, rules[number % len(rules)], random)
            started = perf_counter()
            alarmed += monitor.apply(inserts=wrong).broken
            spent += perf_counter() - started
            monitor.apply(deletes=wrong)
    all_do = alarmed == count
    return Case(
        f"{name}, {count} planted errors", spent / count, equal=all_do, goal="all alarm", met=all_do,
        note=f"{alarmed} of {count} alarm, {len(rules)} suggested rules", rows=data.num_rows,
    )  # fmt: skip


def _with_error(data: pa.Table, rule: str, random: np.random.Generator) -> pa.Table:
    """One of the rows that share their left side with another, with another right side."""
    fd = FD.parse(rule)
    codes = [pc.fill_null(data[name].combine_chunks().dictionary_encode().indices, -1).to_numpy() for name in fd.lhs]
    _, group, sizes = np.unique(np.stack(codes), axis=1, return_inverse=True, return_counts=True)
    shared_by = (sizes[group.reshape(-1)] > 1) & (np.stack(codes) >= 0).all(axis=0)
    place = int(random.choice(np.flatnonzero(shared_by)))
    others = data[fd.rhs].unique().to_pylist()
    others.remove(data[fd.rhs][place].as_py())
    wrong = pa.array([others[int(random.integers(len(others)))]], data[fd.rhs].type)
    return data.slice(place, 1).set_column(data.schema.get_field_index(fd.rhs), data.schema.field(fd.rhs), wrong)
