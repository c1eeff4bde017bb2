"""What people meet in Python: objects print as a few lines, one text is enough where a list may stand, examples run."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import holdfast as hf
from holdfast.api.monitor import Monitor
from holdfast.results.outcome import Outcome

TOWNS = pa.table({"id": [1, 2, 3], "zip": ["1", "1", "2"], "city": ["A", "A", "C"]})
MORE = pa.table({"id": [4], "zip": ["1"], "city": ["B"]})


@pytest.fixture
def watch(tmp_path: Path) -> Monitor:
    return hf.Monitor.create(tmp_path / "s", {"towns": TOWNS}, watch="column, fd", rules="zip -> city", key="id")


def test_frames_of_pandas_have_types() -> None:
    days = pa.array([date(2024, 1, 1), None, date(2024, 1, 2)])
    table = pa.table({"id": [1, 1, None], "day": days, "name": ["a", "a", "b"], "on": [True, None, False]})
    frame = hf.check(table, "id -> day").listings[0].to_pandas()
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == {
        "rule": "category", "t_row": "Int64", "s_row": "Int64",
        "t.id": "Int64", "t.day": "datetime64[ms]", "s.id": "Int64", "s.day": "datetime64[ms]",
    }  # fmt: skip
    for found in (hf.discover(table), hf.discover(table, "ucc,fd"), hf.suggest(table)):
        assert not [name for name, kind in found.to_pandas().dtypes.items() if str(kind) == "object"]
    assert str(hf.suggest(table).to_pandas()["likely"].dtype) == "boolean"


@pytest.mark.parametrize("name", ["towns.parquet", "towns.2024.parquet"])
def test_a_table_is_named_after_its_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    pq.write_table(TOWNS, path)
    assert list(hf.discover(path).shapes) == list(hf.suggest(str(path)).shapes) == ["towns"]
    assert list(hf.discover(TOWNS).shapes) == ["table"]
    assert hf.check(path, "towns: zip -> city").violated == 0
    assert hf.orders(path, "id", "zip")
    with hf.Monitor.create(tmp_path / "s", path, key="id") as watch:
        assert list(watch.tables) == ["towns"]


# ---- print ----------------------------------------------------------------------------------------------------------


def test_found_prints_as_lines() -> None:
    found = hf.discover({"towns": TOWNS}, rules="ucc,column")
    assert str(found).splitlines() == [
        "towns: 3 rows, 3 columns",
        "keys: 1",
        "  key(id)",
        "column facts: 3",
        "  id: integer, 3 distinct, 0 nulls, from 1 to 3",
        "  zip: text, 2 distinct, 0 nulls, from '1' to '2'",
        "  city: text, 2 distinct, 0 nulls, from 'A' to 'C'",
    ]
    none = hf.discover(pa.table({"a": [1, 1]}), rules="ucc")
    assert str(none) == "table: 2 rows, 1 columns\nnothing was found"


def test_checked_and_listings_print_as_lines() -> None:
    checked = hf.check(pa.concat_tables([TOWNS, MORE]), ["zip -> city", "not(t.zip = s.zip and t.city != s.city)"])
    assert str(checked).splitlines() == [
        "rules: 2, 2 of them violated",
        "  dc1: 2 violations of not(t.zip = s.zip and t.city != s.city)",
        "  fd1: 1 row to remove for zip -> city",
    ]
    assert str(checked.listings[1]).splitlines() == [
        "fd1: 1 violation of zip -> city",
        "  t_row 3, s_row 0, t.zip '1', t.city 'B', s.zip '1', s.city 'A'",
    ]


def test_a_monitor_and_what_it_tells_print_as_lines(watch: Monitor, tmp_path: Path) -> None:
    outcome = watch.apply(inserts=MORE, batch_id="b")
    lines = str(outcome).splitlines()
    assert lines[:2] == ["Batch 1: 1 row. 1 rule failed.", "Failed: zip -> city has 1 new violation"]
    assert [line for line in lines if line.startswith("  zip -> city   because of id ")]
    assert str(watch.apply(inserts=MORE, batch_id="b")).startswith("Nothing to do: batch b was applied before, at ")
    assert str(watch).splitlines() == [
        f"Monitor of {tmp_path / 's'}: 1 batches applied",
        "  towns: 4 rows, 3 columns, key id",
        "  watching column, fd, rules of your own",
    ]
    assert str(watch.history()[0]) == "batch 1 on towns: 1 row inserted, 0 deleted"
    assert str(watch.rule_history()).splitlines()[:2] == ["rules: 5", "  zip -> city: broken now, broke 1 time"]
    assert str(watch.explanation("zip -> city")).startswith("zip -> city is broken by")
    watch.close()
    assert str(watch) == f"Monitor of {tmp_path / 's'}, closed"


def test_everything_prints_short_and_without_internals(watch: Monitor) -> None:
    wide = pa.table({f"c{i}": values for i, values in enumerate(np.random.default_rng(7).integers(0, 3, (12, 100)))})
    outcome = watch.apply(inserts=pa.table({"id": range(10, 400), "zip": map(str, range(390)), "city": ["Z"] * 390}))
    listing = watch.violations()[0]
    many = [hf.discover(wide, "fd,column"), outcome, watch, watch.rule_history(), listing]
    for each in [*many, hf.check(TOWNS, "key(zip)"), *watch.results(), *outcome.lost, *watch.history()]:
        shown = str(each)
        assert 0 < len(shown.splitlines()) <= 40, shown
        assert not any(word in shown for word in ("array(", "pyarrow", "object at", "Mapping", "Table(")), shown
        if each in many:
            assert repr(each) == shown
    for finding in watch.results():
        assert "DenialConstraint(" not in repr(finding)


def test_options_print_what_was_given() -> None:
    options = hf.ReadOptions(hf.CsvOptions(separator=";"), jdbc_properties={"password": "secret"})
    assert repr(options) == "ReadOptions(csv=CsvOptions(separator=';'), jdbc_properties=…)"


# ---- one text -------------------------------------------------------------------------------------------------------


def test_one_text_is_enough(tmp_path: Path) -> None:
    assert hf.discover(TOWNS, "fd").to_json() == hf.discover(TOWNS, ["fd"]).to_json()
    assert hf.discover(TOWNS, rules="fd, ucc").to_json() == hf.discover(TOWNS, ["fd", "ucc"]).to_json()
    assert [f.kind for f in hf.discover(TOWNS, columns="zip")] == ["column"]
    assert hf.check(TOWNS, "zip -> city").to_json() == hf.check(TOWNS, ["zip -> city"]).to_json()
    assert hf.check(TOWNS, "key(zip)").violated
    assert hf.check(TOWNS, "not(t.zip = s.zip and t.id != s.id)").violated
    with hf.Monitor.create(tmp_path / "s", TOWNS, watch="fd", rules="key(id)", key="id", columns=["id", "zip"]) as made:
        assert str(made).splitlines()[1:] == ["  table: 3 rows, 2 columns, key id", "  watching fd, rules of your own"]


def test_a_text_may_be_a_rule_file(tmp_path: Path) -> None:
    for name in ("rules.yaml", "rules.yml", "rules"):
        path = tmp_path / name
        path.write_text('rules: [{name: one, rule: "zip -> city"}]', encoding="utf-8")
        for given in (path, str(path)):
            assert [line["name"] for line in hf.check(TOWNS, given).to_json()] == ["one"]


def test_a_text_that_is_neither(tmp_path: Path) -> None:
    with pytest.raises(hf.BadInput, match="'zip city' is no rule, nor the name of a rule file; the nearest kind is"):
        hf.check(TOWNS, "zip city")
    with pytest.raises(hf.BadInput, match=r"none\.yaml"):
        hf.check(TOWNS, str(tmp_path / "none.yaml"))
    with pytest.raises(hf.BadInput, match="no rule class 'magic'"):
        hf.discover(TOWNS, "fd,magic")
    with pytest.raises(hf.BadInput, match="no column 'zip,id'"):
        hf.Monitor.create(tmp_path / "s", TOWNS, key="zip,id")


def test_pictures_take_a_text_for_a_path(tmp_path: Path) -> None:
    hf.discover({"a": TOWNS, "b": TOWNS}, "ind").picture(str(tmp_path / "p.mmd"))
    assert (tmp_path / "p.mmd").read_text(encoding="utf-8").startswith("flowchart")
    with pytest.raises(hf.BadInput, match="there is no folder"):
        hf.discover(TOWNS, "ind").picture(tmp_path / "none" / "p.dot")


# ---- a closed monitor -----------------------------------------------------------------------------------------------

LOOKING: dict[str, Callable[[Monitor], Any]] = {
    "tables": lambda watch: watch.tables,
    "left_out": lambda watch: watch.left_out,
    "results": lambda watch: watch.results(),
    "found": lambda watch: watch.found(),
    "ranked": lambda watch: watch.ranked(),
    "ways": lambda watch: watch.ways(),
    "rule_history": lambda watch: watch.rule_history(),
    "violations": lambda watch: watch.violations(),
    "given": lambda watch: watch.given("fd1"),
    "explain": lambda watch: watch.explain("zip -> city"),
    "explanation": lambda watch: watch.explanation("zip -> city"),
    "advise": lambda watch: watch.advise("GROUP BY zip, city"),
    "column": lambda watch: watch.column("zip"),
    "agree_sets": lambda watch: watch.agree_sets(),
    "agree_set_change": lambda watch: watch.agree_set_change(1),
    "suggest": lambda watch: watch.suggest(),
    "history": lambda watch: watch.history(),
    "nulls": lambda watch: watch.nulls,
    "opened": lambda watch: watch.opened(),
    "listings": lambda watch: watch.listings(),
    "memory": lambda watch: watch.memory(),
    "follow": lambda watch: watch.follow(),
    "document": lambda watch: watch.document(),
    "report": lambda watch: watch.report("report.html"),
    "apply": lambda watch: watch.apply(inserts=MORE),
    "ci_summary": lambda watch: watch.ci_summary(cast(Outcome, None)),
    "watch_folder": lambda watch: watch.watch_folder("."),
    "stream": lambda watch: watch.stream(MORE),
    "checkpoint": lambda watch: watch.checkpoint(),
    "rows": lambda watch: watch.rows([0]),
    "vacuum": lambda watch: watch.vacuum(),
    "rules": lambda watch: watch.rules(),
    "marks": lambda watch: watch.marks(),
    "changes": lambda watch: watch.changes(),
    "sensitive_columns": lambda watch: watch.sensitive_columns(),
    "keep_rows": lambda watch: watch.keep_rows("30d"),
    "declare_sensitive": lambda watch: watch.declare_sensitive("city"),
    "add_rules": lambda watch: watch.add_rules("zip -> city"),
    "remove_rules": lambda watch: watch.remove_rules("fd1"),
    "replace_rules": lambda watch: watch.replace_rules("zip -> city"),
    "promote": lambda watch: watch.promote("zip -> city"),
    "accept": lambda watch: watch.accept("zip -> city"),
    "accept_figure": lambda watch: watch.accept_figure("rows_in_batch"),
    "mute_figure": lambda watch: watch.mute_figure("rows_in_batch"),
    "expect": lambda watch: watch.expect(),
    "expectations": lambda watch: watch.expectations(),
    "alarm_budget": lambda watch: watch.alarm_budget(0.1),
    "unmute": lambda watch: watch.unmute("zip -> city"),
    "ignore": lambda watch: watch.ignore("zip -> city"),
    "pin": lambda watch: watch.pin("zip -> city"),
    "watch": lambda watch: watch.watch("fd"),
    "unwatch": lambda watch: watch.unwatch("fd"),
    "add_column": lambda watch: watch.add_column("tel", "text"),
    "drop_column": lambda watch: watch.drop_column("city"),
    "rename_column": lambda watch: watch.rename_column("city", "town"),
    "add_table": lambda watch: watch.add_table("more", MORE),
    "drop_table": lambda watch: watch.drop_table("towns"),
    "retype_column": lambda watch: watch.retype_column("city", "text"),
}


def test_a_closed_monitor_says_so(watch: Monitor) -> None:
    watch.close()
    for name, look in LOOKING.items():
        with pytest.raises(hf.BadInput, match="this monitor is closed; open the state again"):
            look(watch)
        assert hasattr(Monitor, name)
    with pytest.raises(hf.BadInput, match="closed"), watch:
        pass
    watch.close()


def test_no_method_is_forgotten() -> None:
    public = {name for name in dir(Monitor) if not name.startswith("_")}
    assert public - {"create", "open", "close", "path"} <= set(LOOKING), "a closed monitor must say so in each"


# ---- examples -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rules.promotion", "rules.rule", "visible"])
def test_examples_in_docstrings(name: str) -> None:
    ran = doctest.testmod(import_module(f"holdfast.{name}"))
    assert (ran.failed, ran.attempted > 0) == (0, True)


@pytest.mark.parametrize("name", hf.__all__)
def test_each_export_has_an_example(name: str, tmp_path: Path) -> None:
    """Examples that need a state take that of the example of `Monitor`."""
    towns = pa.table({"id": [1, 2], "zip": ["10115", "20095"], "city": ["Berlin", "Hamburg"]})
    more = pa.table({"id": [3], "zip": ["10115"], "city": ["Brelin"]})
    with hf.Monitor.create(tmp_path / "s", {"towns": towns}, watch=[], rules="zip -> city", key="id") as watch:
        known = {"hf": hf, "pa": pa, "watch": watch, "more": more}
        own, *methods = doctest.DocTestFinder(exclude_empty=False).find(getattr(hf, name), name, globs=known)
        runner = doctest.DocTestRunner()
        for each in (own, *methods):
            runner.run(each)
    assert (own.name, bool(own.examples), runner.failures) == (name, True, 0)


def test_dir_shows_each_export() -> None:
    assert set(hf.__all__) <= set(dir(hf))
    assert not set(hf.__all__) & set(vars(hf)), "exports are imported on first use"
