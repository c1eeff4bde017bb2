"""Numbers that can't be meant are refused in a sentence; none at all is a number, too."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import holdfast as hf
from tests.cli.running import Holdfast, refused, write


@pytest.mark.parametrize("rules", ["fd", "ucc", "ind"])
def test_top_0_shows_how_many_there_are(holdfast: Holdfast, people: Path, tmp_path: Path, rules: str) -> None:
    people = write(tmp_path / "people.csv", ["id,name,again", "1,Ann,1", "2,Bob,2", "3,Cy,3"])
    result = holdfast("discover", people, "--rules", rules, "--top", 0)
    assert result.code == 0
    lines = result.out.splitlines()
    assert len(lines) == 1, result.out
    number = len(holdfast("discover", people, "--rules", rules, "--format", "json").of_kind(rules))
    assert f"{number} " in lines[0]
    assert number > 0
    state = tmp_path / "state"
    assert holdfast("init", state, people, "--watch", rules).code == 0
    assert holdfast("status", state, "--top", 0).out == result.out


def test_none_found_is_still_said(holdfast: Holdfast, tmp_path: Path) -> None:
    same = write(tmp_path / "same.csv", ["a,b", "1,x", "1,x"])
    for top in (0, 5):
        assert holdfast("discover", same, "--rules", "ucc", "--top", top).out == "no keys found\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["discover", "{people}", "--top", -1], "--top"),
        (["status", "{state}", "--top", -1], "--top"),
        (["violations", "{state}", "--limit", -1], "--limit"),
        (["history", "{state}", "--last", -1], "--last"),
        (["check", "{people}", "--rules", "r.yaml", "--limit", -1], "--limit"),
        (["check", "{people}", "--rules", "r.yaml", "--pair-limit", -1], "--pair-limit"),
        (["init", "{none}", "{people}", "--pair-limit", -1], "--pair-limit"),
        (["discover", "{people}", "--rules", "fd", "--max-lhs", -1], "--max-lhs"),
        (["init", "{none}", "{people}", "--watch", "fd", "--max-lhs", -1], "--max-lhs"),
        (["discover", "{people}", "--rules", "ind", "--max-arity", 0], "--max-arity"),
        (["init", "{none}", "{people}", "--watch", "ind", "--max-arity", -1], "--max-arity"),
        (["discover", "{people}", "--rules", "fd", "--error", -0.1], "--error"),
        (["discover", "{people}", "--rules", "fd", "--error", 1.5], "--error"),
        (["discover", "{people}", "--rules", "ind", "--error", 1], "the error is a share"),
        (["discover", "{people}", "--rules", "ind", "--error", "nan"], "--error"),
    ],
)
def test_numbers_out_of_range(
    holdfast: Holdfast, state: Path, people: Path, tmp_path: Path, words: list[object], expected: str
) -> None:
    places = {"people": people, "state": state, "none": tmp_path / "none"}
    refused(holdfast(*(str(word).format(**places) for word in words)), expected)
    assert not (tmp_path / "none").exists()


def test_numbers_out_of_range_in_python(state: Path) -> None:
    for wrong in ({"max_lhs": -1}, {"max_arity": 0}, {"error": 1.0}, {"error": float("nan")}):
        with pytest.raises(hf.BadInput, match=str(next(iter(wrong.values())))):
            hf.discover(pa.table({"a": [1]}), "fd,ind", **wrong)
    with pytest.raises(hf.BadInput, match="can't be -1"):
        hf.check(pa.table({"a": [1]}), "not(t.a < 0)", pair_limit=-1)
    with pytest.raises(hf.BadInput, match=r"there is no setting 'eror'; did you mean 'error'\?"):
        hf.discover(pa.table({"a": [1]}), "fd", eror=0.1)
    checked = hf.check(pa.table({"a": [1, 1], "b": [1, 2]}), "a -> b")
    with pytest.raises(hf.BadInput, match="can't be -1"):
        checked.listings[0].to_arrow(-1)
    with pytest.raises(hf.BadInput, match="can't be -1"):
        list(checked.listings[0].violations(-1))
    with hf.Monitor.open(state, write=False) as look:
        with pytest.raises(hf.BadInput, match="can't be -1"):
            look.history(-1)
        assert (len(look.history(0)), len(look.history(1))) == (0, 1)


def test_last_0_is_none(holdfast: Holdfast, state: Path) -> None:
    assert holdfast("history", state, "--last", 0, "--format", "json").objects == []
    assert len(holdfast("history", state, "--last", 1, "--format", "json").objects) == 1
