"""Checksums of segment files: no array is given out before its bytes were found to be what was written.

The bytes of each array are cut into blocks, each with its CRC-32, and the list of arrays (names, types, lengths, CRCs,
and the file's facts) has one of its own. A block is looked at when it is first read in a process, so a few rows of a
large table cost a few blocks.
Cost: about 0.4 s a gigabyte, once in a process; an array that was looked at before costs one look-up.

What Arrow writes around the arrays leads to arrays that fit their checksums, or is refused; but some of it nobody
reads. So the first metadata of a file also tell a CRC-32 of all its bytes (`seal`, `check_whole`).
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.errors import Damaged
from holdfast.table import arrow
from holdfast.table.images import bytes_of

BLOCK = 1 << 16  # bytes: a file says how many its blocks have
_ABOUT, _WHOLE = b"holdfast", b"\0crc32\0"  # no text that is written as JSON has a zero byte
_DIGITS = 8
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Described:
    """What a file says of one of its arrays: its type, its length, and the CRCs of its parts, block by block."""

    name: str
    type: str
    length: int
    block: int
    crcs: tuple[NDArray[np.uint32], ...]


def describe(batch: pa.RecordBatch, facts: Mapping[str, Any]) -> dict[bytes, bytes]:
    """The metadata of a new file."""
    arrays = [
        (name, str(column.values.type), len(column.values), [_crcs(part) for part in _parts(column.values)])
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    text = json.dumps({"facts": dict(facts), "block": BLOCK, "arrays": arrays}).encode()
    return {_ABOUT: b"%08x" % zlib.crc32(text) + text, b"file": _WHOLE + b"0" * _DIGITS}


def seal(whole: memoryview) -> None:
    """Put the CRC of a new file where its metadata have a place for it."""
    at = _place(whole)
    whole[at : at + _DIGITS] = _crc_of(whole, at)


def check_whole(whole: memoryview) -> None:
    """Compare all bytes of a file with its CRC."""
    at = _place(whole)
    if whole[at : at + _DIGITS] != _crc_of(whole, at):
        raise ValueError("it differs from its checksum, though not in an array")


def _place(whole: memoryview) -> int:
    """Where the CRC of a file stands in its first message, whose length comes after twelve bytes."""
    length = int.from_bytes(whole[12:16], "little")
    found = bytes(whole[: 16 + length]).find(_WHOLE)
    if found < 0:
        raise ValueError("it has no checksum")
    return found + len(_WHOLE)


def _crc_of(whole: memoryview, at: int) -> bytes:
    before = zlib.crc32(b"0" * _DIGITS, zlib.crc32(whole[:at]))
    return b"%08x" % zlib.crc32(whole[at + _DIGITS :], before)


def described(metadata: Mapping[bytes, bytes] | None) -> tuple[dict[str, Any], list[Described]]:
    """The facts of a file, and what it says of its arrays."""
    known = metadata or {}
    if _ABOUT not in known:
        raise ValueError("it has no list of contents")
    crc, text = known[_ABOUT][:8], known[_ABOUT][8:]
    if int(crc, 16) != zlib.crc32(text):
        raise ValueError("its list of contents differs from its checksum")
    about = json.loads(text)
    arrays = [
        Described(name, kind, length, about["block"], tuple(np.frombuffer(b64decode(crc), "<u4") for crc in crcs))
        for name, kind, length, crcs in about["arrays"]
    ]
    return about["facts"], arrays


# Which blocks of a file were found right in this process: marks of the blocks of each part of an array.
Seen = dict[tuple[str, int], NDArray[np.bool_]]


_MOST_KNOWN = 1 << 14  # files
_known: dict[str, tuple[tuple[int, ...], Seen]] = {}  # with their stamps, the longest unused first
_of_threads = Lock()


def seen(path: str, stamp: tuple[int, ...]) -> Seen:
    """What was seen of a file that is the same as when its stamp was taken."""
    with _of_threads:
        known = _known.pop(path, None)
        _known[path] = found = known if known is not None and known[0] == stamp else (stamp, Seen())
        if len(_known) > _MOST_KNOWN:
            del _known[next(iter(_known))]
    return found[1]


def forget(path: str) -> None:
    """A file is removed."""
    with _of_threads:
        _known.pop(path, None)


class CheckedArrays(Mapping[str, Any]):
    """The arrays of a file by name: numbers as NumPy, bytes as Arrow arrays. What is given out has been checked."""

    def __init__(self, path: str, plain: Mapping[str, Any], about: list[Described], seen: Seen) -> None:
        self._path, self._plain, self._seen = path, plain, seen
        self._about = {each.name: each for each in about}

    def __getitem__(self, name: str) -> Any:
        array = self._plain[name]
        for number, part in enumerate(_parts(array)):
            self._check(name, number, part, slice(None))
        return array

    def __contains__(self, name: object) -> bool:
        return name in self._plain

    def __iter__(self) -> Iterator[str]:
        return iter(self._plain)

    def __len__(self) -> int:
        return len(self._plain)

    def unchecked(self, name: str) -> Any:
        """An array as it is: for its size, or for a search that has checked in the end what it compared."""
        return self._plain[name]

    def some(self, name: str, places: slice | NDArray[Any]) -> Any:
        """The numbers or bytes at some places; no more blocks are looked at than hold them."""
        array = self._plain[name]
        if not isinstance(array, np.ndarray):
            return self._some_bytes(name, array, places)
        self._check(name, 0, _parts(array)[0], _blocks_of(places, array, self._about[name].block))
        return array[places]

    def _some_bytes(self, name: str, array: pa.LargeBinaryArray, places: slice | NDArray[Any]) -> pa.LargeBinaryArray:
        at = np.arange(*places.indices(len(array))) if isinstance(places, slice) else places.astype(np.int64)
        if len(at):
            size = self._about[name].block
            offsets, data = bytes_of(array)
            self._check(name, 0, offsets.view(np.uint8), _blocks_of(np.r_[at, at + 1], offsets, size))
            first, last = offsets[at] // size, (np.maximum(offsets[at + 1], offsets[at] + 1) - 1) // size
            wide = [np.arange(a, b + 1) for a, b in zip(first[last > first], last[last > first], strict=True)]
            self._check(name, 1, data, np.concatenate([first[first < -(-len(data) // size)], *wide]))
        return array[places] if isinstance(places, slice) else array.take(arrow.from_numpy(at))

    def search(self, name: str, wanted: NDArray[Any], side: Literal["left", "right"]) -> NDArray[np.int64]:
        """Where numbers go in a sorted array. Only the blocks that hold the neighbours are looked at: a bit that
        turned elsewhere can lead the search nowhere but next to itself.
        """
        array: NDArray[Any] = self._plain[name]
        at = np.searchsorted(array, wanted, side=side)
        if len(array):
            for neighbour in (at - 1, at):
                places = np.clip(neighbour, 0, len(array) - 1)
                self._check(name, 0, _parts(array)[0], _blocks_of(places, array, self._about[name].block))
        return at

    def _check(self, name: str, number: int, part: Bytes, blocks: slice | NDArray[np.int64]) -> None:
        about = self._about[name]
        seen = self._seen.setdefault((name, number), np.zeros(len(about.crcs[number]), np.bool_))
        if bool(seen[blocks].all()):
            return
        wanted = np.zeros(len(seen), np.bool_)
        wanted[blocks] = True
        for block in np.flatnonzero(wanted & ~seen):
            check_block(self._path, about, number, part, int(block))
            seen[block] = True


class PlainArrays(dict[str, Any]):
    """Arrays of numbers in memory, by name, with what `CheckedArrays` can do: they need no check."""

    def unchecked(self, name: str) -> Any:
        """An array."""
        return self[name]

    def some(self, name: str, places: slice | NDArray[Any]) -> Any:
        """The numbers at some places."""
        return self[name][places]

    def search(self, name: str, wanted: NDArray[Any], side: Literal["left", "right"]) -> NDArray[np.int64]:
        """Where numbers go in a sorted array."""
        return np.searchsorted(self[name], wanted, side=side)


def check_block(path: str, about: Described, number: int, part: Bytes, block: int) -> None:
    """Compare a block of a part of an array with its CRC."""
    size, crcs = about.block, about.crcs[number]
    if zlib.crc32(part[block * size : (block + 1) * size].data) != crcs[block]:
        raise Damaged(path, f"block {block + 1} of {len(crcs)} of {about.name} differs from its checksum")


def plain_arrays(batch: pa.RecordBatch, about: list[Described]) -> dict[str, Any]:
    """The arrays of a file, whose shape is as the file says. Their bytes are not looked at yet."""
    batch.validate()
    arrays: dict[str, Any] = {}
    for field, column in zip(batch.schema, batch.columns, strict=True):
        start, stop = column.offsets[0].as_py(), column.offsets[1].as_py()
        values = column.values[start:stop]
        if len(column) != 1 or start != 0 or len(values) != stop or column.null_count or values.null_count:
            raise ValueError(f"{field.name} has another shape than was written")
        numeric = not pa.types.is_large_binary(field.type.value_type)
        arrays[field.name] = arrow.to_numpy(values) if numeric else values
    _compare(batch.schema, arrays, about)
    return arrays


def _compare(schema: pa.Schema, arrays: Mapping[str, Any], about: list[Described]) -> None:
    """Whether the arrays have the names, types and lengths that the file says, and a checksum for every block."""
    found = [(field.name, str(field.type.value_type), len(arrays[field.name])) for field in schema]
    if found != [(each.name, each.type, each.length) for each in about]:
        raise ValueError("names, types or lengths differ from those that were written")
    for each in about:
        blocks = [-(-len(part) // each.block) for part in _parts(arrays[each.name])]
        if blocks != [len(crcs) for crcs in each.crcs]:
            raise ValueError(f"{each.name} has another length than was written")


def _parts(values: Any) -> list[Bytes]:
    """The bytes of an array: those of its numbers, or of its offsets and its texts."""
    if isinstance(values, np.ndarray):
        return [values.view(np.uint8)]
    if not pa.types.is_large_binary(values.type):
        return [arrow.to_numpy(values).view(np.uint8)]
    offsets, data = bytes_of(values)
    return [offsets.view(np.uint8), data]


def _crcs(part: Bytes) -> str:
    crcs = [zlib.crc32(part[start : start + BLOCK].data) for start in range(0, len(part), BLOCK)]
    return b64encode(np.array(crcs, "<u4").tobytes()).decode()


def _blocks_of(places: slice | NDArray[Any], array: NDArray[Any], block: int) -> slice | NDArray[np.int64]:
    """The blocks, of `block` bytes, that hold some places of an array."""
    size = array.itemsize
    if isinstance(places, slice):
        start, stop, _ = places.indices(len(array))
        return slice(start * size // block, -(-stop * size // block))
    return places.astype(np.int64) * size // block
