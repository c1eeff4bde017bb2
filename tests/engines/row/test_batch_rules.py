"""Rules about batches, and about the present time: they are judged with each batch, and stay so until the next."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf

TODAY = dt.datetime.now(dt.UTC).replace(tzinfo=None, microsecond=0)
RULES = ["rows_in_batch >= 2", "newest(at) >= now - 2 days", "max(at) <= now + 1 hour", "rows >= 1"]


def _rows(*days_ago: float | None) -> pa.Table:
    moments = [None if days is None else TODAY - dt.timedelta(days=days) for days in days_ago]
    return pa.table({"at": pa.array(moments, pa.timestamp("us"))})


def _stand(watch: hf.Monitor) -> dict[str, tuple[Any, Any]]:
    lines = [each.to_json() for each in watch.results("table")]
    return {line["text"]: (line["violations"], line["value"]) for line in lines}


def test_each_batch_is_judged_by_itself(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with hf.Monitor.create(
        state, {"t": _rows(9), "other": _rows(1)}, watch=(), rules=[f"t: {each}" for each in RULES]
    ) as watch:
        assert _stand(watch)["rows_in_batch >= 2"] == (0, None), "the first rows are no batch"
        assert _stand(watch)["newest(at) >= now - 2 days"] == (0, None)
        outcome = watch.apply(inserts=_rows(8, 1), table="t")
        assert not outcome.violations
        for _ in range(2):
            outcome = watch.apply(inserts=_rows(8), table="t")
            assert {text: moved.new for own in outcome.diffs.values() for text, moved in own.violations.items()} == {
                "rows_in_batch >= 2": 1,
                "newest(at) >= now - 2 days": 1,
            }, "each small batch is another violation"
        outcome = watch.apply(inserts=_rows(1), table="other")
        assert _stand(watch)["rows_in_batch >= 2"] == (1, 1), "a table that a batch leaves out keeps its status"
        before = _stand(watch)
    with hf.Monitor.open(state) as watch:
        assert _stand(watch) == before
        assert watch.apply(inserts=_rows(8, None, 0), table="t").violations["rows_in_batch >= 2"].gone == 1
        assert [own[0] for own in _stand(watch).values()] == [0, 0, 0, 0]
        watch.apply(inserts=_rows(-3), table="t")
        assert _stand(watch)["max(at) <= now + 1 hour"][0] == 1
        before = _stand(watch)
    assert not hf.verify(state, deep=True).problems
    with hf.Monitor.open(state) as watch:
        watch.add_rules(["t: rows <= 100"])
        assert {text: own for text, own in _stand(watch).items() if text != "rows <= 100"} == before
        watch.vacuum()
    with hf.Monitor.open(state) as watch:
        assert {text: own for text, own in _stand(watch).items() if text != "rows <= 100"} == before


def test_an_update_counts_as_a_row_of_the_batch(tmp_path: Path) -> None:
    table = pa.table({"id": [1, 2], "v": [1, 1]})
    with hf.Monitor.create(tmp_path / "s", {"t": table}, watch=(), rules=["rows_in_batch = 2"], key=["id"]) as watch:
        changed = pa.table({"id": [1, 3], "v": [2, 1]})
        assert not watch.apply(inserts=changed, deletes=table.slice(0, 1)).alarms()
        assert watch.apply(deletes=table.slice(1, 1)).alarms()


def test_a_check_asks_for_the_present_time() -> None:
    rules = ["max(at) >= now - 2 days", "min(at) between now - 10 days and now", "newest(at) >= now"]
    assert [line["violations"] for line in hf.check(_rows(3, 9), rules).to_json()] == [1, 0, 0]
    assert [line["violations"] for line in hf.check(_rows(1, 11), rules).to_json()] == [0, 1, 0]
    days = pa.table({"at": pa.array([TODAY.date() - dt.timedelta(days=2)], pa.date32())})
    assert [line["violations"] for line in hf.check(days, ["max(at) >= now - 2 days", "max(at) > now"]).to_json()] == [
        0,
        1,
    ]


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("rows >= now", "rows is no time; now compares with newest"),
        ("max(at) >= now - 2", "expected a while after -, such as 2 days"),
        ("max(at) >= now - 2 months", "months and years differ in length; write days or weeks"),
        ("max(at) >= now - 1.5 days", "expected a whole number before days"),
        ("max(n) >= now", "compares integer with the present time; use a date or a timestamp"),
        ("avg(at) >= 1", r"avg\(at\) calculates with at, which is timestamp without time zone; use numbers only"),
        ("quantile(n) >= 1", "expected , after n, and a share"),
        ("quantile(n, 95) >= 1", "expected a share from 0 to 1"),
        ("share(t.n) <= 1", "expected an operator after t.n"),
        ("rows between 1", "between has two ends"),
    ],
)
def test_what_makes_no_sense_is_refused(rule: str, sentence: str) -> None:
    table = pa.table({"at": pa.array([TODAY], pa.timestamp("us")), "n": [1]})
    with pytest.raises(hf.BadInput, match=sentence):
        hf.check(table, rule)
