"""Segment files: arrays of any lengths go in, the same come out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import holdfast as hf
from holdfast.table import files

TYPES = [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int64, np.float64]
numbers = st.sampled_from(TYPES).flatmap(lambda kind: hnp.arrays(kind, st.integers(0, 5)))
strings = st.lists(st.binary(max_size=3), max_size=5).flatmap(
    lambda parts: st.integers(0, len(parts)).map(lambda start: pa.array(parts, pa.large_binary())[start:])
)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return bool(a.equals(b))


@settings(deadline=None, max_examples=30)
@given(
    st.dictionaries(st.text(max_size=4), numbers | strings, min_size=1, max_size=4),
    st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2),
)
def test_round_trip(folder: str, arrays: dict[str, Any], facts: dict[str, Any]) -> None:
    path = f"{folder}/any.arrow"
    assert files.write(path, arrays, facts) == Path(path).stat().st_size
    back, found = files.read(path)
    assert found == facts
    assert list(back) == list(arrays)
    assert all(same(arrays[name], back[name]) for name in arrays)


@pytest.mark.parametrize("form", ["path", "uri"])
def test_a_folder_by_path_and_by_uri(tmp_path: Path, form: str) -> None:
    where = tmp_path / "deep" / "folder"
    folder = str(where) if form == "path" else where.as_uri()
    assert files.sizes(folder) == {}
    files.make_folder(folder)
    files.make_folder(folder)
    arrays = {
        "none": np.empty(0, np.int64),
        "codes": np.arange(3, dtype=np.uint8),
        "no bytes": pa.array([], pa.large_binary()),
    }
    files.write(f"{folder}/one.arrow", arrays)
    files.write(f"{folder}/two.arrow", arrays, {"a": [1, None]})
    (where / "sub").mkdir()
    assert sorted(files.sizes(folder)) == ["one.arrow", "two.arrow"]
    back, facts = files.read(f"{folder}/two.arrow")
    assert facts == {"a": [1, None]}
    assert all(same(arrays[name], back[name]) for name in arrays)
    files.remove(f"{folder}/one.arrow")
    files.remove(f"{folder}/one.arrow")
    assert list(files.sizes(folder)) == ["two.arrow"]


def test_arrays_outlive_their_file(tmp_path: Path) -> None:
    path = str(tmp_path / "gone.arrow")
    files.write(path, {"a": np.arange(1_000)})
    back = files.read(path)[0]["a"]
    files.remove(path)
    assert back.sum() == 499_500
    assert not back.flags.writeable


def test_any_arrow_tool_can_read_it(tmp_path: Path) -> None:
    path = str(tmp_path / "plain.arrow")
    files.write(path, {"a": np.array([1, 2]), "b": pa.array([b"x"], pa.large_binary())})
    with pa.memory_map(path) as source:
        assert pa.ipc.open_file(source).read_all().to_pylist() == [{"a": [1, 2], "b": [b"x"]}]


def test_only_files_that_stay_wait_for_the_disk(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[Path] = []
    monkeypatch.setattr(files, "flush", waited.append)
    with files.temporary_folder() as passing:
        for place in (passing, folder):
            files.write(f"{place}/any.arrow", {"a": np.arange(3)})
            assert files.read(f"{place}/any.arrow")[0]["a"].tolist() == [0, 1, 2]
        assert waited == [Path(folder, "any.arrow")]
    assert not Path(passing).exists()


def test_a_look_at_a_file_waits_for_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text("zip,city\n1,Rome\n1,Rome\n2,Bern\n")
    waited: list[Path] = []
    monkeypatch.setattr(files, "flush", waited.append)
    assert hf.discover(str(tmp_path / "t.csv"), "fd") is not None
    assert hf.suggest(str(tmp_path / "t.csv")) is not None
    assert hf.orders(str(tmp_path / "t.csv"), "zip", "city") is not None
    assert waited == []
