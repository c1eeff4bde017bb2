"""A state lives: batches, changes of rules and changes of columns come in any order, it is closed and opened between
them, and always has the results of a fresh state with the same rules on the same rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from tests.laws.living import arrow, assert_equals_fresh_state, findings

START = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.int64()), ("d", pa.date32())])
VALUES: dict[Any, st.SearchStrategy[Any]] = {
    "int64": st.one_of(st.none(), st.integers(-2, 2)),
    "string": st.one_of(st.none(), st.sampled_from(["", "x", "y"])),
    "date": st.one_of(st.none(), st.integers(0, 2)),
}
RULES = [
    "{0} -> {1}",
    "key({0}, {1})",
    "not(t.{0} = s.{0} and t.{2} != s.{2})",
    "not(t.{2} < s.{2} and t.{0} > s.{0})",
    "[{0}] orders [{2}]",
    "t.{0} is not null",
    "t.{1} in ('x', 'y') or t.{1} is null",
    "share(null {0}) <= 0.5",
    "distinct({1}) <= 2",
    "rows >= 2",
]
CLASSES = ["fd", "ucc", "column", "od", "pod"]
Step = Callable[[hf.Monitor, Any], None]


def refused(act: Callable[[], object]) -> None:
    """Do something that may be meaningless for the columns as they are: then it is refused, and nothing changes."""
    with suppress(hf.BadInput):
        act()


def batch(watch: hf.Monitor, data: Any) -> None:
    schema = watch.tables["t"].schema.arrow()
    kinds = [VALUES.get(str(kind).removesuffix("32[day]"), st.none()) for kind in schema.types]
    rows = data.draw(st.lists(st.tuples(*kinds), max_size=4))
    living = watch.tables["t"].values(watch.tables["t"].living_ids())
    gone = data.draw(st.lists(st.integers(0, len(living) - 1), max_size=2, unique=True)) if len(living) else []
    watch.apply(inserts=arrow(rows, schema), deletes=living.take(pa.array(gone, pa.int64())))


def add_rule(watch: hf.Monitor, data: Any) -> None:
    names = watch.tables["t"].schema.names
    chosen = [data.draw(st.sampled_from(names)) for _ in range(3)]
    refused(lambda: watch.add_rules(data.draw(st.sampled_from(RULES)).format(*chosen)))


def remove_rule(watch: hf.Monitor, data: Any) -> None:
    if entries := watch.rules().entries:
        watch.remove_rules(data.draw(st.sampled_from(entries)).name)


def promote(watch: hf.Monitor, data: Any) -> None:
    found = [rule.text for rule in watch.results() if rule.kind in ("fd", "ucc", "od", "pod")]
    if found:
        refused(lambda: watch.promote(data.draw(st.sampled_from(found))))


def watch_class(watch: hf.Monitor, data: Any) -> None:
    watch.watch(data.draw(st.sampled_from(CLASSES)))


def unwatch_class(watch: hf.Monitor, data: Any) -> None:
    refused(lambda: watch.unwatch(data.draw(st.sampled_from(CLASSES))))


def rename(watch: hf.Monitor, data: Any) -> None:
    names = watch.tables["t"].schema.names
    new = data.draw(st.sampled_from(["a", "b", "and", 'e "x"', "key"]))
    refused(lambda: watch.rename_column(data.draw(st.sampled_from(names)), new))


def drop(watch: hf.Monitor, data: Any) -> None:
    refused(lambda: watch.drop_column(data.draw(st.sampled_from(watch.tables["t"].schema.names))))


def add_column(watch: hf.Monitor, data: Any) -> None:
    kind = data.draw(st.sampled_from(["integer", "text", "date"]))
    refused(lambda: watch.add_column(data.draw(st.sampled_from(["f", "g"])), kind))


def retype(watch: hf.Monitor, data: Any) -> None:
    kind = data.draw(st.sampled_from(["text", "decimal(22,1)", "float", "timestamp_ntz"]))
    refused(lambda: watch.retype_column(data.draw(st.sampled_from(watch.tables["t"].schema.names)), kind))


def checkpoint(watch: hf.Monitor, data: Any) -> None:  # noqa: ARG001
    watch.checkpoint()


STEPS: list[Step] = [
    batch, batch, batch, add_rule, add_rule, remove_rule, promote, watch_class, unwatch_class, rename, drop, add_column,
    retype, checkpoint,
]  # fmt: skip


@settings(max_examples=25)
@given(st.data())
def test_a_changed_state_equals_a_fresh_one(data: Any) -> None:
    """Whatever happens to it, and however often it is opened again."""
    rows = data.draw(st.lists(st.tuples(*(VALUES[k] for k in ("int64", "string", "int64", "date"))), max_size=6))
    watched = data.draw(st.lists(st.sampled_from(CLASSES), max_size=2, unique=True))
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        watch = hf.Monitor.create(state, {"t": arrow(rows, START)}, watch=watched, rules="a -> b")
        for step in data.draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=8)):
            step(watch, data)
            if data.draw(st.booleans()):
                watch.close()
                watch = hf.Monitor.open(state)
        assert_equals_fresh_state(watch)
        now = findings(watch)
        watch.close()
        with hf.View.open(state) as view:
            assert findings(view) == now
