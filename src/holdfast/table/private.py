"""Files mapped for writing in memory alone: what changes is copied page by page, and the file stays what it is.

For large arrays of which a process reads and changes a few places: opening them costs nothing, however large they are.
Such an array comes unchecked, as a check would read it whole. Whoever uses it has checked what was used before an
answer is given out; `check_some` looks at the file, whatever has changed in memory. It reads the file by other means
than the map: a system may count large parts around a few bytes that were looked at as memory of the process.
A file that doesn't lie on this machine is read and checked whole.
"""

from __future__ import annotations

import mmap
import os
import weakref
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc

from holdfast.errors import Damaged, Missing
from holdfast.table import checks, files
from holdfast.table.checks import Described

Places = dict[str, tuple[int, int, np.dtype[Any]]]  # of each array: begin and end in bytes, and the type of its numbers


class PrivateArrays:
    """The arrays of numbers in a file, by name, to read and to change in memory."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._far: checks.CheckedArrays | None = None
        if "://" in path:
            self._far, self.facts = files.read(path)
            return
        try:
            self._places, self._about, self.facts = _contents(path)
            self._file = os.open(path, os.O_RDONLY)  # open as long as the arrays are: its name may go before
            weakref.finalize(self, os.close, self._file)
            self._bytes = np.frombuffer(mmap.mmap(self._file, 0, access=mmap.ACCESS_COPY), np.uint8)
        except FileNotFoundError:
            raise Missing(path) from None
        except (ValueError, KeyError, TypeError, pa.ArrowException) as error:  # nobody wrote this
            raise Damaged(path, str(error).partition("\n")[0]) from None
        self._right = {each.name: np.zeros(len(each.crcs[0]), np.bool_) for each in self._about.values()}

    def read(self, name: str) -> NDArray[Any]:
        """A whole array, checked."""
        if self._far is not None:
            return np.array(self._far[name])
        start, stop, dtype = self._places[name]
        whole = np.empty((stop - start) // dtype.itemsize, dtype)
        inside = whole.view(np.uint8).data
        done = 0
        while done < len(inside):
            done += os.preadv(self._file, [inside[done:]], start + done) or self._end(name)
        for block, crc in enumerate(self._about[name].crcs[0]):
            size = self._about[name].block
            self._compare(name, block, inside[block * size : (block + 1) * size], int(crc))
        return whole

    def mapped(self, name: str) -> NDArray[Any]:
        """An array, not checked yet; what is written to it stays in memory."""
        if self._far is not None:
            return self.read(name)
        start, stop, dtype = self._places[name]
        return self._bytes[start:stop].view(dtype)

    def check(self, name: str) -> None:
        """Look at a whole array. Raises where it is not what was written."""
        if self._far is None:
            self._look(name, range(len(self._right[name])))

    def check_some(self, name: str, places: NDArray[np.int64]) -> None:
        """Look at the parts of an array that hold some places."""
        if self._far is None and len(places):
            _, _, dtype = self._places[name]
            self._look(name, np.unique(places * dtype.itemsize // self._about[name].block).tolist())

    def _look(self, name: str, blocks: Iterable[int]) -> None:
        start, stop, _ = self._places[name]
        size, crcs = self._about[name].block, self._about[name].crcs[0]
        for block in blocks:
            if not self._right[name][block]:
                begin = start + block * size
                part = os.pread(self._file, min(size, stop - begin), begin)
                self._compare(name, block, part, int(crcs[block]))
                self._right[name][block] = True

    def _compare(self, name: str, block: int, part: bytes | memoryview, crc: int) -> None:
        if zlib.crc32(part) != crc:
            total = len(self._about[name].crcs[0])
            raise Damaged(self._path, f"block {block + 1} of {total} of {name} differs from its checksum")

    def _end(self, name: str) -> int:
        raise Damaged(self._path, f"it ends within {name}")


def places_in(path: str) -> Places:
    """Where the arrays of a local file lie."""
    return _contents(path)[0]


def _contents(path: str) -> tuple[Places, dict[str, Described], dict[str, Any]]:
    """Where the arrays lie, what the file says of them, and its facts."""
    with pa.memory_map(path) as source:
        first = source.read_buffer().address
        source.seek(0)
        batch = ipc.open_file(source).get_batch(0)
        facts, about = checks.described(batch.schema.metadata)
        if about is None:
            raise ValueError("it has no checksums")
        places: Places = {}
        for name, array in checks.plain_arrays(batch, about).items():
            start = array.ctypes.data - first if len(array) else 0
            places[name] = start, start + array.nbytes, array.dtype
        return places, {each.name: each for each in about}, facts
