"""Rule files from suggestions are read as they are, whatever the columns are called."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import holdfast as hf
from holdfast.results.suggestions import Suggestions
from holdfast.rules.file import read_rules

ODD = ["yes", "a: b", '"quoted"', "#", "- x", "ünï", "a\nb"]


def towns(zip_code: str = "zip", city: str = "city", wrong: int = 0) -> pa.Table:
    """Twenty zip codes with five rows each, in seven towns; some with the wrong one."""
    codes = [code for code in range(20) for _ in range(5)]
    names = [f"town {code % 7}" for code in codes]
    for place in range(wrong):
        names[place * 5] = "elsewhere"
    return pa.table({"id": range(100), zip_code: codes, city: names})


def written(found: Suggestions, tmp_path: Path) -> Path:
    path = tmp_path / "rules.yaml"
    path.write_text(found.rules_text(), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ODD)
def test_any_name_can_be_written(tmp_path: Path, name: str) -> None:
    found = hf.suggest(towns(zip_code=name), "fd")
    rules = read_rules(written(found, tmp_path))
    assert [(rule.text, rule.severity) for rule in rules.entries] == [
        (each.text, each.severity) for each in found.listed
    ]
    assert hf.check(towns(zip_code=name), rules).violated is False


def test_exact_ones_are_errors_and_others_warnings(tmp_path: Path) -> None:
    found = hf.suggest(towns(wrong=2), "fd,ucc")
    path = written(found, tmp_path)
    assert "# 2 of 100 rows" in path.read_text()
    severities = {rule.text: rule.severity for rule in read_rules(path).entries}
    assert severities == {"key(id)": "error", "zip -> city": "warn"}
    assert [each["violations"] for each in hf.check(towns(wrong=2), path).to_json()] == [0, 2]


def test_names_are_free_and_say_what_the_rule_is_about() -> None:
    names = [rule.name for rule in hf.suggest({"a": towns(), "b": towns()}, "fd").rules().entries]
    assert names == ["zip-city", "zip-city-2"]
