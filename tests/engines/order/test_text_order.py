"""Text has no order unless someone says so, in states, too; one that was made when it had one unasked keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.api.verification import verify
from holdfast.engines.found.contexts import ContextEngine
from holdfast.engines.found.text_order import TextOrder
from holdfast.engines.order.engine import OrderEngine
from holdfast.errors import BadInput

# Names rise with numbers; sizes don't.
ROWS = [("a", "S", 1), ("b", "L", 2), ("c", "M", 3), ("c", "M", 4)]


def table(rows: list[tuple[str, str, int]]) -> pa.Table:
    return pa.table(
        {name: list(values) for name, values in zip(("name", "size", "n"), zip(*rows, strict=True), strict=True)}
    )


def pairs(found: Any) -> set[str]:
    return {rule.text for rule in found if "~" in rule.text}


def test_text_takes_part_in_pairs_only_where_it_is_named() -> None:
    found = hf.discover(table(ROWS), "od")
    assert pairs(found) == set()
    assert "{name}: [] -> size" in {rule.text for rule in found}, "constants compare for equality alone"
    assert pairs(hf.discover(table(ROWS), "od", ordered="name")) == {"{}: name ~ n"}
    every = pairs(hf.discover(table(ROWS), "od", ordered="*"))
    assert every == pairs(hf.discover(table(ROWS), "od", ordered='name, "size"'))
    assert "{}: name ~ n" in every
    with pytest.raises(BadInput, match="--ordered: there is no column 'nmae'"):
        hf.discover(table(ROWS), "od", ordered="nmae")


def test_approximate_ones_keep_to_the_same_rule() -> None:
    assert pairs(hf.discover(table(ROWS), "od", error=0.3)) == set()
    assert pairs(hf.discover(table(ROWS), "od", error=0.3, ordered="size")) >= {"{}: size ~ n"}


def test_the_order_of_one_class_is_that_of_all() -> None:
    for ordered in (None, "name", "*"):
        own = hf.discover(table(ROWS), ["od", "pod"], ordered=ordered)
        by_pod = any("name<" in rule.text for rule in own if rule.kind == "pod")
        assert by_pod == any("name ~" in rule.text for rule in own if rule.kind == "od") == bool(ordered)


def test_a_rule_about_the_order_of_text_is_explained_where_it_has_one(tmp_path: Path) -> None:
    with hf.Monitor.create(tmp_path / "state", table(ROWS), watch="od") as watch:
        with pytest.raises(BadInput, match=r"watch the rules with --ordered name; or explain \[name\] orders \[n\]"):
            watch.explain("{}: name ~ n")
        assert "holds" in watch.explain("{name}: [] -> size")[0]
        assert "It holds" in watch.explain("[n] orders [name]")[1]
        assert "text has no order (--ordered)" in next(iter(watch.ways().values()))
    with hf.Monitor.create(tmp_path / "named", table(ROWS), watch="od", ordered="name") as watch:
        assert "holds" in watch.explain("{}: name ~ n")[0]
        with pytest.raises(BadInput, match="--ordered size"):
            watch.explain("{}: size ~ n")


@pytest.mark.parametrize(("ordered", "then"), [("*", "{}: called ~ n"), ("name", "{}: called ~ n"), (None, "")])
def test_the_setting_follows_new_names(tmp_path: Path, ordered: str | None, then: str) -> None:
    with hf.Monitor.create(tmp_path / "state", table(ROWS), watch="od", ordered=ordered) as watch:
        watch.rename_column("name", "called")
        watch.add_column("more", "integer")
        assert (then in pairs(watch.results())) == bool(then)
        watch.drop_column("called")
        assert not any("called" in rule for rule in pairs(watch.results()))
    assert verify(tmp_path / "state", deep=True).problems == ()


@contextmanager
def when_text_had_an_order() -> Iterator[None]:
    """Make states as they were made once: nothing in them says which text has an order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TextOrder, "without", lambda *_: ())
        patch.setattr(OrderEngine, "_dumped", ContextEngine._dumped)
        yield


@pytest.mark.parametrize("method", ["counts", "borders"])
def test_a_state_made_before_means_what_it_meant(tmp_path: Path, method: str) -> None:
    state = tmp_path / "state"
    with when_text_had_an_order(), hf.Monitor.create(state, table(ROWS), watch="od", method=method) as watch:
        before = pairs(watch.results())
    assert "{}: name ~ n" in before
    assert verify(state, deep=True).problems == ()
    with hf.Monitor.open(state) as watch:
        assert pairs(watch.results()) == before
        assert "text has no order" not in next(iter(watch.ways().values()))
        lost = watch.apply(inserts=table([("A", "S", 9)])).lost
        assert "{}: name ~ n" in {rule.text for rule in lost}
        watch.apply(deletes=table([("A", "S", 9)]))
        watch.checkpoint()
        assert pairs(watch.results()) == before
    with hf.Monitor.open(state) as watch:
        assert pairs(watch.results()) == before
        watch.vacuum()
        assert pairs(watch.results()) == before
        watch.rename_column("name", "called")
        watch.add_column("note", "string")
        assert pairs(watch.results()) >= {"{}: called ~ n"}
        assert not any("note" in rule for rule in pairs(watch.results())), "a column that comes now has none"
        watch.drop_column("called")
    assert verify(state, deep=True).problems == ()


@pytest.mark.parametrize("ordered", [None, "*"])
@pytest.mark.parametrize("kind", ["od", "pod"])
def test_a_number_that_becomes_text_has_the_order_that_is_declared(
    tmp_path: Path, kind: str, ordered: str | None
) -> None:
    state, rows = tmp_path / "state", pa.table({"n": [9, 10, 11], "m": [9, 10, 11], "k": [3, 2, 1]})
    with hf.Monitor.create(state, rows, watch=kind, ordered=ordered) as watch:
        watch.drop_column("k")
        watch.retype_column("n", "text")
        now = {rule.text for rule in watch.results()}
    with hf.Monitor.open(state) as watch:
        assert {rule.text for rule in watch.results()} == now
    assert verify(state, deep=True).problems == ()
