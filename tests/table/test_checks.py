"""Checksums: a bit that turned is never an answer, and no more is looked at than is read."""

from __future__ import annotations

import json
import pickle
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from holdfast.errors import BadInput, Damaged, Missing
from holdfast.table import checks, files, shard
from holdfast.table.table import Table
from tests.table.building import schema_of
from tests.table.test_files import same

ARRAYS: dict[str, Any] = {
    "code/0": np.arange(50, dtype=np.uint8),
    "hash": np.arange(50, dtype=np.uint64) << np.uint64(40),
    "place": np.arange(50, dtype=np.uint32),
    "value/1": pa.array([b"x%d" % i for i in range(49)], pa.large_binary()),
    "none": np.empty(0, np.int64),
    "no bytes": pa.array([], pa.large_binary()),
    "dead": np.array([3, 4]),
}
FACTS = {"first": {"1": 1}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    here = tmp_path / "some.arrow"
    files.write(str(here), ARRAYS, FACTS)
    return here


def flip(path: Path, bit: int) -> None:
    """Turn one bit of a file."""
    whole = bytearray(path.read_bytes())
    whole[bit // 8] ^= 1 << bit % 8
    path.write_bytes(whole)


def place_of(path: Path, wanted: bytes) -> int:
    """Where some bytes lie in a file, in bits."""
    whole = path.read_bytes()
    assert whole.count(wanted) == 1
    return whole.index(wanted) * 8


def test_a_bit_that_turned_is_no_answer(path: Path) -> None:
    """Anywhere: in the numbers, in the texts, and in what Arrow keeps of them at both ends of the file."""
    whole = path.read_bytes()
    damaged = 0
    for bit in random.Random(1).sample(range(8 * len(whole)), 1_500):
        flip(path, bit)
        try:
            back, facts = files.read(str(path))
            arrays = dict(back)
        except Damaged:
            damaged += 1
        else:
            assert (facts, list(arrays)) == (FACTS, list(ARRAYS))
            assert all(same(ARRAYS[name], arrays[name]) for name in ARRAYS), bit
        path.write_bytes(whole)
    assert damaged > 500


@pytest.mark.parametrize("kept", [0, 1, 7, 100, 0.5, -1])
def test_a_file_that_was_cut_off(path: Path, kept: float) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept) if isinstance(kept, float) else kept])
    with pytest.raises(Damaged, match=r"some\.arrow: damaged"):
        files.read(str(path))


def test_a_file_that_is_gone(path: Path) -> None:
    path.unlink()
    for name in (str(path), path.as_uri()):
        with pytest.raises(Missing, match=r"some\.arrow: this file of the state is missing; restore it"):
            files.read(name)


@pytest.mark.parametrize("error", [Missing("x.arrow"), Damaged("x.arrow", "a bit turned")], ids=["missing", "damaged"])
def test_tasks_elsewhere_tell_the_same(error: BadInput) -> None:
    """Errors of ours come back from a task as themselves."""
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back)) == (type(error), str(error))


def test_bytes_of_someone_else(path: Path) -> None:
    table = pa.table({"holdfast": [1, 2]})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(Damaged, match="it has no list of contents"):
        files.read(str(path))


@pytest.mark.parametrize("look", [files.read, files.check])
def test_files_without_checksums_are_refused(path: Path, look: Callable[[str], object]) -> None:
    """Older formats had such files: facts alone, no list of arrays. Only today's format is read."""
    batch = files._one_row(ARRAYS).replace_schema_metadata({"facts": json.dumps(FACTS)})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(Damaged, match=r"some\.arrow: damaged \(it has no list of contents\)"):
        look(str(path))


def test_a_file_whose_arrays_alone_have_checksums_is_refused_by_a_check(path: Path) -> None:
    batch = files._one_row(ARRAYS)
    about = {name: text for name, text in checks.describe(batch, FACTS).items() if name != b"file"}
    batch = batch.replace_schema_metadata(about)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(Damaged, match=r"some\.arrow: damaged \(it has no checksum\)"):
        files.check(str(path))


# ---- block by block --------------------------------------------------------------------------------------------------


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "BLOCK", 64)


