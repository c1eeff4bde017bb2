"""The paper's Tables I and II and its examples (papers: incpod)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holdfast as hf

NAMES = ("FName", "LName", "Date", "SSN", "NUM", "AC", "PH", "ST", "ZIP", "SAL", "RATE", "TXA")
FIRST: list[tuple[Any, ...]] = [
    ("Ali", "Sadam", 20140410, 719975883, 1448, 719, 6059466, "CO", 80612, 32000, 1.24, 3000),
    ("Eser", "Duparc", 20140224, 303975883, 1401, 303, 5872027, "CO", 80612, 50000, 1.42, 1500),
    ("Hennie", "Hannen", 20140413, 701178073, 1486, 701, 1638673, "ND", 58671, 30000, 1.21, 3400),
    ("Rene", "Beke", 20130403, 801350874, 1386, 801, 6192334, "UT", 84308, 55000, 2.04, 1300),
    ("Ali", "Sadam", 20140329, 719975883, 1427, 719, 6059466, "CO", 80612, 7500, 1.21, 0),
    ("Hennie", "Hannen", 20130404, 701178073, 1386, 701, 1638673, "ND", 58671, 6500, 0.24, 900),
    ("PerOlof", "Motwani", 20150324, 970122634, 1547, 970, 8484643, "CO", 80209, 95000, 2.85, 1100),
]
MORE: list[tuple[Any, ...]] = [
    ("Yuichiro", "Uckun", 20130322, 435849162, 1368, 435, 5872027, "UT", 84308, 40000, 1.42, 3300),
    ("Hennie", "Hannen", 20140218, 701178073, 1478, 701, 1638673, "ND", 58671, 33000, 2.04, 1400),
    ("Rene", "Beke", 20150213, 801350874, 1533, 801, 6192334, "UT", 84308, 32000, 1.23, 3200),
]
SIGMA = {
    1: "{ZIP=} -> ST=",
    2: "{PH=} -> SSN=",
    3: "{TXA>, SAL<} -> RATE<",
    4: "{SSN=, Date<} -> NUM<",
}
both_methods = pytest.mark.parametrize("method", ["counts", "borders"])


def table(rows: list[tuple[Any, ...]]) -> pa.Table:
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(NAMES)})


@both_methods
def test_examples_1_and_2(tmp_path: Path, method: Any) -> None:
    """All four hold at first, and the second and the third are broken by the rows that the paper names."""
    with hf.Monitor.create(tmp_path / "s", {"tax": table(FIRST)}, watch=["pod"], method=method) as watch:
        assert all(watch.explanation(rule).to_json()["holds"] for rule in SIGMA.values())
        outcome = watch.apply(inserts=table(MORE))
        holds = {number: watch.explanation(rule).to_json()["holds"] for number, rule in SIGMA.items()}
        assert holds == {1: True, 2: False, 3: False, 4: True}
        assert {*watch.explanation(SIGMA[2]).to_json()["witness"]["rows"]} == {1, 7}
        assert {*watch.explanation(SIGMA[3]).to_json()["witness"]["rows"]} in ({1, 7}, {3, 8})
        broken = {rule.text: outcome.witness(rule) for rule in outcome.lost}
    assert "{PH=} -> SSN=" in broken
    assert all(witness is not None and max(witness.rows) >= 7 for witness in broken.values()), "a new row is in each"


@both_methods
def test_the_third_rule_is_not_minimal_and_what_replaces_it_is_weaker(method: Any) -> None:
    """The paper takes it for minimal; a rule with weaker predicates on the left holds, too."""
    options: Any = {"method": method, "columns": ["SAL", "RATE", "TXA"]}
    before = {rule.text for rule in hf.discover(table(FIRST), "pod", **options)}
    assert "{SAL<=, TXA>=} -> RATE<" in before
    assert "{SAL<, TXA>} -> RATE<" not in before
    after = {rule.text for rule in hf.discover(table(FIRST + MORE), "pod", **options)}
    assert "{SAL<=, TXA>=} -> RATE<" not in after
    assert "{SAL<, TXA>} -> RATE<=" in after or "{SAL<=, TXA>=} -> RATE<=" in after


def test_a_witness_is_a_sentence(tmp_path: Path) -> None:
    columns = ("SAL", "RATE", "TXA")
    with hf.Monitor.create(tmp_path / "s", {"tax": table(FIRST).select(columns)}, watch=["pod"]) as watch:
        outcome = watch.apply(inserts=table(MORE[1:2]).select(columns))
    lost = {rule.text: outcome.witness(rule) for rule in outcome.lost}
    sentence = getattr(lost["{SAL<=, TXA>=} -> RATE<"], "sentence", "")
    assert sentence == (
        "row 7 and row 3: SAL 33000 of row 7 is below SAL 55000 of row 3; "
        "TXA 1400 of row 7 is above TXA 1300 of row 3; both have RATE 2.04"
    )
    assert "because of row 7 and row 3: SAL 33000 of row 7" in repr(outcome)
