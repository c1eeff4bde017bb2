"""The bound on left sides is the same for every strategy, and part of every answer."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.api import verification
from holdfast.borders.strategy_choice import Budget
from holdfast.engines.pointwise import PointwiseSettings
from holdfast.engines.pointwise import engine as module
from holdfast.engines.registry import make_engine
from tests.laws.world import Batch, Kept, World
from tests.report.embedded import embedded

SMALL = Budget(pairs=16 * 15 // 2, wide=99, wide_pairs=0)
EVERY = list(product("01", repeat=4))


def parity(rows: list[tuple[str, ...]]) -> pa.Table:
    """Four bits as text, their parity, and columns in which nothing ever changes: the parity follows from all four."""
    bits = {name: [row[c] for row in rows] for c, name in enumerate("ABCD")}
    odd = {"E": [str(row.count("1") % 2) for row in rows]}
    return pa.table(bits | odd | {f"same {n}": ["x"] * len(rows) for n in range(12)})


def test_a_table_that_grows_keeps_the_rules_that_are_found_from_scratch(tmp_path: Path) -> None:
    with (
        patch.object(module, "WIDE_PATTERNS", SMALL),
        hf.Monitor.create(tmp_path / "s", {"t": parity(EVERY)}, watch=["pod"]) as watch,
    ):
        watch.apply(inserts=parity(EVERY))
        found = hf.discover({"t": parity(EVERY * 2)}, "pod")
        assert {rule.text for rule in watch.results()} == {rule.text for rule in found}
        assert "by counting" in watch.ways()["pod", "t"]
        assert len(found) == 12, "the constants, and nothing of the parity"


@pytest.mark.parametrize("method", ["counts", "borders"])
def test_the_bound_is_the_given_one(method: str) -> None:
    for most, with_parity in ((3, 0), (4, 5)):
        found = hf.discover(parity(EVERY * 2).select(list("ABCDE")), "pod", method=method, max_lhs=most)
        assert len(found) == with_parity


@pytest.mark.parametrize(("columns", "longest"), [(1, 3), (24, 3), (25, 2), (300, 2)])
def test_the_width_alone_chooses(columns: int, longest: int) -> None:
    assert PointwiseSettings().longest(columns) == longest
    assert PointwiseSettings(max_lhs=7).longest(columns) == 7


def test_every_answer_tells_it(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    found = hf.discover(parity(EVERY), "pod", html=page)
    assert "pointwise order dependencies, left sides up to 3: 12" in repr(found)
    assert "left sides up to 3" in found._repr_html_()
    sections = embedded(page)["rules"]["sections"]
    assert [section["bound"] for section in sections] == ["left sides up to 3"]


def test_a_state_keeps_its_bound() -> None:
    """The settings of an engine that opens it later do not change the bound; it comes back with the settings."""
    world = World()
    world.change(Batch([(n, "a", float(n % 2), n > 2, n % 3) for n in range(5)]))
    engine, longest = make_engine("pod"), make_engine("pod", {"max_lhs": 5})
    kept = Kept(longest, world)
    arrays, facts = longest.dump(kept.state)
    assert (facts["max_lhs"], engine.dump(Kept(engine, world).state)[1]["max_lhs"]) == (5, 3)
    kept.state = engine.load(kept.watched, arrays, facts)
    for _ in range(2):
        assert "left sides up to 5" in engine.how(kept.state)
        kept.reload()
    again = engine.with_settings_of(kept.state)
    assert Kept(again, world).result() == Kept(longest, world).result()


def test_verifying_asks_the_same_of_a_few_columns(tmp_path: Path) -> None:
    """Of four columns left sides would be longer than of the 26 that are watched."""
    wide = parity(EVERY * 2)
    for n in range(9):
        wide = wide.append_column(f"more {n}", pa.array(["y"] * len(wide)))
    wide = wide.set_column(4, "E", pa.array([str((a == "1") ^ (b == "1") ^ (c == "1")) for a, b, c, _ in EVERY * 2]))
    hf.Monitor.create(tmp_path / "s", {"t": wide}, watch=["pod"]).close()
    with patch.object(verification, "_SMALL_CELLS", 10), patch.object(verification, "_picked", lambda _: [0, 1, 2, 4]):
        assert verification.verify(tmp_path / "s", deep=True).problems == ()
