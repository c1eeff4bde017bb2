"""JSON lines as typed columns: every number exact, texts as texts, and one clear sentence for each broken file."""

from __future__ import annotations

import gzip
import json
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.sources import jsonlines, local
from holdfast.sources.caster import TextCaster


def file_of(folder: Path, content: str | bytes, name: str = "f.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def read(path: Path, as_text: bool = False) -> pa.Table:
    table = jsonlines.read([str(path)])
    looks = {name: jsonlines.key_traits(table[name].unique()) for name in table.column_names}
    return jsonlines.typed(table, jsonlines.types_of(looks, as_text)[0], str(path))


def column(folder: Path, *values: str) -> tuple[str, list[Any]]:
    """The type and the values of a column, given as JSON; "" is a line without the key."""
    lines = [f'{{"a": {value}}}' if value else "{}" for value in values]
    table = read(file_of(folder, "\n".join(lines)))
    return str(table["a"].type), table["a"].to_pylist()


BIG = "12345678901234567890.12"


@pytest.mark.parametrize(
    ("values", "kept", "expected"),
    [
        (["1", "-2", "null", ""], "int64", [1, -2, None, None]),
        (["1.5", "1", "1e3"], "double", [1.5, 1.0, 1000.0]),
        (["true", "false", ""], "bool", [True, False, None]),
        (['"12345"', '"1.5"'], "string", ["12345", "1.5"]),
        (['"true"', '"NaN"', '""'], "string", ["true", "NaN", ""]),
        (['"2024-02-29"', "null"], "string", ["2024-02-29", None]),
        ([BIG, "12345678901234567890.13"], "decimal128(38, 2)", [Decimal(BIG), Decimal("12345678901234567890.13")]),
        (["1.5", "9007199254740993"], "decimal128(38, 1)", [Decimal("1.5"), Decimal(2**53 + 1)]),
        (["9223372036854775808"], "decimal128(38, 0)", [Decimal(2**63)]),
        (["1e400", "1.50"], "string", ["1e400", "1.50"]),
        (["NaN", "-Infinity", "1.5"], "double", ["nan", float("-inf"), 1.5]),
        (["1", '"1"'], "string", ["1", "1"]),
        (["1.50", "true", '"x"'], "string", ["1.50", "true", "x"]),
        (["null", ""], "string", [None, None]),
        ([r'"\ud83d\ude00\u0000\n"', '"😀"'], "string", ["😀\0\n", "😀"]),
        (["[1]", "null"], "binary", [None, None]),
        (['{"b": 1}', "1"], "binary", [None, None]),
    ],
)
def test_types_and_values(tmp_path: Path, values: list[str], kept: str, expected: list[Any]) -> None:
    found, read_back = column(tmp_path, *values)
    assert found == kept
    assert ["nan" if value != value else value for value in read_back] == expected


def test_lines_of_every_kind(tmp_path: Path) -> None:
    content = '\ufeff{"b": 1, "a": "x"}\r\n\r\n  \t\n {"a": "y\u2028\x85z"} \r{}\n\ufeff{"c": [], "b": 2}'
    table = read(file_of(tmp_path, content))
    assert table.to_pydict() == {"a": ["x", "y\u2028\x85z", None, None], "b": [1, None, None, 2], "c": [None] * 4}
    assert read(file_of(tmp_path, gzip.compress(content.encode()), "f.jsonl.gz")).equals(table)
    assert read(file_of(tmp_path, "\n \n")).num_columns == 0


def test_rows_without_keys_count_in_every_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_BLOCK", 7)
    table = read(file_of(tmp_path, "{}\n{}\n{}\n" + '{"a": 1}\n{"b": 2}\n' * 2 + "{}"))
    assert table.to_pydict() == {
        "a": [None, None, None, 1, None, 1, None, None],
        "b": [None, None, None, None, 2, None, 2, None],
    }


def test_everything_as_text(tmp_path: Path) -> None:
    table = read(file_of(tmp_path, '{"a": 1.50, "b": true, "c": "x", "d": {}}\n'), as_text=True)
    assert table.to_pydict() == {"a": ["1.50"], "b": ["true"], "c": ["x"], "d": [None]}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"a": 1}\n{"a": 1\n', "line 2: not a JSON object"),
        ('{"a": 1}\r\n\r\n[1]\r\n', "line 3: not a JSON object"),
        ('{"a": 1}{"a": 2}\n', "line 1: not a JSON object"),
        ('{"a": 01}\n', "line 1: not a JSON object"),
        ('{"a": +1}\n', "line 1: not a JSON object"),
        ("{'a': 1}\n", "line 1: not a JSON object"),
        ('{"a": "x\ty"}\n', "line 1: not a JSON object"),
        ('{"a":\n1}\n', "line 1: not a JSON object"),
        ("\u00a0\n", "line 1: not a JSON object"),
        ("[" * 100_000 + "\n", "line 1: not a JSON object"),
        ('{"a": 1}\n{"a": 1, "b": 2, "a": 3}\n', "line 2: the key 'a' comes twice"),
        ('{"a": 1, "\\u0061": 3}\n', "line 1: the key 'a' comes twice"),
        ('{"a": {"b": 1, "b": 2}}\n', "line 1: the key 'b' comes twice"),
        ('{"a": "\\ud800"}\n', "line 1: a text holds half of a character"),
        ('{"\\uDC00": 1}\n', "line 1: a text holds half of a character"),
        (b'{"a": 1}\n{"a": "\xe4"}\n', "line 2: the byte 0xe4 at offset 16 is not UTF-8"),
    ],
)
def test_a_broken_file_is_refused_with_the_line(tmp_path: Path, content: str | bytes, sentence: str) -> None:
    path = file_of(tmp_path, content)
    with pytest.raises(BadInput) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, {sentence}")
    assert jsonlines.complaint([str(path)]) == str(caught.value)


