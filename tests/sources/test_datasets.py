"""The data sets of the field, where they lie next to the project: shapes, types and nulls that are known."""

import csv
from pathlib import Path

import pyarrow as pa
import pytest

from holdfast.sources.dialect import CsvOptions
from holdfast.sources.local import read_csv, sniff_file
from tests.sources.typed import typed_table

DATA = Path(__file__).parents[3] / "shared" / "data"
FILES = sorted(DATA.glob("*.csv"))
pytestmark = pytest.mark.skipif(not FILES, reason="the data sets are not next to the project (../shared/data)")


def typed(name: str) -> tuple[pa.Table, tuple[str, ...]]:
    path = DATA / f"{name}.csv"
    dialect, _ = sniff_file(path, CsvOptions())
    return typed_table(read_csv(path, dialect), CsvOptions(), None, str(path))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_text_equals_the_csv_module_and_nulls_equal_the_markers(path: Path) -> None:
    dialect, notes = sniff_file(path, CsvOptions())
    assert notes == ["separator ',', header row, quote '\"'"]
    text = read_csv(path, dialect)
    with path.open(newline="", encoding="utf-8") as lines:
        header, *rows = csv.reader(lines)
    assert text.column_names == header
    assert [list(row) for row in zip(*text.to_pydict().values(), strict=True)] == rows
    table, nulls = typed_table(text, CsvOptions(), None, path.name)
    assert set(nulls) <= {"", "?"}
    for before, after in zip(text.columns, table.columns, strict=True):
        assert after.null_count == sum(value in nulls for value in before.to_pylist())


def test_adult_as_published_here_has_no_marker() -> None:
    table, nulls = typed("adult")
    assert table.schema.field("age").type == pa.int64()
    assert table.schema.field("workclass").type == pa.string()
    assert nulls == ("",)
    assert sum(column.null_count for column in table.columns) == 0


@pytest.mark.parametrize(("name", "column"), [("hepatitis", "U"), ("bridges", "F")])
def test_question_marks_among_numbers_are_nulls(name: str, column: str) -> None:
    table, nulls = typed(name)
    assert table.schema.field(column).type == pa.int64()
    assert table[column].null_count > 0
    assert nulls == ("", "?")


def test_tax() -> None:
    table, _ = typed("tax_10k")
    assert table.schema.field("Zip").type == pa.int64()
    assert table.schema.field("Rate").type == pa.float64()
    assert table.schema.field("Phone").type == pa.string()
    dirty, _ = typed("tax_10k_dirty")
    assert dirty.schema.field("Zip").type == pa.float64()


def test_hospital() -> None:
    table, _ = typed("hospital")
    assert table.schema.field("ZipCode").type == pa.int64()
    assert table.schema.field("PhoneNumber").type == pa.int64()
    dirty, _ = typed("hospital_dirty")
    assert dirty.schema.field("zip").type == pa.string()


def test_leading_zeros_keep_voter_ids_text() -> None:
    table, _ = typed("ncvoter_1k")
    assert table.schema.field("voter_id").type == pa.string()
    assert table.schema.field("age").type == pa.int64()
