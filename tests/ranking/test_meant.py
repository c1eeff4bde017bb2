"""What people who know the data marked as meant comes first."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.csv
import pytest

import holdfast as hf
from benchmarks.bench_ranking import average_precision

LEAST = {"hospital": 0.95, "hospital_dirty": 0.95, "tax_10k": 0.80, "tax_10k_dirty": 0.80, "adult": 1.0}


@pytest.mark.parametrize("name", LEAST)
def test_what_is_meant_comes_first(shared_data: Path, name: str) -> None:
    clean = name.removesuffix("_dirty")
    truth = json.loads((shared_data / "truth.json").read_text())[clean]
    own, theirs = (pyarrow.csv.open_csv(shared_data / f"{each}.csv").schema.names for each in (name, clean))
    called = dict(zip(theirs, own, strict=True))
    meant, unjudged = (
        {(called[left], called[right]) for left, rights in truth[part].items() for right in rights}
        for part in ("meant", "unjudged")
    )
    options = hf.ReadOptions(hf.CsvOptions(types="text" if name.endswith("_dirty") else "infer"))
    found = hf.suggest(shared_data / f"{name}.csv", "fd", options=options)
    order = [(*each.scored.columns, each.scored.rule.to_json()["rhs"]) for each in found]
    precision, of_ten = average_precision(order, meant, unjudged)
    assert precision >= LEAST[name]
    assert of_ten >= min(10, len(meant))
    assert all(not each.implied_by or each.is_likely for each in found)
