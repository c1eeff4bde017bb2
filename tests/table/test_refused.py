"""What is refused: in one sentence that names the table, how many rows and the first of them; nothing else happens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.changes.operations import INSERT
from holdfast.errors import BadInput
from holdfast.table.admit import Incoming
from holdfast.table.encode import stage
from holdfast.table.types import Column
from tests.oracle.rows import Operation
from tests.table.building import Kept, bulk_path, deletes, in_files, inserts, rows_of, schema_of

START: list[tuple[Any, ...]] = [(1, "a", 1.5), (2, "b", None), (3, "c", 0.0)]
TOO_MANY = [(n, None, None) for n in range(1_000, 3_000)]


@pytest.fixture(params=["few", "many"])
def size(request: pytest.FixtureRequest) -> Iterator[str]:
    """Rows in memory and rows in files are refused alike."""
    with bulk_path(1_000_000) if request.param == "many" else nullcontext():
        yield request.param


def started(key: tuple[int, ...], tmp_path: Path) -> Kept:
    return Kept.empty(schema_of(key), str(tmp_path)).operate(inserts(START))[1]


def refused(kept: Kept, incoming: Incoming) -> str:
    """The sentence; and proof that nothing has changed, in memory or in files."""
    before = sorted(Path(kept.folder).iterdir())
    rows, ids, codes = rows_of(kept.table), kept.table.living_ids().tolist(), [len(d) for d in kept.table.dictionaries]
    with pytest.raises(BadInput) as error:
        kept.admit(incoming)
    assert rows_of(kept.table) == rows
    assert kept.table.living_ids().tolist() == ids
    assert [len(d) for d in kept.table.dictionaries] == codes
    assert sorted(Path(kept.folder).iterdir()) == before
    return str(error.value)


def refusal(kept: Kept, operations: list[Operation], size: str) -> str:
    incoming = kept.incoming("changes", operations, pieces=2)
    return refused(kept, in_files(incoming, kept.folder) if size == "many" else incoming)


def test_a_missing_row_by_key(size: str, tmp_path: Path) -> None:
    assert refusal(started((0,), tmp_path), [("update", (7, "x", None)), ("insert", (8, "y", None))], size) == (
        "table things: a row to delete or update is not there: (n=7); use --on-missing ignore to skip such rows"
    )


def test_missing_rows_by_content(size: str, tmp_path: Path) -> None:
    assert refusal(started((), tmp_path), deletes([START[0], START[0], (None, "z" * 50, float("nan"))]), size) == (
        "table things: 2 rows to delete or update are not there: (n=1, s=a, f=1.5); "
        f"(n=null, s={'z' * 39}…, f=nan); use --on-missing ignore to skip such rows"
    )


def test_many_missing_rows_are_counted_and_the_first_shown(size: str, tmp_path: Path) -> None:
    assert refusal(started((1, 0), tmp_path), deletes([(n, "q", None) for n, *_ in TOO_MANY]), size) == (
        "table things: 2,000 rows to delete or update are not there: (s=q, n=1000); (s=q, n=1001); (s=q, n=1002); "
        "use --on-missing ignore to skip such rows"
    )


def test_a_taken_key(size: str, tmp_path: Path) -> None:
    assert refusal(started((0,), tmp_path), inserts([(9, "x", None), (2, "b", None)]), size) == (
        "table things: a row repeats a declared key that is taken: (n=2); "
        "send an update instead, or delete the old row first"
    )


def test_a_key_taken_by_the_list_itself(size: str, tmp_path: Path) -> None:
    sentence = refusal(started((0,), tmp_path), [*inserts([(9, "x", None)] * 3), *deletes([(7, None, None)])], size)
    assert sentence.startswith("table things: 2 rows repeat a declared key that is taken: (n=9); (n=9); ")


def test_a_snapshot_that_repeats_a_key(size: str, tmp_path: Path) -> None:
    kept = started((0,), tmp_path)
    incoming = kept.incoming("snapshot", inserts([START[0], START[0], (5, "e", None)]), pieces=2)
    sentence = refused(kept, in_files(incoming, kept.folder) if size == "many" else incoming)
    assert sentence.startswith("table things: a row repeats a declared key that is taken: (n=1); ")


def test_duplicates_are_refused_even_where_missing_rows_are_ignored(size: str, tmp_path: Path) -> None:
    kept = started((0,), tmp_path)
    operations = [*deletes([(7, None, None)]), *inserts([(1, "a", 1.5)])]
    incoming = kept.incoming("changes", operations, on_missing="ignore")
    assert "repeats a declared key" in refused(kept, in_files(incoming, kept.folder) if size == "many" else incoming)


def test_a_null_in_the_key(size: str, tmp_path: Path) -> None:
    assert refusal(started((0, 1), tmp_path), inserts([(4, None, 1.0), (None, None, 2.0)]), size) == (
        "table things: the declared key (n, s) is null in 3 places; give every row its key, or declare another one"
    )
    assert "is null in 1 place;" in refusal(started((0,), tmp_path), deletes([(None, "a", 1.0)]), size)


def test_an_update_without_a_key(size: str, tmp_path: Path) -> None:
    """Nothing says which row it means; it must not be taken for two inserts."""
    sentence = refusal(started((), tmp_path), [*inserts([START[0]]), ("update", START[1])], size)
    assert re.match("table things: .*update.* key", sentence)


def test_rows_beyond_the_calendar_are_shown_too(size: str, tmp_path: Path) -> None:
    columns = (Column("day", pa.date32()), Column("at", pa.timestamp("us", tz="UTC")))
    kept = Kept.empty(schema_of((), columns), str(tmp_path))
    far = [pa.chunked_array([pa.array([3_000_000], pa.int32()).cast(pa.date32())])]
    far.append(pa.chunked_array([pa.array([2**62], pa.int64()).cast(columns[1].type)]))
    incoming = Incoming("changes", [(stage(far, columns), np.array([-1], np.int8))], rows=1)
    sentence = refused(kept, in_files(incoming, kept.folder) if size == "many" else incoming)
    assert "not there: (day=10183-09-21, at=" in sentence


def test_wide_rows_are_shown_by_their_first_columns(tmp_path: Path) -> None:
    columns = tuple(Column(f"c{n}", pa.int64()) for n in range(9))
    kept = Kept.empty(schema_of((), columns), str(tmp_path))
    sentence = refused(kept, kept.incoming("changes", deletes([range(9)])))
    assert "not there: (c0=0, c1=1, c2=2, c3=3, …); use" in sentence


@pytest.mark.usefixtures("size")
def test_a_reserved_integer_among_texts(tmp_path: Path) -> None:
    """Texts that are cast as they come in are refused like integers."""
    columns = (Column("id", pa.int64()),)
    kept = Kept.empty(schema_of((), columns), str(tmp_path))
    texts = stage([pa.chunked_array([["1", str(-(2**63))]])], (Column("id", pa.string()),))
    chunks = [(texts, np.full(2, INSERT, np.int8))]
    incoming = Incoming("changes", chunks, rows=2, casters=[lambda given: given.cast(pa.int64())])
    assert refused(kept, incoming).startswith("column 'id': the integer -9223372036854775808 is reserved")
