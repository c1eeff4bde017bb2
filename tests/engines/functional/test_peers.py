"""Differential: the same keys and FDs as Desbordante's HPIValid and HyFD find, set for set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import build_table
from holdfast.progress import Progress
from holdfast.rules.dependency import FD, Key
from holdfast.table.runner import Threads
from holdfast.table.table import Table

SMALL = ["iris", "bridges", "abalone", "hepatitis", "ncvoter_1k", "tax_10k", "letter", "adult"]
KNOWN = {"adult": (78, 0), "letter": (61, 0), "hepatitis": (8250, 348), "ncvoter_1k": (758, 69)}


@pytest.fixture(scope="module")
def desbordante() -> Any:
    return pytest.importorskip("desbordante", reason="differential tests need Desbordante (requirements/dev.txt)")


def read_texts(folder: Path, name: str, columns: int | None = None) -> pa.Table:
    """A data set with every value as text, so that both sides see the same."""
    path = folder / f"{name}.csv"
    if not path.is_file():
        pytest.skip(f"the data set {name} is not next to the project")
    options = pa.csv.ConvertOptions(strings_can_be_null=False)
    with pa.csv.open_csv(path, convert_options=options) as lines:
        names = lines.schema.names
    options = pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    table = pa.csv.read_csv(path, convert_options=options)
    table = table.rename_columns([f"c{i}" for i in range(table.num_columns)])
    return table.select(range(columns)) if columns else table


def encoded(texts: pa.Table, folder: Path) -> Table:
    return build_table("t", texts, ReadOptions(), (), "equal", str(folder), None, Progress()).admitted.table


def ours(name: str, table: Table) -> set[Any]:
    found: set[Any] = set()
    engine = make_engine(name)
    for rule in engine.result(engine.discover(WatchedTable(table), Threads())).values():
        assert isinstance(rule, FD | Key)
        lhs = tuple(int(name[1:]) for name in (rule.lhs if isinstance(rule, FD) else rule.columns))
        found.add((lhs, int(rule.rhs[1:])) if isinstance(rule, FD) else lhs)
    return found


def their_fds(desbordante: Any, texts: pa.Table) -> set[Any]:
    algorithm = desbordante.fd.algorithms.HyFD()
    algorithm.load_data(table=texts.to_pandas())
    algorithm.execute()
    return {(tuple(sorted(fd.lhs_indices)), fd.rhs_index) for fd in algorithm.get_fds()}


def their_keys(desbordante: Any, texts: pa.Table) -> set[Any]:
    algorithm = desbordante.ucc.algorithms.HPIValid()
    algorithm.load_data(table=texts.to_pandas())
    algorithm.execute()
    return {tuple(sorted(key.indices)) for key in algorithm.get_uccs()}


@pytest.mark.parametrize("name", SMALL)
def test_the_same_keys_and_fds(desbordante: Any, shared_data: Path, tmp_path: Path, name: str) -> None:
    texts = read_texts(shared_data, name)
    table = encoded(texts, tmp_path)
    fds, keys = ours("fd", table), ours("ucc", table)
    assert fds == their_fds(desbordante, texts)
    assert keys == their_keys(desbordante, texts)
    if name in KNOWN:
        assert (len(fds), len(keys)) == KNOWN[name]


def test_forty_columns_of_flight(desbordante: Any, shared_data: Path, tmp_path: Path) -> None:
    texts = read_texts(shared_data, "flight_1k", 40)
    assert ours("fd", encoded(texts, tmp_path)) == their_fds(desbordante, texts)


def test_all_keys_of_flight(desbordante: Any, shared_data: Path, tmp_path: Path) -> None:
    texts = read_texts(shared_data, "flight_1k")
    keys = ours("ucc", encoded(texts, tmp_path))
    assert keys == their_keys(desbordante, texts)
    assert len(keys) == 26_652
