"""A view that follows a state shows what a new one shows; the streams of tests/laws compare all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from holdfast.api import open_state
from holdfast.api.monitor import Monitor
from holdfast.api.view import View
from holdfast.errors import BadInput
from holdfast.store.store import Store
from holdfast.table.load import load_table
from holdfast.table.table import TableFiles

START = pa.table({"id": [1, 2], "zip": [1, 2], "city": ["A", "B"]})


def row(number: int, code: int, city: str) -> pa.Table:
    return pa.table({"id": [number], "zip": [code], "city": [city]})


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Monitor]:
    made = Monitor.create(tmp_path / "state", {"t": START}, watch=["column", "fd"], rules=["zip -> city"], key="id")
    with made as monitor:
        yield monitor


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[TableFiles]:
    """The tables that are loaded whole."""
    found: list[TableFiles] = []
    real: Callable[..., object] = load_table

    def load(where: TableFiles) -> object:
        found.append(where)
        return real(where)

    monkeypatch.setattr(open_state, "load_table", load)
    return found


def picture(view: View) -> list[object]:
    return [[finding.to_json() for finding in view.results()], view.history(), view.tables["t"].living_ids().tolist()]


def test_a_view_is_one_moment(tmp_path: Path, watch: Monitor) -> None:
    """Whatever is committed meanwhile: rows, rules, history and all that is remembered are those of when it was opened,
    or followed.
    """
    watch.apply(inserts=row(3, 1, "A"))
    with View.open(tmp_path / "state") as view, View.open(tmp_path / "state") as other:
        before = _all_of(other)
        watch.apply(inserts=row(4, 1, "C"))
        watch.add_rules("key(city)")
        watch.ignore("zip -> id")
        watch.checkpoint()
        assert _all_of(view) == before
        assert view.follow()
        with View.open(tmp_path / "state") as fresh:
            now = _all_of(fresh)
        assert _all_of(view) == now
        assert all(own != old for own, old in zip(now, before, strict=True))


def _all_of(view: View) -> list[object]:
    memory = view.memory()
    rows = view.rows(range(view.tables["t"].next_id))
    return [
        *picture(view), rows, view.given("zip -> city"), str(view.rules()), view.changes(), view.marks(),
        memory.events(), memory.counts(), memory.figures(), list(view.rule_history()), repr(view),
    ]  # fmt: skip


def test_only_new_batches_are_looked_at(tmp_path: Path, watch: Monitor, loads: list[TableFiles]) -> None:
    with View.open(tmp_path / "state") as view:
        assert len(loads) == 1
        assert not view.follow()
        watch.apply(inserts=row(3, 1, "C"))
        watch.apply(inserts=row(4, 1, "C"), deletes=row(2, 2, "B"))
        assert view.follow()
        assert view.violations("fd1")[0].count == 1
        own, known = ([finding.to_json() for finding in each.results("named")] for each in (view, watch))
        assert own == known, "also their track records, which follow from each single batch"
        assert picture(view) == picture(watch)
        assert not view.follow()
        assert len(loads) == 1, "the table was not read again"


def test_merged_files_are_loaded_again(tmp_path: Path, watch: Monitor, loads: list[TableFiles]) -> None:
    with View.open(tmp_path / "state") as view:
        watch.apply(inserts=row(3, 1, "C"))
        watch.vacuum()
        watch.apply(inserts=row(4, 2, "D"))
        before = len(loads)
        assert view.follow()
        assert len(loads) == before + 1
        assert picture(view) == picture(watch)
        watch.vacuum()
        assert view.follow(), "files that are gone are not held open"
        assert picture(view) == picture(watch)


def test_who_writes_has_nobody_to_follow(watch: Monitor) -> None:
    watch.apply(inserts=row(3, 1, "C"))
    assert not watch.follow()
    assert watch.violations("fd1")[0].count == 1


def test_a_closed_view_follows_nothing(tmp_path: Path, watch: Monitor) -> None:
    view = View.open(tmp_path / "state")
    view.close()
    watch.apply(inserts=row(3, 1, "C"))
    with pytest.raises(BadInput, match="closed"):
        view.follow()


def test_the_version_is_another_one_after_a_commit(tmp_path: Path, watch: Monitor) -> None:
    store = Store(tmp_path / "state")
    first = store.version()
    assert store.version() == first
    watch.apply(inserts=row(3, 1, "C"))
    assert store.version() != first
    store.close()
