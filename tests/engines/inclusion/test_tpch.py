"""TPC-H: the true foreign keys come first, and Desbordante's Spider finds the same dependencies."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data import TPCH_FOREIGN_KEYS, TPCH_TABLES, tpch
from holdfast.engines.inclusion import rank
from holdfast.engines.registry import make_engine
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import build_table
from holdfast.progress import Progress
from holdfast.table.runner import Threads
from holdfast.table.table import Table
from tests.engines.inclusion.several import watched

MAKER = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent))
pytestmark = pytest.mark.skipif(MAKER is None, reason="tpchgen-cli is not installed")


def _built(folder: Path, sources: dict[str, str]) -> dict[str, Table]:
    return {
        name: build_table(name, source, ReadOptions(), (), "equal", str(folder), None, Progress()).admitted.table
        for name, source in sources.items()
    }


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    return _built(tmp_path_factory.mktemp("tpch"), {name: str(tpch(0.1) / f"{name}.parquet") for name in TPCH_TABLES})


def test_the_true_foreign_keys_come_first(tables: dict[str, Table]) -> None:
    engine = make_engine("ind", {"max_arity": 2})
    state = engine.discover(watched(tables), Threads())
    best = [each.text for each in rank.proposals(state)[:10]]
    assert set(best) == TPCH_FOREIGN_KEYS | {"lineitem(l_partkey, l_suppkey) in partsupp(ps_partkey, ps_suppkey)"}
    assert set(list(engine.result(state))[:9]) == TPCH_FOREIGN_KEYS


def test_spider_finds_the_same(tables: dict[str, Table], tmp_path: Path) -> None:
    """As text 96 hold. As numbers two more do: the only o_shippriority, 0, is the 0.00 of l_tax and of l_discount."""
    desbordante = pytest.importorskip("desbordante")
    subprocess.run([str(MAKER), "csv", "--scale-factor=0.1", f"--output-dir={tmp_path}", "--quiet"], check=True)
    files = {name: str(tmp_path / f"{name}.csv") for name in TPCH_TABLES}
    spider = desbordante.ind.algorithms.Spider()
    spider.load_data(tables=[(file, ",", True) for file in files.values()])
    spider.execute()
    texts = _built(tmp_path, files)
    theirs = set(_named(spider.get_inds(), texts))
    ours = make_engine("ind", {"compare": "text"}).discover(watched(texts), Threads())
    assert len(theirs) == 96
    assert set(ours.found) == theirs
    typed = make_engine("ind").discover(watched(tables), Threads())
    assert set(typed.found) == theirs | {f"orders.o_shippriority in lineitem.l_{x}" for x in ("tax", "discount")}


def _named(found: Any, tables: dict[str, Table]) -> Iterator[str]:
    names, listed = list(tables), list(tables.values())
    for ind in found:
        sides = []
        for side in (ind.get_lhs(), ind.get_rhs()):
            table, (column,) = side.table_index, side.column_indices
            sides.append(f"{names[table]}.{listed[table].schema.names[column]}")
        yield " in ".join(sides)
