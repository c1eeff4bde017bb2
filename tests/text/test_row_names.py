"""What rows are called, and that conditions read the same words."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.changes.diff import Witness
from holdfast.errors import BadInput
from holdfast.text.row_names import by_key, by_values, conditions, listed, shown


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ({"Id": 17}, "Id 17"),
        ({"Id": 17, "Day": "2024-01-01"}, "Id 17, Day 2024-01-01"),
        ({"Id": "A-17"}, "Id A-17"),
        ({"First Name": "Ann", "Last": "O'Hara, Jo"}, "'First Name' Ann, Last \"O'Hara, Jo\""),
        ({"Id": ""}, "Id ''"),
        ({"Id": " 1"}, "Id ' 1'"),
        ({"Id": "null"}, "Id 'null'"),
        ({"Id": None}, "Id null"),
        ({"Id": "a\nb\x1b[31m\u202e"}, r"Id 'a\nb\x1b[31m\u202e'"),
        ({"Id": "x" * 300}, f"Id {'x' * 199}…"),
    ],
)
def test_a_row_with_a_key_is_called_by_it(key: dict[str, object], name: str) -> None:
    assert by_key(key) == name


def test_a_row_without_a_key_is_called_by_its_values() -> None:
    row = {"a": 1, "b": None, "c": "x y", "d": 2.5, "e": "e" * 30}
    assert by_values(7, row) == "row 7 (a 1, b null, c 'x y', d 2.5)"
    assert by_values(7, row, ["e", "b"]) == f"row 7 (e {'e' * 27}…, b null, a 1, c 'x y')"
    assert by_values(7, row, ["a", "b", "c", "d", "e"]).startswith("row 7 (b null, c 'x y', d 2.5, e "), (
        "the right side"
    )
    assert by_values(7, {"a": 1}, ["gone"]) == "row 7 (a 1)"


def test_several_rows_in_a_sentence() -> None:
    assert listed(["Id 1"]) == "Id 1"
    assert listed(["Id 1", "Id 2"]) == "Id 1 and Id 2"
    assert listed(["Id 1, Day 2", "Id 1, Day 3", "Id 2, Day 3"]) == "Id 1, Day 2; Id 1, Day 3; Id 2, Day 3"


def test_a_witness_says_who_it_is() -> None:
    values = {"Id": 17, "Zip": "1"}, {"Id": 41, "Zip": "1"}
    keyed = Witness((5, 9), values, ({"Id": 17}, {"Id": 41}))
    assert str(keyed) == keyed.named(["Zip"]) == "Id 17 and Id 41"
    assert keyed.to_json() == {"rows": [5, 9], "keys": [{"Id": 17}, {"Id": 41}], "values": list(values)}
    assert str(Witness((5, 9), values)) == "row 5 (Id 17, Zip 1) and row 9 (Id 41, Zip 1)"
    assert Witness((5,), values[:1]).named(["Zip"]) == "row 5 (Zip 1, Id 17)"
    assert str(Witness((5, 9))) == "row 5 and row 9"


words = st.one_of(st.text(max_size=8), st.sampled_from(["null", "a=b", "a,b", "'", '"', "\\", " x ", "'a' \"b\""]))


@given(st.dictionaries(words, st.one_of(st.none(), words), min_size=1, max_size=3))
@example({"a\nb": "\\'", "": ""})
def test_conditions_read_what_names_say(values: dict[str, str | None]) -> None:
    text = ", ".join(f"{shown(name, 99)}={shown(value, 99)}" for name, value in values.items())
    assert conditions(text) == values


def test_conditions_as_people_write_them() -> None:
    assert conditions("Id=17") == {"Id": "17"}
    assert conditions(" First Name = Ann B , Day=2024-01-01 ") == {"First Name": "Ann B", "Day": "2024-01-01"}
    assert conditions("Name=, Id=null") == {"Name": "", "Id": None}
    assert conditions(r"Name='C:\x'") == {"Name": r"C:\x"}
    for wrong in ("", "17", "Id", ",", "=1", "Id=1,17"):
        with pytest.raises(BadInput, match="write a column and its value"):
            conditions(wrong)
