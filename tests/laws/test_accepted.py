"""Accepted violations: which are open is what follows from the rows after each batch, whatever came between.

The oracle remembers the violations that were there at each moment, named by the keys of their rows: accepted are those
that were there when they were accepted, and ever since. Of keys and FDs it remembers how many rows each left side has
to remove.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf

Row = tuple[int, int, int]  # a, b, v
Rows = dict[int, Row]  # by key
Others = set[int]
Found = Mapping[Any, int]  # violations by identity, each with how many there are

ITEMS = pa.schema([("id", pa.int64()), ("a", pa.int64()), ("b", pa.int64()), ("v", pa.int64())])
OTHERS = pa.schema([("k", pa.int64())])


def pairs(breaks: Callable[[Row, Row], bool], symmetric: bool = False) -> Callable[[Rows, Others], Found]:
    def found(rows: Rows, others: Others) -> Found:  # noqa: ARG001
        both = [(t, s) for t in rows for s in rows if t != s and breaks(rows[t], rows[s])]
        return {(tuple(sorted(each)) if symmetric else each): 1 for each in both}

    return found


def alone(breaks: Callable[[Row, Others], bool]) -> Callable[[Rows, Others], Found]:
    return lambda rows, others: {t: 1 for t in rows if breaks(rows[t], others)}


def groups(left: Callable[[Row], Any], right: Callable[[Row], Any] | None) -> Callable[[Rows, Others], Found]:
    def found(rows: Rows, others: Others) -> Found:  # noqa: ARG001
        cells: dict[Any, Counter[Any]] = {}
        for row in rows.values():
            cells.setdefault(left(row), Counter())[right(row) if right else 0] += 1
        wrong = {key: sum(own.values()) - (max(own.values()) if right else 1) for key, own in cells.items()}
        return {key: count for key, count in wrong.items() if count}

    return found


RULES: dict[str, Callable[[Rows, Others], Found]] = {
    "not(t.a = s.a and t.b < s.b)": pairs(lambda t, s: t[0] == s[0] and t[1] < s[1]),
    "not(t.a = s.a and t.v != s.v)": pairs(lambda t, s: t[0] == s[0] and t[2] != s[2], symmetric=True),
    "[a] orders [b]": pairs(lambda t, s: t[0] <= s[0] and t[1] > s[1]),
    "t.v >= 1": alone(lambda t, _: t[2] < 1),
    "items.a in others.k": alone(lambda t, others: t[0] not in others),
    "a -> b": groups(lambda row: row[0], lambda row: row[1]),
    "key(a, b)": groups(lambda row: row[:2], None),
}
KEPT_IN_NUMBERS = ("not(t.a = s.a and t.b < s.b)", "not(t.a = s.a and t.v != s.v)", "[a] orders [b]")
VALUE = st.integers(0, 2)
CHANGE = st.dictionaries(st.integers(0, 7), st.one_of(st.none(), st.tuples(VALUE, VALUE, VALUE)), max_size=4)
STEP = st.one_of(
    st.tuples(st.just("batch"), CHANGE, st.sets(VALUE, max_size=1)),
    st.tuples(st.sampled_from(["accept", "undo"]), st.sampled_from(sorted(RULES)), st.none()),
    st.tuples(st.sampled_from(["open", "checkpoint", "vacuum", "add"]), st.none(), st.none()),
)


class Remembered:
    """What was accepted, as the oracle remembers it."""

    def __init__(self, by_number: bool) -> None:
        self.accepted: dict[str, Found] = {}
        self.before: dict[str, Found] = {}
        self._by_number = by_number

    def found(self, rule: str, rows: Rows, others: Others) -> Found:
        now = RULES[rule](rows, others)
        return {"all": len(now)} if self._by_number and rule in KEPT_IN_NUMBERS else now

    def after(self, rows: Rows, others: Others) -> dict[str, bool]:
        """Take in a batch; gives whether each rule has new violations."""
        worse = {}
        for rule in RULES:
            now, before = self.found(rule, rows, others), self.before.get(rule, {})
            worse[rule] = any(count > before.get(each, 0) for each, count in now.items())
            self.before[rule] = now
            if (known := self.accepted.get(rule)) is not None:
                left = {each: min(count, now.get(each, 0)) for each, count in known.items()}
                self.accepted[rule] = {each: count for each, count in left.items() if count}
        return worse


def table(rows: Rows, chosen: list[int] | None = None) -> pa.Table:
    keys = list(rows) if chosen is None else chosen
    columns = [[rows[key][place] for key in keys] for place in range(3)]
    return pa.table([pa.array(keys, pa.int64()), *(pa.array(each, pa.int64()) for each in columns)], schema=ITEMS)


def others_table(values: Others) -> pa.Table:
    return pa.table([pa.array(sorted(values), pa.int64())], schema=OTHERS)


@given(
    start=st.dictionaries(st.integers(0, 7), st.tuples(VALUE, VALUE, VALUE), min_size=1, max_size=6),
    steps=st.lists(STEP, max_size=9),
    by_number=st.booleans(),
)
@settings(max_examples=40)
def test_open_are_the_violations_that_came_since(start: Rows, steps: list[Any], by_number: bool) -> None:
    rows, others = dict(start), {0, 1}
    oracle = Remembered(by_number)
    oracle.after(rows, others)
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        watch = hf.Monitor.create(
            state,
            {"items": table(rows), "others": others_table(others)},
            watch=[],
            rules=[each for each in RULES if "items." in each],
            key={"items": "id", "others": "k"},
            count_only=by_number,
        )
        watch.add_rules([each for each in RULES if "items." not in each], table="items")
        for number, (what, first, second) in enumerate(steps):
            if what == "batch":
                worse = apply(watch, rows, others, first, second)
                if worse is None:
                    continue
                assert worse == {rule for rule, is_worse in oracle.after(rows, others).items() if is_worse}
            elif what == "accept":
                watch.accept(first)
                if sum(oracle.before[first].values()):  # else there is nothing to accept
                    oracle.accepted[first] = oracle.before[first]
            elif what == "undo":
                watch.accept(first, undo=True)
                oracle.accepted.pop(first, None)
            elif what == "add":  # a change of rules that concerns none of these
                watch.add_rules(f"t.v < {100 + number}", table="items")
            elif what == "open":
                watch.close()
                watch = hf.Monitor.open(state)
            else:
                getattr(watch, what)()
            expect(watch, oracle)
        watch.close()
        with hf.View.open(state) as view:
            expect(view, oracle)


def apply(
    watch: hf.Monitor, rows: Rows, others: Others, change: Mapping[int, Row | None], flip: Others
) -> set[str] | None:
    """One batch: rows that are new, or replace others, or go; and values of the other table that come or go."""
    new = {key: row for key, row in change.items() if row is not None and rows.get(key) != row}
    gone = [key for key, row in change.items() if row is None and key in rows]
    come, left = flip - others, flip & others
    if not new and not gone and not flip:
        return None
    outcome = watch.apply(
        upserts={"items": table(new), "others": others_table(come)},
        deletes={"items": table(rows, gone), "others": others_table(left)},
    )
    for key in gone:
        del rows[key]
    rows.update(new)
    others ^= flip
    return {rule.text for rule in outcome.alarms("any")}


def expect(view: hf.View, oracle: Remembered) -> None:
    known = {line["text"]: line for line in (each.to_json() for each in view.results())}
    for rule, now in oracle.before.items():
        accepted = oracle.accepted.get(rule)
        expected = None if accepted is None else sum(accepted.values())
        assert (known[rule]["violations"], known[rule].get("accepted")) == (sum(now.values()), expected), rule
