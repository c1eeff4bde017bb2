"""Sets of small numbers as rows of 64-bit words: element e is bit `e % 64` of word `e // 64`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.agree_sets import index_keys
from holdfast.kernels.hitting_bits import first_above
from holdfast.pairs.keys import KeyTable

Words = NDArray[np.uint64]
_COUNTS_BITS = hasattr(np, "bitwise_count")  # NumPy 1.26, which goes with Spark 3.5, doesn't


def words_for(elements: int) -> int:
    """How many words a set of `elements` needs; at least one."""
    return max(1, -(-elements // 64))


def of(elements: Iterable[int], words: int) -> Words:
    """The bitset of some elements."""
    bits = np.zeros(words, np.uint64)
    for element in elements:
        bits[element >> 6] |= np.uint64(1 << (element & 63))
    return bits


def first(count: int, words: int) -> Words:
    """The bitset of the elements 0 … count - 1."""
    whole = (1 << count) - 1
    return np.array([(whole >> (64 * w)) & (2**64 - 1) for w in range(words)], np.uint64)


def packed(marks: NDArray[np.bool_], words: int) -> Words:
    """The bitset of the marked elements of each row of marks."""
    bits = np.zeros((len(marks), 64 * words), np.bool_)
    bits[:, : marks.shape[1]] = marks
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def unpacked(sets: Words) -> NDArray[np.uint8]:
    """The marks, 0 or 1, of each row: as many as its words have bits."""
    return np.unpackbits(np.ascontiguousarray(sets).view(np.uint8), axis=1, bitorder="little")


def elements(bits: Words) -> list[int]:
    """The elements of one bitset, ascending."""
    found: list[int] = np.flatnonzero(unpacked(bits[None])).tolist()
    return found


def of_integers(sets: Iterable[int], words: int) -> Words:
    """Sets that are given as the bits of integers."""
    whole = b"".join(bits.to_bytes(8 * words, "little") for bits in sets)
    return np.frombuffer(whole, "<u8").astype(np.uint64).reshape(-1, words)


def integers(sets: Words) -> list[int]:
    """Sets as the bits of integers."""
    return [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in sets]


def elements_of_each(sets: Words) -> list[list[int]]:
    """The elements of each of many bitsets; some times as fast as one by one."""
    bits = unpacked(sets)
    found = (np.flatnonzero(bits.view(np.bool_)) % max(1, bits.shape[1])).tolist()
    ends = np.cumsum(sizes(sets)).tolist()
    return [found[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def sizes(sets: Words) -> NDArray[np.int64]:
    """How many elements each set has."""
    counts = np.bitwise_count(sets) if _COUNTS_BITS else unpacked(sets)
    counted: NDArray[np.int64] = counts.sum(axis=1, dtype=np.int64)
    return counted


def has(sets: Words, element: int) -> NDArray[np.bool_]:
    """Which sets hold an element."""
    held: NDArray[np.bool_] = (sets[:, element >> 6] >> np.uint64(element & 63)) & np.uint64(1) != 0
    return held


def widened(sets: Words, words: int) -> Words:
    """The same sets in rows of at least `words` words."""
    lack = words - sets.shape[1]
    return np.ascontiguousarray(sets, np.uint64) if lack <= 0 else np.pad(sets, ((0, 0), (0, lack)))


def as_keys(sets: Words) -> NDArray[np.void]:
    """Each row as one opaque value that NumPy can sort and compare."""
    rows = np.ascontiguousarray(sets)
    return rows.view(np.dtype((np.void, 8 * rows.shape[1]))).ravel()


def holders(sets: Words) -> Words:
    """For each element the bitset of the sets that hold it, by their places."""
    inside = np.zeros((64 * sets.shape[1], words_for(len(sets))), np.uint64)
    index_keys(sets, 0, len(sets), inside)
    return inside


def places_among(sets: Words, others: Words) -> NDArray[np.int64]:
    """For each set its place among others, -1 where it isn't one of them. O(n + m) in a hash table."""
    table = KeyTable(others.shape[1], len(others))
    numbers = table.entries(others)
    places = np.full(table.used + 1, -1, np.int64)  # the last one is that of the number -1, which stands for no key
    places[numbers] = np.arange(len(others))
    return places.take(table.find(sets))


def among(sets: Words, others: Words) -> NDArray[np.bool_]:
    """Which sets are rows of `others` too."""
    marks: NDArray[np.bool_] = places_among(sets, others) >= 0
    return marks


def minus(sets: Words, others: Words) -> Words:
    """The sets that are not among others."""
    return sets[~among(sets, others)]


def containers(
    sets: Words, others: Words, begins: NDArray[np.int64] | None = None, ends: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """For each set the place of the first of the others that contains it, -1 where none does; begins and ends say among
    which of the others to look for each set (None: among all).
    """
    places = np.empty(len(sets), np.int64)
    begins = np.zeros(len(sets), np.int64) if begins is None else begins
    ends = np.full(len(sets), len(others)) if ends is None else ends
    first_above(np.ascontiguousarray(sets), np.ascontiguousarray(others), begins, ends, places)
    return places
