"""When a kernel runs as machine code, and when as it was written: the answers are the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.engines.functional.groups import Groups
from holdfast.kernels import jit
from holdfast.search.graph import PairGraph
from tests.cli.running import environment
from tests.kernels.grown_tree import Grown
from tests.laws.world import Batch, Row, World

RUN = """
import json, sys
import numpy as np
from holdfast.kernels import jit
from holdfast.kernels.hashing import hash_lanes
from holdfast.kernels.semijoin import mix_codes

jit.PATIENCE = 1000
results = []
def look(rows, kernel=None):
    hashes = np.zeros(rows, np.uint64)
    hash_lanes(np.full((1, rows), 1 << 63, np.uint64), hashes)
    results.append(["numba" in sys.modules, len(set(hashes.tolist()))])
look(200)
look(200)
if sys.argv[1] == "large":
    look(10_000)
elif sys.argv[1] == "many":
    look(200)
elif sys.argv[1] == "without steps":
    mix_codes(np.zeros(3, np.uint8), True, np.zeros(3, np.uint32))
    look(1)
print(json.dumps(results))
"""


@pytest.mark.parametrize(
    ("then", "loads"), [("nothing", False), ("large", True), ("many", True), ("without steps", True)]
)
def test_numba_is_loaded_once_that_is_cheaper(then: str, loads: bool) -> None:
    known = {name: value for name, value in environment().items() if name != "NUMBA_DISABLE_JIT"}
    command = [sys.executable, "-W", "error", "-c", RUN, then]
    ran = subprocess.run(command, capture_output=True, text=True, env=known, check=True, timeout=120)
    first, second, *later = json.loads(ran.stdout)
    assert first == second == [False, 1]
    assert later == ([[True, 1]] if loads else [])


KERNEL = """
from typing import NamedTuple

import numpy as np

from holdfast.kernels.jit import kernel

class {name}(NamedTuple):
    numbers: np.ndarray

@kernel
def total(numbers: {name}) -> int:
    return numbers.numbers.sum()

print(total({name}(np.arange(4))))
"""


def test_kernels_are_compiled_again_when_a_class_has_another_name(tmp_path: Path) -> None:
    known = {name: value for name, value in environment().items() if name != "NUMBA_DISABLE_JIT"}
    known["PYTHONPATH"] = f"{tmp_path}:src"
    command, file = [sys.executable, "-c", "import rows_of_numbers"], tmp_path / "rows_of_numbers.py"
    for name in ("Before", "After"):
        file.write_text(KERNEL.format(name=name))
        ran = subprocess.run(command, capture_output=True, text=True, env=known, check=False, timeout=120)
        assert (ran.stdout, ran.stderr) == ("6\n", "")
        assert list(tmp_path.glob("__pycache__/rows_of_numbers.total-*.nbi"))


def copied(value: Any) -> Any:
    """The same with arrays of its own."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, tuple):
        parts = list(map(copied, value))
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def assert_same(one: Any, other: Any) -> None:
    if isinstance(one, tuple):
        for mine, theirs in zip(one, other, strict=True):
            assert_same(mine, theirs)
    else:
        np.testing.assert_array_equal(one, other)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Run kernels that may run as Python compiled and as Python, and compare. Yields the names of those that ran."""
    names: set[str] = set()

    def both(kernel: Any, *values: Any) -> Any:
        if kernel._steps is None:
            return kernel.compiled(*values)
        names.add(f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}")
        others = copied(values)
        with np.errstate(over="ignore"):
            given = kernel.plain(*others)
        assert int(kernel._steps(*values)) >= 0
        assert_same(given, found := kernel.compiled(*values))
        assert_same(values, others)
        return found

    monkeypatch.setattr(jit._Kernel, "__call__", both)
    return names


@pytest.mark.parametrize(("seed", "dims", "size"), [(1, 1, 300), (2, 2, 3000), (3, 3, 5000), (4, 4, 0)])
def test_trees_are_the_same_compiled_or_not(called: set[str], seed: int, dims: int, size: int) -> None:
    grown = Grown(np.random.default_rng(seed), dims, 50, size)
    for share in (0.05, 0.9, 1.0):
        grown.insert(150)
        grown.check()
        grown.delete(share)
        grown.check()
    assert called == {"boxtree.load", "boxtree.insert", "boxdelete.delete", "boxprobe.probe"}


def test_pairs_are_the_same_compiled_or_not(called: set[str]) -> None:
    rng, graph = np.random.default_rng(5), PairGraph()
    for start in range(0, 1000, 100):
        graph.add(np.arange(start, start + 100), rng.integers(-1, start + 1, 100))
        graph.remove_rows(rng.choice(start + 100, 20, replace=False))
    assert called == {f"edges.{name}" for name in ("add", "remove_rows", "degrees_of", "rehash")}


def test_groups_are_the_same_compiled_or_not(called: set[str]) -> None:
    rng, world = np.random.default_rng(6), World("distinct")

    def rows(count: int) -> list[Row]:
        drawn = rng.integers(0, 4, (count, 3)).tolist()
        return [(a, None if b == 3 else "xyz"[b], 0.5, True, None if c == 3 else c) for a, b, c in drawn]

    world.change(Batch(rows(150)))
    kept = Groups(world.table, [0, 1], 4)
    for _ in range(6):
        assert kept.evidence
        kept = Groups.load(world.table, [0, 1], 4, kept.dump())
        change = world.change(Batch(rows(20), list(range(0, 60, 3))))
        kept.ready(change)
        kept.follow(change.come, change.gone)
    table = kept._kept.clusters
    assert table.find(table.keys).tolist() == list(range(table.used))
    assert called >= {
        *(f"hashing.{name}" for name in ("hash_lanes", "enter", "find", "refill")),
        *(f"usual_clusters.{name}" for name in ("link", "choose", "leave", "count", "enter")),
    }
