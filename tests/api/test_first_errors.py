"""A few wrong cells in the first load silence no suggested rule: they are accepted, and the next one is an alarm."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import holdfast as hf

ROWS = 3000
RULE = "zip -> city"


def rows(first: int, count: int, wrong: Sequence[int] = ()) -> pa.Table:
    """Customers of 20 towns; the cities of some are misspelt, each in its own way."""
    zips = np.random.default_rng(first).integers(0, 20, count)
    cities = [f"town {each}" if n not in wrong else f"twon {n}" for n, each in enumerate(zips.tolist(), first)]
    return pa.table({"id": np.arange(first, first + count), "zip": zips, "city": cities})


def created(folder: Path, wrong: Sequence[int]) -> hf.Monitor:
    return hf.Monitor.create(folder / "state", {"t": rows(0, ROWS, wrong)})


@pytest.mark.parametrize("wrong", [(), (70,), (70, 150, 1600)])
def test_the_next_wrong_cell_is_an_alarm(tmp_path: Path, wrong: Sequence[int]) -> None:
    with created(tmp_path, wrong) as watch:
        given = watch.given(RULE)
        assert given is not None
        assert (given["severity"], given["violations"], given.get("accepted", 0)) == ("error", len(wrong), len(wrong))
        assert not watch.apply(inserts=rows(ROWS, 100)).broken
    with hf.Monitor.open(tmp_path / "state") as watch:
        outcome = watch.apply(inserts=rows(ROWS + 100, 100, [ROWS + 150]))
        assert [rule.text for rule in outcome.alarms()] == [RULE]
        assert f"Failed: {RULE} has 1 new violation" in outcome.lines()


def test_one_exception_in_a_thousand_rows_is_too_much(tmp_path: Path) -> None:
    with created(tmp_path, (70, 150, 1600, 2000)) as watch:
        given = watch.given(RULE)
        assert given is not None
        assert (given["severity"], "accepted" in given) == ("warn", False)
        assert not watch.apply(inserts=rows(ROWS, 100, [ROWS + 50])).broken


def test_keys_with_exceptions_warn(tmp_path: Path) -> None:
    """Two rows may share a value without being wrong."""
    data = rows(0, ROWS)
    mails = [f"m{each}" for each in range(ROWS - 1)]
    with hf.Monitor.create(tmp_path / "state", {"t": data.append_column("mail", pa.array([*mails, "m7"]))}) as watch:
        given = watch.given("key(mail)")
        assert given is not None
        assert (given["severity"], given["violations"]) == ("warn", 1)


def test_rules_for_a_file_warn_where_rows_break_them() -> None:
    """A file has no place for what is accepted."""
    found = hf.suggest(rows(0, ROWS, (70,)))
    severity = {each.text: each.severity for each in found.rules().entries}
    assert severity[RULE] == "warn"


@pytest.mark.parametrize(("when", "severity"), [(0.99, "warn"), (0.01, "warn"), (0.5, "error")])
def test_what_changed_for_good_is_no_error(tmp_path: Path, when: float, severity: str) -> None:
    """A town gets another name: since then all of its rows say so. A wrong cell has the usual name before and after."""
    data = rows(0, ROWS)
    places = [n for n, each in enumerate(data["zip"].to_pylist()) if each == 7]
    at = int(when * (len(places) - 1)) if severity == "error" else (len(places) - 1 if when > 0.5 else 0)
    cities = data["city"].to_pylist()
    cities[places[at]] = "New Town"
    renamed = data.set_column(2, "city", pa.array(cities))
    with hf.Monitor.create(tmp_path / "state", {"t": renamed}) as watch:
        given = watch.given(RULE)
        assert given is not None
        assert given["severity"] == severity
