"""Differential: the same order dependencies as Desbordante's Fastod finds, set for set; and numbers that are known.

Fastod lists each pair of columns from both sides.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.rules.order import ConstantOD

Found = set[tuple[Any, ...]]
KNOWN = {  # constants, ascending and descending pairs
    "iris": (4, 8, 2),
    "abalone": (137, 189, 135),
    "ncvoter_1k": (758, 2330, 2280),
    "adult": (78, 755, 664),
    "letter": (61, 1490, 1326),
    "tax_10k": (354, 690, 694),
    # Desbordante sorts `?` after the numbers; here it is read as null, and null comes first: other pairs swap.
    "bridges": (142, 607, 613),
    "hepatitis": (8250, 31491, 34260),
}


@pytest.fixture(scope="module")
def desbordante() -> Any:
    return pytest.importorskip("desbordante", reason="differential tests need Desbordante (requirements/dev.txt)")


def ours(source: Any, **options: Any) -> Found:
    found: Found = set()
    names: list[str] = []
    for rule in (result := hf.discover(source, "od", ordered="*", **options)):
        names = names or next(iter(result.shapes.values()))[0].names
        context = frozenset(names.index(name) for name in rule.context)  # type: ignore[attr-defined]
        if isinstance(rule, ConstantOD):
            found.add((context, names.index(rule.column)))
        else:
            pair = frozenset(names.index(name) for name in rule.pair)  # type: ignore[attr-defined]
            found.add((context, pair, rule.direction))  # type: ignore[attr-defined]
    return found


def theirs(desbordante: Any, frame: Any) -> Found:
    algorithm = desbordante.od.algorithms.Fastod()
    algorithm.load_data(table=frame)
    algorithm.execute()
    found: Found = set()
    for direction, rules in (("asc", algorithm.get_asc_ods()), ("desc", algorithm.get_desc_ods())):
        found |= {(context, frozenset(own), direction) for context, own in map(_read, rules)}
    return found | {(context, own[0]) for context, own in map(_read, algorithm.get_simple_ods())}


def _read(rule: Any) -> tuple[frozenset[int], list[int]]:
    """`{2,3} : 5<= ~ 4<=` and `{1} : [] -> 5<=`, where columns count from 1."""
    context, own = (re.findall(r"\d+", part) for part in str(rule).split(":"))
    return frozenset(int(number) - 1 for number in context), [int(number) - 1 for number in own]


@pytest.mark.parametrize("seed", range(12))
def test_random_tables_like_fastod(desbordante: Any, seed: int) -> None:
    random = Random(seed)
    columns, rows = random.randint(2, 6), random.randint(2, 30)
    values = random.choice([2, 3, 8, 40])
    made = {f"c{i}": [random.randrange(values) for _ in range(rows)] for i in range(columns)}
    assert ours(pa.table(made)) == theirs(desbordante, pa.table(made).to_pandas())


@pytest.mark.parametrize(("name", "columns"), [("iris", None), ("abalone", None), ("flight_1k", 20)])
def test_data_sets_like_fastod(desbordante: Any, shared_data: Path, name: str, columns: int | None) -> None:
    pandas = pytest.importorskip("pandas")
    path = shared_data / f"{name}.csv"
    if not path.is_file():
        pytest.skip(f"the data set {name} is not next to the project")
    frame = pandas.read_csv(path)
    frame = frame.iloc[:, :columns] if columns else frame
    assert ours(path, columns=list(frame.columns)) == theirs(desbordante, frame)


@pytest.mark.parametrize("name", KNOWN)
def test_known_numbers(shared_data: Path, name: str) -> None:
    path = shared_data / f"{name}.csv"
    if not path.is_file():
        pytest.skip(f"the data set {name} is not next to the project")
    found = Counter(getattr(rule, "direction", "constant") for rule in hf.discover(path, "od", ordered="*"))
    assert (found["constant"], found["asc"], found["desc"]) == KNOWN[name]


@pytest.mark.parametrize("name", ["iris", "abalone", "ncvoter_1k", "bridges"])
def test_both_ways_find_the_same(shared_data: Path, name: str) -> None:
    path = shared_data / f"{name}.csv"
    if not path.is_file():
        pytest.skip(f"the data set {name} is not next to the project")
    for rules in ("od", "fd,ucc"):
        counts, borders = (hf.discover(path, rules, method=method) for method in ("counts", "borders"))
        assert {rule.text for rule in counts} == {rule.text for rule in borders}
        assert len(counts)
