"""Tables sorted in files: files in, files out, and nothing else left in the folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from holdfast.table import bulk
from holdfast.table.admit import Incoming
from holdfast.table.runner import Threads
from holdfast.table.types import Column
from tests.table.building import Kept, bulk_path, deletes, in_files, inserts, rows_of, schema_of, staged_of

ROWS = [(n % 7, None if n % 5 == 0 else "abc"[n % 3], n / 2) for n in range(40)]


def test_staged_rows_come_back_from_their_file(folder: str) -> None:
    staged = staged_of(ROWS, schema_of())
    operations = np.where(np.arange(len(ROWS)) % 2, 1, -1).astype(np.int8)
    for kinds in (None, operations):
        back, signs = bulk.read_staged(bulk.write_staged(folder, staged, kinds), 3)
        assert [c.tolist() for c in back.codes] == [c.tolist() for c in staged.codes]
        assert all(a.tolist() == b.tolist() for a, b in zip(back.values, staged.values, strict=True) if a is not None)
        assert (signs is None) if kinds is None else np.array_equal(signs, kinds)  # type: ignore[arg-type]


def test_only_the_named_segments_stay(tmp_path: Path) -> None:
    kept = Kept.empty(schema_of(), str(tmp_path))
    staging = tmp_path / "staged"
    staging.mkdir()
    with bulk_path():
        for mode, operations in (
            ("changes", inserts(ROWS)),
            ("changes", [*deletes(ROWS[:20]), *inserts(ROWS[30:])]),
            ("changes", deletes(ROWS[20:30])),
            ("snapshot", inserts(ROWS[5:35])),
            ("snapshot", []),
        ):
            incoming = kept.incoming(mode, operations, pieces=3)  # type: ignore[arg-type]
            _, kept = kept.admit(in_files(incoming, str(staging)))
            named = {Path(segment.path).name for segment in kept.files.segments}
            assert named == {each.name for each in tmp_path.iterdir() if each.is_file()}
    assert rows_of(kept.table) == []


def test_rows_in_memory_can_be_sorted_in_files_too(tmp_path: Path) -> None:
    """Rows given in memory and rows given in files go in together, those in memory first."""
    kept = Kept.empty(schema_of(), str(tmp_path))
    first, second = (kept.incoming("changes", inserts(part), pieces=2) for part in (ROWS[:15], ROWS[15:]))
    filed = in_files(second, str(tmp_path))
    with bulk_path():
        _, kept = kept.admit(Incoming("changes", first.chunks, filed.paths, rows=len(ROWS)))
    assert rows_of(kept.table) == ROWS


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_files_with_and_without_operations_mix(tmp_path: Path, order: tuple[int, int]) -> None:
    """A file of inserts says nothing of operations; a file of deletes with it must count all the same."""
    _, kept = Kept.empty(schema_of(), str(tmp_path)).operate(inserts(ROWS[:5]))
    parts = [kept.incoming("changes", deletes(ROWS[:2])), kept.incoming("changes", inserts(ROWS[10:12]))]
    paths = [in_files(parts[number], str(tmp_path)).paths[0] for number in order]
    with bulk_path():
        _, kept = kept.admit(Incoming("changes", paths=paths, rows=4))
    assert rows_of(kept.table) == [*ROWS[2:5], *ROWS[10:12]]


def test_casters_turn_texts_into_values(tmp_path: Path) -> None:
    """Distinct texts may stand for equal values, and for null."""
    columns = (Column("n", pa.int64()),)
    texts = staged_of([("",), ("1",), ("01",), ("x",), ("1",), (None,)], schema_of((), (Column("n", pa.string()),)))

    def caster(given: pa.Array) -> pa.Array:
        return pa.array([int(text) if text.isdigit() else None for text in given.to_pylist()], pa.int64())

    for rows_in_memory in (True, False):
        kept = Kept.empty(schema_of((), columns), str(tmp_path))
        incoming = Incoming("changes", [(texts, None), (texts, None)], rows=12, casters=[caster])
        if rows_in_memory:
            _, kept = kept.admit(incoming)
        else:
            with bulk_path():
                _, kept = kept.admit(incoming)
        assert rows_of(kept.table) == [(None,), (1,), (1,), (None,), (1,), (None,)] * 2
        assert len(kept.table.dictionaries[0]) == 2


def test_order_keys_live_on(folder: str) -> None:
    """An index that holds order keys sees the same ones after a bulk batch, or a new generation."""
    kept = Kept.empty(schema_of(), folder)
    _, kept = kept.operate(inserts([(0, text, None) for text in "kqbz"]))
    before = kept.table.order_keys(1)
    old, generation = before.of(np.arange(5)).copy(), before.generation
    with bulk_path():
        _, kept = kept.admit(in_files(kept.incoming("changes", inserts([(0, t, None) for t in "amxy"])), folder))
    after = kept.table.order_keys(1)
    assert after.generation == generation
    assert np.array_equal(after.of(np.arange(5)), old)
    values = kept.table.dictionaries[1].values(np.arange(1, 9)).to_pylist()
    assert sorted(range(8), key=values.__getitem__) == np.argsort(after.of(np.arange(1, 9))).tolist()


def test_the_runner_may_take_tasks_in_any_order(folder: str) -> None:
    class Backwards(Threads):
        def map(self, function, items):  # type: ignore[no-untyped-def]
            return [function(item) for item in reversed(items)][::-1]

    from holdfast.table.admit import admit

    kept = Kept.empty(schema_of((0, 2)), folder)
    incoming = in_files(kept.incoming("changes", inserts(ROWS), pieces=4), folder)
    said: list[str] = []
    with bulk_path():
        admitted = admit(kept.table, incoming, folder, Backwards(), said.append)
    assert rows_of(admitted.table) == ROWS
    assert said == ["Building dictionaries", "Writing shards", "Matching rows"]
