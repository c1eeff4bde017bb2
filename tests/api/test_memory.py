"""What a state remembers: rows that broke rules with their values, and figures over time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.api import witness_rows
from holdfast.api.monitor import Monitor
from holdfast.changes.diff import Diff, Witness, Worth
from holdfast.results.memory import ColumnFigures, Figures, StoredWitness
from holdfast.rules import registry
from holdfast.store.layout import DATABASE
from holdfast.table.types import Column
from tests.engines.inclusion.several import filled

FIRST = {"id": [1, 2], "zip": ["10115", "20095"], "city": ["Berlin", "Hamburg"]}
RULES = ["zip -> city", "not(t.zip = s.zip and t.city != s.city)", "key(city)"]
FD, DENIAL, KEY = ("named", "towns", RULES[0]), ("dc", "towns", RULES[1]), ("named", "towns", RULES[2])


def towns(*rows: tuple[int, str, str]) -> pa.Table:
    return pa.table(dict(zip(FIRST, map(list, zip(*rows, strict=True)), strict=True)))


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Monitor]:
    made = Monitor.create(tmp_path / "state", {"towns": pa.table(FIRST)}, watch=["column", "fd"], rules=RULES, key="id")
    with made as monitor:
        yield monitor


def broken_and_mended(watch: Monitor) -> None:
    """Batch 1 breaks rules, batch 2 makes some worse, batch 3 mends all; then no file of the table has the rows."""
    watch.apply(inserts=towns((3, "10115", "Brelin")))
    watch.apply(inserts=towns((4, "10115", "Bremen")))
    watch.apply(deletes=pa.table({"id": [3, 4]}))
    watch.vacuum(keep_events=True)


# ---- events and figures ----------------------------------------------------------------------------------------------


def test_given_rules_that_break_get_worse_and_hold_again(watch: Monitor) -> None:
    broken_and_mended(watch)
    berlin, brelin, bremen = (
        {"id": number, "zip": "10115", "city": city} for number, city in ((1, "Berlin"), (3, "Brelin"), (4, "Bremen"))
    )
    for rule in (FD, DENIAL):
        lost, worse, gained = watch.memory().events_of(*rule)
        assert (lost.seq, lost.event, worse.seq, worse.event) == (1, "lost", 2, "worse")
        assert lost.witness == StoredWitness((0, 2), (berlin, brelin), ({"id": 1}, {"id": 3}))
        assert worse.witness == StoredWitness((0, 3), (berlin, bremen), ({"id": 1}, {"id": 4}))
        assert (gained.seq, gained.event, gained.witness) == (3, "gained", None)
    assert watch.memory().counts() == {1: {"lost": 4}, 2: {"worse": 2}, 3: {"gained": 4}}
    counts = [(batch.lost, batch.gained, batch.changed) for batch in watch.history()]
    assert counts == [(4, 0, 5), (0, 0, 5), (0, 4, 5)], "changed are two given rules, and the facts of three columns"


def test_figures_stand_where_they_changed(watch: Monitor) -> None:
    broken_and_mended(watch)
    watch.apply(inserts=towns((5, "1", "Bonn")))
    figures = watch.memory().figures()
    assert [(each.seq, each.violations) for each in figures[DENIAL]] == [(0, 0), (1, 1), (2, 3), (3, 0)]
    assert figures[FD][:3] == [Figures(0, 0, 0.0, 0.0, 0), Figures(1, 1, 1 / 3, 0.0, 1), Figures(2, 2, 0.5, 0.0, 2)]
    assert [each.violations for each in figures[KEY]] == [0] * len(figures[KEY]), "but its score moves"
    assert watch.memory().columns()["towns", "zip"] == [ColumnFigures(0, 0, 2, 0), ColumnFigures(4, 0, 3, 4)]


def test_a_rule_that_counts_alone_has_no_witness(tmp_path: Path) -> None:
    with Monitor.create(tmp_path / "s", {"towns": pa.table(FIRST)}, watch=[], rules=RULES[1:2], pair_limit=0) as watch:
        watch.apply(inserts=towns((3, "10115", "Brelin")))
        watch.apply(inserts=towns((4, "10115", "Bremen")))
        assert [(each.event, each.witness) for each in watch.memory().events()] == [("worse", None), ("lost", None)]


def test_what_implies_a_rule(tmp_path: Path) -> None:
    start = pa.table({"a": [1, 1, 2], "b": [1, 2, 2], "c": ["x", "y", "x"]})
    with Monitor.create(tmp_path / "s", {"t": start}, watch=["fd"]) as watch:
        watch.apply(deletes=pa.table({"a": [1], "b": [2], "c": ["y"]}))
        causes = {each.text: each.by for each in watch.memory().events() if each.event == "implied"}
        assert causes["a, b -> c"] == "() -> c"
        assert "Since batch 1 it follows from () -> c." in watch.explain("a, b -> c")


def test_updated_rows_are_no_new_violation(tmp_path: Path) -> None:
    """A row that is updated has a new number; what it violated before, with others, is not what is shown."""
    start = towns((1, "1", "A"), (2, "1", "B"), (3, "2", "C"))
    with Monitor.create(tmp_path / "s", {"towns": start}, watch=[], rules=RULES, key="id") as watch:
        feed = towns((2, "1", "B"), (4, "2", "D")).append_column("op", pa.array(["u", "c"]))
        watch.apply(changes=feed)
        shown = {each.text: each.witness for each in watch.memory().events() if each.event == "worse"}
        assert shown.keys() == {*RULES[:2]}
        for witness in shown.values():
            assert witness is not None
            assert [key["id"] for key in witness.keys] == [3, 4]


# ---- rows ------------------------------------------------------------------------------------------------------------


def test_values_stay_when_rows_die_until_a_vacuum(watch: Monitor) -> None:
    broken_and_mended(watch)
    (row,) = watch.rows([2])
    assert not row.alive
    assert row.values == {"id": 3, "zip": "10115", "city": "Brelin"}
    assert "its values are from batch" in str(row)
    assert "from batch 1" in str(row)
    assert watch.vacuum(keep_events=True).events == 0
    assert watch.rows([2]) == [row]
    assert watch.vacuum().events == 6
    assert watch.rows([2])[0].values is None
    lost, *_ = watch.memory().events_of(*FD)
    assert lost.witness == StoredWitness((0, 2), ({"id": 1, "zip": "10115", "city": "Berlin"}, None), ({"id": 1}, {}))
    assert watch.vacuum().events == 0


def test_explain_tells_what_broke_and_holds_again(watch: Monitor) -> None:
    broken_and_mended(watch)
    rows = "id 1 (zip 10115, city Berlin) and id 3 (zip 10115, city Brelin)"
    worse = "id 1 (zip 10115, city Berlin) and id 4 (zip 10115, city Bremen)"
    story = f"It broke with batch 1 because of {rows}, got worse with batch 2 because of {worse}, "
    story += "and holds again since batch 3."
    assert watch.explain("fd1") == ["zip -> city holds in all 2 rows", story]
    assert watch.explain("dc1")[-1] == story
    assert watch.explanation("dc1").to_json()["history"][1]["witness"]["rows"] == [0, 3]
    assert [each["event"] for each in watch.explanation("fd1").to_json()["history"]] == ["lost", "worse", "gained"]
    assert "history" not in watch.explanation("key1").to_json()
    watch.apply(inserts=towns((3, "10115", "Brelin")))
    watch.vacuum()
    before, now = watch.explain("fd1")[-2:]
    assert before == (
        "It broke with batch 1 because of id 1 (zip 10115, city Berlin) and row 2, got worse with batch 2 because of "
        "id 1 (zip 10115, city Berlin) and row 3, and held again with batch 3."
    )
    assert now == f"It broke with batch 4 because of {rows}."


def test_no_more_rows_are_kept_than_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of given rules come first, then those of the rules that were worth most; keys are named for all."""
    monkeypatch.setattr(witness_rows, "MOST_ROWS", 2)
    start = pa.table({"id": range(200), "n": [n % 50 for n in range(200)], "m": [n % 50 for n in range(200)]})
    with Monitor.create(tmp_path / "s", {"t": start}, watch=["ucc", "fd"], rules=["m -> n"], key="id") as watch:
        came = {"id": [200, 201, 202], "n": [0, 1, 2], "m": [49, 48, 2]}
        watch.apply(inserts=pa.table(came))
        events = watch.memory().events()
        (given,) = (each for each in events if each.engine == "named")
        assert given.witness is not None
        assert None not in given.witness.values
        kept: dict[int, Any] = {}
        for each in events:
            assert each.witness is not None
            assert [key["id"] for key in each.witness.keys] == list(each.witness.rows)
            kept |= dict(zip(each.witness.rows, each.witness.values, strict=True))
        assert sum(values is not None for values in kept.values()) == 2
        assert watch.memory().left_out() == {1: len(kept) - 2}
        assert len(kept) > 2
    monkeypatch.setattr(witness_rows, "MOST_ROWS", 4)
    monkeypatch.setattr(witness_rows, "MOST_CELLS", 6)
    with Monitor.open(tmp_path / "s") as watch:
        watch.apply(inserts=pa.table({"id": [300], "n": [7], "m": [8]}))
        assert sum(row.values is not None for row in watch.rows([203])) == 1
        assert len(watch._store.memory.rows("t", [2])) == 2, "three values each"


