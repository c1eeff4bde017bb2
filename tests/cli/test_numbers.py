"""Numbers that no float can hold: numbers that differ in a file stay apart, or is refused with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Holdfast, refused, untouched, write

TWINS = ["12345678901234567890.12", "12345678901234567890.13"]
COLUMNS = [
    (TWINS, "decimal(38,2)", 2),
    (["1.5", "9007199254740993", "9007199254740992"], "decimal(38,1)", 3),
    (["0.1", "0.10000000000000001", "0.100"], "decimal(38,17)", 2),
    (["0.30000000000000004", "0.3", "3e-1"], "float", 2),
    (["1e400", "2e400", "0"], "text", 3),
    (["1e-400", "2e-400", "0"], "text", 3),
    ([*TWINS, "NaN"], "text", 3),
]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.usefixtures("reader")
def test_numbers_stay_apart(tmp_path: Path, holdfast: Holdfast, suffix: str) -> None:
    """All columns in one file of as many rows as the longest; the rest is null."""
    names = [f"c{i}" for i in range(len(COLUMNS))]
    rows = [[values[row] if row < len(values) else "" for values, _, _ in COLUMNS] for row in range(3)]
    if suffix == "csv":
        path = write(tmp_path / "t.csv", [",".join(names), *(",".join(row) for row in rows)])
    else:
        pairs = [[f'"{name}": {value or "null"}' for name, value in zip(names, row, strict=True)] for row in rows]
        path = write(tmp_path / "t.jsonl", [f"{{{', '.join(row)}}}" for row in pairs])
    ran = holdfast("discover", path, "--rules", "column", "--format", "json")
    assert ran.code == 0, ran.err
    facts = ran.facts
    assert [(facts[name]["type"], facts[name]["distinct"]) for name in names] == [column[1:] for column in COLUMNS]
    for name, (_, kept, _) in zip(names, COLUMNS, strict=True):
        assert (f"column '{name}' is read as text: " in ran.err) == (kept == "text")


def test_the_key_of_two_long_numbers_is_found(tmp_path: Path, holdfast: Holdfast) -> None:
    path = write(tmp_path / "t.csv", ["n", *TWINS])
    ran = holdfast("discover", path, "--rules", "ucc", "--format", "json")
    assert [line["columns"] for line in ran.objects if line["kind"] == "ucc"] == [["n"]]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize(
    ("held", "kept", "offered"),
    [
        ("0.5", "float", "9007199254740993"),
        ("0.5", "float", "0.10000000000000001"),
        ("0.5", "float", "1e-400"),
        ("0.5", "float", "1e400"),
        (TWINS[0], "decimal(38,2)", "0.125"),
        (TWINS[0], "decimal(38,2)", "1e36"),
        ("1", "integer", "9223372036854775808"),
    ],
)
def test_a_number_that_the_column_cannot_hold_is_refused(
    tmp_path: Path, holdfast: Holdfast, suffix: str, held: str, kept: str, offered: str
) -> None:
    def file(name: str, value: str) -> Path:
        lines = ["k,n", f"{name},{value}"] if suffix == "csv" else [f'{{"k": "{name}", "n": {value}}}']
        return write(tmp_path / f"{name}.{suffix}", lines)

    state = tmp_path / "state"
    assert holdfast("init", state, file("first", held), "--key", "k").code == 0
    with untouched(state):
        ran = holdfast("apply", state, "--insert", file("second", offered))
        refused(ran, f"column 'n': {offered} can't be held exactly by a column of type {kept};")


@pytest.mark.spark
def test_a_declared_type_that_cannot_hold_a_number_is_refused(
    tmp_path: Path, holdfast: Holdfast, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("spark")
    path = write(tmp_path / "t.csv", ["n", *TWINS])
    for declared, kept in {"n DOUBLE": "float", "n FLOAT": "float", "n DECIMAL(38,1)": "decimal(38,1)"}.items():
        ran = holdfast("init", tmp_path / "state", path, "--schema", declared)
        refused(ran, f"column 'n': {TWINS[0]} can't be held exactly by a column of type {kept};")
