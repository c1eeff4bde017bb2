"""SQLite's write-ahead log as a file: which pages it holds, by its own checksums (sqlite.org/fileformat2.html, 4).

A log is a header and frames: a page each, with a running checksum over everything before it. Frames count up to the
first one that does not fit, and up to the last one that ends a transaction. SQLite takes no lock on this file, so we
may open and close it while a connection is open. Never do that with the database itself: closing it drops SQLite's
locks.

Cost: some 10 us a frame, so reading what a batch wrote takes a fraction of a millisecond.
"""

from __future__ import annotations

import os
import struct
import zlib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_HEADER, _FRAME = struct.Struct(">IIII8sII"), struct.Struct(">II8sII")
_MAGIC = 0x377F0682  # with a last bit that says in which order the bytes of a checksum's words are
_AT_ONCE = 16  # frames
Words = NDArray[np.uint32]
Weights = tuple[Words, tuple[int, int]]


class Frame(NamedTuple):
    """A page in the log: its number, its CRC-32, and how many pages the database has if a transaction ends here."""

    page: int
    crc: int
    pages: int


class Position(NamedTuple):
    """A place in a log: after this many frames of the log with these salts. A log that begins again has other salts."""

    salts: bytes = bytes(8)
    frames: int = 0


class Log(NamedTuple):
    """The frames of whole transactions after a position, and the position after them; `whole` if no frame of this log
    before that position is missing.
    """

    frames: list[Frame]
    end: Position
    whole: bool


def read_after(path: Path, position: Position) -> Log:
    """What a log holds after a position; all of it, if it has begun again since."""
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return Log([], position, whole=True)
    try:
        return _read_after(file, position)
    finally:
        os.close(file)


def whole_up_to(path: Path, position: Position) -> bool:
    """Whether all frames of a log before a position are what was written; true if it has begun again since."""
    start = read_after(path, Position())
    return start.whole and (start.end.salts != position.salts or start.end.frames >= position.frames)


def _read_after(file: int, position: Position) -> Log:
    head = os.pread(file, _HEADER.size, 0)
    if len(head) < _HEADER.size:
        return Log([], position, whole=not head)
    magic, _, size, _, salts, *checksum = _HEADER.unpack(head)
    order = ">u4" if magic & 1 else "<u4"
    known, length = 0, _FRAME.size + size
    if salts == position.salts and position.frames:
        known = position.frames
        last = os.pread(file, _FRAME.size, _HEADER.size + (known - 1) * length)
        if len(last) < _FRAME.size:
            return Log([], position, whole=False)
        checksum = list(_FRAME.unpack(last)[3:])
    elif magic & ~1 != _MAGIC or _after((0, 0), np.frombuffer(head, order, 6)[None], _weights(3)) != [tuple(checksum)]:
        return Log([], position, whole=False)
    found = _frames(file, _HEADER.size + known * length, size, order, salts, (checksum[0], checksum[1]))
    ends = [number for number, frame in enumerate(found, 1) if frame.pages]
    complete = found[: ends[-1] if ends else 0]
    return Log(complete, Position(salts, known + len(complete)), whole=True)


def _frames(file: int, at: int, size: int, order: str, salts: bytes, running: tuple[int, int]) -> list[Frame]:
    """The frames from here on whose checksums continue those before."""
    found: list[Frame] = []
    length = _FRAME.size + size
    weights = _frame_weights(size)
    while count := len(block := os.pread(file, _AT_ONCE * length, at)) // length:
        words = np.frombuffer(block, order, count * length // 4).reshape(count, -1)
        view = memoryview(block)
        for start, expected in zip(range(0, count * length, length), _after(running, words, weights), strict=True):
            page, pages, own, *checksum = _FRAME.unpack_from(block, start)
            if own != salts or tuple(checksum) != expected:
                return found
            running = expected
            found.append(Frame(page, zlib.crc32(view[start + _FRAME.size : start + length]), pages))
        at += count * length
    return found


def _after(running: tuple[int, int], rows: Words, weights: Weights) -> list[tuple[int, int]]:
    """The checksum after each row of words. A pair of words (a, b) makes of (s, t): s + t + a, and s + 2t + a + b."""
    of_words, (x, y) = weights
    found = []
    own = np.einsum("ij,kj->ik", rows.astype(np.uint32, copy=False), of_words)  # five times as fast as a product here
    for own_s, own_t in own.tolist():
        s, t = running
        running = ((x * s + y * t + own_s) % 2**32, (y * s + (x + y) * t + own_t) % 2**32)
        found.append(running)
    return found


@lru_cache
def _weights(pairs: int) -> Weights:
    """What each word adds to both parts of a checksum over this many pairs, and what the checksum before adds. The
    step of a pair is the matrix (1 1; 1 2), whose powers are (x y; y x+y).
    """
    found, x, y = [], 1, 0
    for _ in range(pairs):  # the last one first
        z = (x + y) % 2**32
        found += [(y, z), (z, (y + z) % 2**32)]
        x, y = z, (y + z) % 2**32
    return np.array(found[::-1], np.uint32).T.copy(), (x, y)


@lru_cache
def _frame_weights(size: int) -> Weights:
    """The same for a whole frame; of its header, the checksum covers the first two words."""
    summed, before = _weights((8 + size) // 8)
    found = np.zeros((2, summed.shape[1] + 4), np.uint32)
    found[:, :2], found[:, 6:] = summed[:, :2], summed[:, 2:]
    return found, before