@pytest.mark.usefixtures("small_blocks")
def test_only_the_blocks_that_are_read_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "large.arrow"
    numbers = np.arange(1_000, dtype=np.uint64) * np.uint64(0x0101_0101_0101)
    files.write(str(path), {"hash": numbers})
    flip(path, place_of(path, numbers[500:502].tobytes()))  # in block 62 of 125: the numbers 496 to 503
    back, _ = files.read(str(path))
    assert same(back.some("hash", np.array([0, 495, 504, 999])), numbers[[0, 495, 504, 999]])
    assert same(back.some("hash", slice(504, 600)), numbers[504:600])
    assert back.search("hash", numbers[[3, 700]], "left").tolist() == [3, 700]
    reads: list[Any] = [
        lambda: back.some("hash", np.array([1, 499])),
        lambda: back.some("hash", slice(503, 504)),
        lambda: back.search("hash", numbers[499:500], "left"),
        lambda: back["hash"],
    ]
    for read in reads:
        with pytest.raises(Damaged, match=f"{path}: damaged \\(block 63 of 125 of hash differs from its checksum"):
            read()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("bit", range(0, 64, 7))
def test_a_search_among_damaged_numbers_is_right_or_refused(tmp_path: Path, bit: int) -> None:
    path = tmp_path / "large.arrow"
    numbers = np.arange(1, 400, dtype=np.uint64) << np.uint64(50)
    files.write(str(path), {"hash": numbers})
    start = place_of(path, numbers[:3].tobytes())
    whole = path.read_bytes()
    outcomes = set()
    for place in range(0, 399, 20):
        flip(path, start + 64 * place + bit)
        back, _ = files.read(str(path))
        for wanted in range(0, 399, 30):
            try:
                assert back.search("hash", numbers[wanted : wanted + 1], "left").tolist() == [wanted]
                outcomes.add("right")
            except Damaged:
                outcomes.add("refused")
        path.write_bytes(whole)
    assert outcomes == {"right", "refused"}


def test_a_block_is_looked_at_once_in_a_process(path: Path) -> None:
    with patch("zlib.crc32", wraps=zlib.crc32) as counted:
        first = dict(files.read(str(path))[0])
        looked = counted.call_count
        assert looked > len(first) - 2
        again = dict(files.read(str(path))[0])
        assert counted.call_count == looked + 1, "the list of contents is read each time"
    assert list(first) == list(again)
    files.write(str(path), ARRAYS, {"other": 1})
    flip(path, place_of(path, ARRAYS["hash"].tobytes()))
    with pytest.raises(Damaged):  # a file that was written again is another file
        dict(files.read(str(path))[0])


def test_what_was_seen_of_files_is_bounded(path: Path) -> None:
    """A removed file is forgotten at once, and those that other processes remove once many others were read."""
    with patch.object(checks, "_known", {}), patch.object(checks, "_MOST_KNOWN", 2):
        first = checks.seen(str(path), (1, 2))
        assert checks.seen(str(path), (1, 2)) is first
        assert checks.seen(str(path), (1, 3)) is not first, "it was replaced"
        checks.seen("b", (1,))
        checks.seen(str(path), (1, 3))
        checks.seen("c", (1,))
        assert list(checks._known) == [str(path), "c"], "the longest unused goes"
        files.remove(str(path))
        files.remove(str(path))
        assert list(checks._known) == ["c"]


@pytest.mark.usefixtures("small_blocks")
def test_finding_a_few_rows_looks_at_a_few_blocks(folder: str) -> None:
    schema = schema_of()
    codes = [np.arange(2_000, dtype=np.uint32) * (c + 1) for c in range(len(schema.columns))]
    path = f"{folder}/many rows.arrow"
    files.write(path, shard.build(codes, schema.key, range(2_000)).arrays())
    table = Table.empty(schema).changed([shard.load(path, 0, len(codes))], np.empty(0, np.int64))
    wanted = np.array([17, 1_200])
    keys = np.stack([codes[c][wanted] for c in schema.found_by])
    with patch("zlib.crc32", wraps=zlib.crc32) as counted:
        query, ids = table.find(keys, np.array([1, 1]))
        assert table.codes(wanted).tolist() == [codes[c][wanted].tolist() for c in range(len(codes))]
    assert query[np.argsort(ids)].tolist() == [0, 1]
    assert np.sort(ids).tolist() == wanted.tolist()
    assert counted.call_count < 40
    assert sum(len(array.tobytes()) // 64 for array in table.shards[0].arrays().values()) > 500