def test_rows_of_the_best_rules_are_kept_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness_rows, "MOST_ROWS", 2)
    columns = (Column("a", pa.int64()), Column("b", pa.int64()))
    table = filled({"t": [(n, n) for n in range(6)]}, {"t": columns}).tables["t"]
    rules = {rule.text: rule for rule in map(registry.parse, ("a -> b", "b -> a", "() -> a"))}
    rows = {text: Witness((2 * n, 2 * n + 1)) for n, text in enumerate(rules)}
    worth = {"a -> b": Worth(0.6, 9), "b -> a": Worth(0.95, 9)}
    kept = witness_rows.witness_rows({("fd", "t"): Diff(lost=rules, witnesses=rows, worth=worth)}, {}, {"t": table})
    assert {row: each.rule for row, each in kept.rows.items()} == {("t", 2): "b -> a", ("t", 3): "b -> a"}
    assert kept.left_out == 4


def test_whole_rows_are_kept_of_references(tmp_path: Path) -> None:
    """A row without a partner is kept with all of its values, and a vacuum deletes all of them."""
    orders = pa.table({"no": [1, 2], "cust": ["ann", "bob"], "sum": [5, 6]})
    tables = {"orders": orders, "people": pa.table({"name": ["ann", "bob", "cy"]})}
    rule = ["orders.cust in people.name"]
    with Monitor.create(tmp_path / "s", tables, watch=["ind"], rules=rule, key={"orders": "no"}) as watch:
        watch.apply(inserts=pa.table({"no": [3], "cust": ["zoë"], "sum": [7]}), table="orders")
        events = [each for each in watch.memory().events() if each.text == rule[0]]
        assert [each.engine for each in events] == ["ind", "reference"]
        for each in events:
            assert each.witness is not None
            assert each.witness.values == ({"no": 3, "cust": "zoë", "sum": 7},)
            assert each.witness.keys == ({"no": 3},)
        watch.apply(deletes=pa.table({"no": [3]}), table="orders")
        assert watch.explain(rule[0])[-1].startswith(
            "It broke with batch 1 because of no 3 (cust zoë), and holds again"
        )
        watch.vacuum()
        for each in watch.memory().events():
            assert each.witness is None or each.witness.values == (None,)
    assert "zo\\u00eb" not in (tmp_path / "s" / DATABASE).read_text("latin-1")


