"""Where no key is declared, messages name rows by the best suggested key; rows are still found by their content."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import holdfast as hf


def towns(first: int, last: int, **other: str) -> pa.Table:
    numbers = range(first, last)
    rows = {"note": [str(n * 7 % 11) for n in numbers], "order": [f"O-{n}" for n in numbers]}
    zips = [n % 20 for n in numbers]
    return pa.table({**rows, "zip": zips, "town": [other.get("town", f"town {each}") for each in zips]})


@pytest.mark.parametrize("again", [False, True])
def test_the_best_suggested_key_names_rows(tmp_path: Path, again: bool) -> None:
    watch = hf.Monitor.create(tmp_path / "state", {"t": towns(0, 300)})
    if again:
        watch.close()
        watch = hf.Monitor.open(tmp_path / "state")
    with watch:
        lines = watch.apply(inserts=towns(300, 301, town="Nowhere")).lines()
        assert any(line.strip().startswith("order O-300: zip 0, town Nowhere") for line in lines), lines
        assert "order O-300" in str(watch.explanation("zip -> town"))
        doubled = watch.apply(inserts=towns(300, 301)).lines()
        assert any(line.strip().startswith("row 301: order O-300, as row 300 has") for line in doubled), doubled
        gone = watch.apply(deletes=towns(300, 301))
        assert gone.batch.deleted == 1, "found by its content"
        watch.rename_column("order", "number")
        assert any("number O-400" in line for line in watch.apply(inserts=_renamed(400, "Nowhere2")).lines())


def _renamed(number: int, town: str) -> pa.Table:
    return towns(number, number + 1, town=town).rename_columns(["note", "number", "zip", "town"])


def test_a_declared_key_names_rows_and_so_does_none(tmp_path: Path) -> None:
    numbered = towns(0, 300).append_column("id", pa.array(range(300)))
    wrong = towns(300, 301, town="Nowhere").append_column("id", pa.array([300]))
    with hf.Monitor.create(tmp_path / "declared", {"t": numbered}, key="id") as watch:
        assert any(line.strip().startswith("id 300: ") for line in watch.apply(inserts=wrong).lines())
    with hf.Monitor.create(tmp_path / "none", {"t": numbered}, rules="zip -> town") as watch:
        assert any(line.strip().startswith("row 300: ") for line in watch.apply(inserts=wrong).lines())


def test_that_the_key_that_names_rows_has_values_is_watched(tmp_path: Path) -> None:
    """One row without it breaks no key, as null equals no other value."""
    first = towns(0, 300).rename_columns(["note", "the order", "zip", "town"])
    lacking = first.slice(0, 1).set_column(1, "the order", pa.array([None], pa.string()))
    with hf.Monitor.create(tmp_path / "state", {"t": first}) as watch:
        assert 't."the order" is not null' in {entry.text for entry in watch.rules().entries}
        outcome = watch.apply(inserts=lacking)
        assert [rule.text for rule in outcome.alarms()] == ['t."the order" is not null']
    with hf.Monitor.create(tmp_path / "declared", {"t": first}, key="the order") as watch:
        assert not any('t."the order" is' in entry.text for entry in watch.rules().entries)
    with hf.Monitor.create(tmp_path / "null", {"t": pa.concat_tables([first, lacking])}) as watch:
        assert {e.severity for e in watch.rules().entries if e.text == 't."the order" is not null'} <= {"warn"}