def test_values_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    table = jsonlines.read([str(file_of(tmp_path, '{"a": 1.5}\n{"a": 9007199254740993}\n{"a": [1]}\n'))])
    for kept, rows, sentence in (
        (pa.float64(), 2, "record 2, column 'a': 9007199254740993 can't be held exactly by a column of type float"),
        (pa.int64(), 1, "record 1, column 'a': '1.5' is not a whole number"),
        (pa.string(), 3, "column 'a' holds an object or a list, and its type is text"),
    ):
        with pytest.raises(BadInput, match=sentence):
            jsonlines.typed(table.slice(0, rows), {"a": kept}, "f.jsonl")


NUMBERS = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.none() | st.booleans() | st.text(max_size=4) | NUMBERS
ROWS = st.lists(st.dictionaries(st.sampled_from(["a", "b", "ç", ""]), VALUES, max_size=3), max_size=6)


@settings(max_examples=120)
@given(ROWS, st.booleans())
def test_rows_come_back_from_their_lines(rows: list[dict[str, Any]], ascii_only: bool) -> None:
    """Against Python's own reader, with numbers as decimals: equal if and only if they were equal in the file."""
    lines = [json.dumps(row, ensure_ascii=ascii_only) for row in rows]
    exact = [json.loads(line, parse_float=Decimal, parse_int=Decimal) for line in lines]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.jsonl"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        if rows and not any(rows):
            with pytest.raises(BadInput, match="objects have no keys"):
                read(path)
            return
        table = read(path)
    assert table.column_names == sorted({name for row in rows for name in row})
    for name in table.column_names:
        found, wanted = table[name].to_pylist(), [row.get(name) for row in exact]
        kinds = {type(value) for value in wanted} - {type(None)}
        assert [value is None for value in found] == [value is None for value in wanted]
        if kinds == {Decimal} and table[name].type != pa.string():
            for i, a in enumerate(wanted):
                for j, b in enumerate(wanted):
                    assert (found[i] == found[j]) == (a == b)
        elif kinds in ({str}, {bool}):
            assert found == wanted
        else:
            assert table[name].type == pa.string()


def test_a_caster_casts_texts_and_refuses_the_rest() -> None:
    caster = jsonlines.JsonCaster(TextCaster("f.jsonl", "a", pa.date32(), ()))
    assert str(caster(pa.array(["s2024-02-29", None])).to_pylist()[0]) == "2024-02-29"
    for bad in ("n1", "s", "o"):
        with pytest.raises(BadInput, match="column 'a'"):
            caster(pa.array([bad]))