# ---- sizes -----------------------------------------------------------------------------------------------------------


def test_a_thousand_batches_with_fifty_rules_are_small(tmp_path: Path) -> None:
    """A hundred of them here: a tenth of 5 MB."""
    names = [f"c{number}" for number in range(8)]

    def rows(first: int, count: int, wrong: int = 0) -> pa.Table:
        ids = np.arange(first, first + count)
        return pa.table({"id": ids, **{name: (ids % 9 + wrong * place) % 11 for place, name in enumerate(names)}})

    rules = [f"{a} -> {b}" for a, b in permutations(names, 2)][:50]
    with Monitor.create(tmp_path / "s", {"t": rows(0, 300)}, rules=rules, key="id") as watch:
        before = _bytes_used(watch)
        for number in range(100):
            watch.apply(inserts=rows(300 + number, 1, wrong=number % 10 == 9))
        assert len(watch.memory().figures()) == 50
        assert sum(each.get("worse", 0) for each in watch.memory().counts().values()) > 300
        assert sum(map(len, watch.memory().figures().values())) > 4000, "nearly all figures moved"
        assert _bytes_used(watch) - before < 500_000


def _bytes_used(watch: Monitor) -> int:
    """The bytes of the database that are in use, its log included."""
    (pages,), (free,), (size,) = (
        watch._store._db.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def test_rows_of_two_tables_that_have_the_same_number(tmp_path: Path) -> None:
    """One batch leaves row 2 of each table without a partner: the values of both are kept."""
    tables = {"t": pa.table({"a": [1, 2], "b": [1, 2]}), "u": pa.table({"c": [2, 2, 1]})}
    with Monitor.create(tmp_path / "state", tables, watch=["ind"]) as monitor:
        monitor.apply(deletes=pa.table({"a": [1], "b": [1]}), inserts=pa.table({"a": [2], "b": [1]}), table="t")
        witnesses = {event.text: event.witness for event in monitor.memory().events() if event.event == "lost"}
        assert {text: witness.rows for text, witness in witnesses.items() if witness} == {
            "t.b in t.a": (2,),
            "u.c in t.a": (2,),
        }
        assert [witness.values for witness in witnesses.values() if witness] == [({"a": 2, "b": 1},), ({"c": 1},)]
