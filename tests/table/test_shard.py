"""Shards: narrow codes, an index that finds every row, ids with and without gaps, in memory and from a file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.changes.equal_rows import hash_rows
from holdfast.table import files, shard
from holdfast.table.shard import AnyCodes, Shard, narrowed


@pytest.mark.parametrize(
    ("top", "width"), [(0, 1), (1, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (2**32 - 1, 4)]
)
def test_codes_are_as_narrow_as_they_fit(top: int, width: int) -> None:
    for codes in (np.array([0, top, top // 2], np.uint32), np.array([0, top, top // 2], np.uint64)):
        narrow = narrowed(codes)
        assert narrow.itemsize == width
        assert narrow.tolist() == codes.tolist()


def test_no_codes_are_narrow() -> None:
    assert narrowed(np.empty(0, np.uint32)).dtype == np.uint8


IDS: dict[str, NDArray[np.int64] | range] = {
    "dense": range(7, 12),
    "with gaps": np.array([7, 9, 10, 50, 2**40]),
}
CODES: list[AnyCodes] = [
    np.array([0, 1, 255, 1, 0], np.uint32),
    np.array([3, 256, 0, 256, 3], np.uint32),
    np.array([65_536, 0, 1, 0, 2], np.uint32),
]


@pytest.fixture(params=IDS)
def ids(request: pytest.FixtureRequest) -> NDArray[np.int64] | range:
    return IDS[request.param]


def check(made: Shard, ids: NDArray[np.int64] | range, key: tuple[int, ...]) -> None:
    listed = [int(i) for i in ids]
    assert len(made) == len(listed)
    assert [column.tolist() for column in made.columns] == [column.tolist() for column in CODES]
    assert [column.itemsize for column in made.columns] == [1, 2, 4]
    assert (made.first_id, made.last_id, made.id_array().tolist()) == (listed[0], listed[-1], listed)
    shuffled = [3, 0, 4, 4, 1]
    assert made.ids_of(np.array(shuffled)).tolist() == [listed[place] for place in shuffled]
    assert made.places_of(np.array([listed[place] for place in shuffled])).tolist() == shuffled
    expected = hash_rows([CODES[c] for c in key] if key else CODES)
    assert sorted(made.places.tolist()) == list(range(5))
    assert made.hashes.tolist() == sorted(expected.tolist())
    assert made.hashes.tolist() == expected[made.places].tolist()
    equal = made.hashes[1:] == made.hashes[:-1]
    assert (made.places.astype(int)[1:] > made.places.astype(int)[:-1])[equal].all()  # the oldest first


@pytest.mark.parametrize("key", [(), (0,), (1, 0)], ids=str)
def test_built_and_loaded_shards_are_alike(ids: Any, key: tuple[int, ...], folder: str) -> None:
    made = shard.build(CODES, key, ids)
    check(made, ids, key)
    path = f"{folder}/shard-{key}-{isinstance(ids, range)}.arrow"
    files.write(path, made.arrays())
    loaded = shard.load(path, int(ids[0]), 3)
    check(loaded, ids, key)
    assert loaded.path == path
    assert isinstance(loaded.ids, range) == isinstance(ids, range)


def test_a_shard_without_rows(folder: str) -> None:
    made = shard.build([np.empty(0, np.uint32)] * 2, (), range(5, 5))
    files.write(f"{folder}/empty.arrow", made.arrays())
    assert len(made) == len(shard.load(f"{folder}/empty.arrow", 5, 2)) == 0
