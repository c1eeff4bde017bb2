"""The grace of a reference: a row may wait some batches for its partner, and only then it is a violation."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast as hf
from holdfast.rules.registry import parse

RULE = "orders.cust in customers.id within 2 batches"


def _orders(**customers: int | None) -> pa.Table:
    names = [int(name[1:]) for name in customers]
    return pa.table({"no": pa.array(names, pa.int64()), "cust": pa.array(list(customers.values()), pa.int64())})


def _customers(*numbers: int) -> pa.Table:
    return pa.table({"id": pa.array(numbers, pa.int64())})


def _made(path: Path, rule: str = RULE) -> hf.Monitor:
    tables = {"orders": _orders(o1=1, o2=9), "customers": _customers(1)}
    return hf.Monitor.create(path, tables, watch=(), rules=[rule], key={"orders": ["no"], "customers": ["id"]})


def _stands(watch: hf.Monitor) -> tuple[int, int]:
    (line,) = (each.to_json() for each in watch.results("reference"))
    return line["violations"], line["pending"]


def test_a_row_waits_two_more_batches(tmp_path: Path) -> None:
    with _made(tmp_path / "s") as watch:
        assert _stands(watch) == (1, 0), "what was there from the start has no grace"
        outcome = watch.apply(inserts={"orders": _orders(o3=3)})
        assert not outcome.alarms()
        assert _stands(watch) == (1, 1)
        assert outcome.lines()[0].endswith(f" 1 row waits for a partner: {RULE}.")
        assert watch.violations()[0].count == 1
        assert not watch.apply(inserts={"customers": _customers(50)}).alarms()
        outcome = watch.apply(inserts={"customers": _customers(51)})
        assert [rule.text for rule in outcome.alarms()] == [RULE], "the second batch after it, and still no partner"
        assert outcome.violations[RULE].new == 1
        assert _stands(watch) == (2, 0)
        assert watch.apply(inserts={"customers": _customers(3)}).violations[RULE].gone == 1


def test_the_batch_that_heals_says_so_and_is_no_alarm(tmp_path: Path) -> None:
    with _made(tmp_path / "s") as watch:
        watch.apply(inserts={"orders": _orders(o3=3, o4=4)})
        outcome = watch.apply(inserts={"customers": _customers(3)})
        assert not outcome.alarms()
        assert not outcome.violations
        assert "1 row has found a partner and 1 row waits for a partner" in outcome.lines()[0]
        assert "has found a partner" not in watch.apply(inserts={"orders": _orders(o5=1)}).lines()[0]


def test_an_updated_row_goes_on_waiting(tmp_path: Path) -> None:
    with _made(tmp_path / "s") as watch:
        watch.apply(inserts={"orders": _orders(o3=3)})
        outcome = watch.apply(inserts={"orders": _orders(o3=4)}, deletes={"orders": _orders(o3=3)})
        assert not outcome.alarms()
        assert watch.apply(inserts={"customers": _customers(8)}).alarms()
        assert not watch.apply(inserts={"orders": _orders(o2=8)}, deletes={"orders": _orders(o2=9)}).alarms()


def test_accepted_rows_and_waiting_ones(tmp_path: Path) -> None:
    with _made(tmp_path / "s") as watch:
        watch.apply(inserts={"orders": _orders(o3=3)})
        watch.accept("ref1")
        (line,) = (each.to_json() for each in watch.results("reference"))
        assert (line["violations"], line["accepted"], line["pending"]) == (1, 1, 1)
        watch.apply(inserts={"customers": _customers(50)})
    with hf.Monitor.open(tmp_path / "s") as watch:
        assert watch.apply(inserts={"customers": _customers(51)}).alarms(), (
            "it was not there when the others were accepted"
        )
        (line,) = (each.to_json() for each in watch.results("reference"))
        assert (line["violations"], line["accepted"], line["pending"]) == (2, 1, 0)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("+orders"), st.integers(1, 4)),
        st.tuples(st.just("-orders"), st.integers(0, 5)),
        st.tuples(st.just("+customers"), st.integers(1, 4)),
        st.tuples(st.just("-customers"), st.integers(1, 4)),
        st.tuples(st.just("reopen"), st.just(0)),
        st.tuples(st.just("checkpoint"), st.just(0)),
    ),
    max_size=8,
)


class Definition:
    """What waits and what is violated, by the definition: from when on each order has no partner."""

    def __init__(self) -> None:
        self.orders: dict[int, int] = {1: 1, 2: 9}
        self.customers = {1}
        self.since: dict[int, int] = {2: -(10**6)}
        self.batches = 0

    def batch(self) -> None:
        self.batches += 1
        orphans = {no for no, customer in self.orders.items() if customer not in self.customers}
        self.since = {no: self.since.get(no, self.batches) for no in orphans}

    @property
    def stands(self) -> tuple[int, int]:
        over = sum(self.batches - since >= 2 for since in self.since.values())
        return over, len(self.since) - over


@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_as_the_definition_says_also_in_another_process(steps: list[tuple[str, int]]) -> None:
    known, number = Definition(), 10
    with TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        watch = _made(path)
        for what, value in steps:
            changes: dict[str, Any] = {}
            if what == "+orders":
                number += 1
                known.orders[number] = value
                changes = {"inserts": {"orders": _orders(**{f"o{number}": value})}}
            elif what == "-orders" and len(known.orders) > value:
                no = sorted(known.orders)[value]
                changes = {"deletes": {"orders": _orders(**{f"o{no}": known.orders.pop(no)})}}
            elif what == "+customers" and value not in known.customers:
                known.customers.add(value)
                changes = {"inserts": {"customers": _customers(value)}}
            elif what == "-customers" and value in known.customers:
                known.customers.remove(value)
                changes = {"deletes": {"customers": _customers(value)}}
            elif what == "checkpoint":
                watch.checkpoint()
            elif what == "reopen":
                watch.close()
                watch = hf.Monitor.open(path)
            if changes:
                before = known.stands[0]
                known.batch()
                outcome = watch.apply(**changes)
                if known.stands[0] > before:
                    assert outcome.violations[RULE].new, "an alarm, unless it copies values that raised one before"
            assert _stands(watch) == known.stands
        watch.close()
        assert not hf.verify(path, deep=True).problems


@pytest.mark.parametrize("text", ["within 0 batches", "within 2000 batches", "within x", "within 2 days", "within 2"])
def test_a_grace_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(hf.BadInput, match=r"expected a number of batches from 1 to 1,000|expected batches"):
        parse(f"a.b in c.d {text}")


def test_a_text_reads_back() -> None:
    for text in ("a.b in c.d within 1 batch", "a(b, c) in d(e, f) within 20 batches where t.b > 1"):
        assert parse(text).text == text


def test_a_check_knows_no_grace() -> None:
    (line,) = hf.check({"orders": _orders(o1=5), "customers": _customers(1)}, RULE).to_json()
    assert line["violations"] == 1
