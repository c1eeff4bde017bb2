"""Files mapped for writing in memory alone: what changes is copied page by page, and the file stays what it is.

For large arrays of which a process reads and changes a few places: opening them costs nothing, however large they are.
Such an array comes unchecked, as a check would read it whole; the owner of such a file stores checksums of its
parts, and checks what it looks at. Only files of this machine can be mapped.

Systems that keep a file in large pieces in memory count a whole piece as memory of a process that looks at one byte of
it. So a file that was just written is let go, and what is read of it by the map comes page by page.
"""

from __future__ import annotations

import mmap
import os
import weakref
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc

from holdfast.errors import Damaged, Missing
from holdfast.table import checks
from holdfast.table.checks import Described

Places = dict[str, tuple[int, int, np.dtype[Any]]]  # of each array: begin and end in bytes, and the type of its numbers


class PrivateArrays:
    """The arrays of numbers in a file, by name, to read and to change in memory."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._places, self._about, self.facts = _contents(path)
            self._file = os.open(path, os.O_RDONLY)
            weakref.finalize(self, os.close, self._file)
            self._map = mmap.mmap(self._file, 0, access=mmap.ACCESS_COPY)
        except FileNotFoundError:
            raise Missing(path) from None
        except (ValueError, KeyError, TypeError, pa.ArrowException) as error:  # nobody wrote this
            raise Damaged(path, str(error).partition("\n")[0]) from None
        self._bytes = np.frombuffer(self._map, np.uint8)
        self._advise("MADV_RANDOM")

    def read_ahead(self) -> None:
        """From now on the arrays are read from end to end, not here and there."""
        self._advise("MADV_SEQUENTIAL")

    def _advise(self, how: str) -> None:
        if hasattr(mmap, how):
            self._map.madvise(getattr(mmap, how))

    def read(self, name: str) -> NDArray[Any]:
        """A whole array, checked."""
        start, stop, dtype = self._places[name]
        whole = np.empty((stop - start) // dtype.itemsize, dtype)
        inside = whole.view(np.uint8).data
        done = 0
        while done < len(inside):
            done += os.preadv(self._file, [inside[done:]], start + done) or self._end(name)
        for block in range(len(self._about[name].crcs[0])):
            checks.check_block(self.path, self._about[name], 0, whole.view(np.uint8), block)
        return whole

    def mapped(self, name: str) -> NDArray[Any]:
        """An array, not checked yet; what is written to it stays in memory."""
        start, stop, dtype = self._places[name]
        return self._bytes[start:stop].view(dtype)

    def _end(self, name: str) -> int:
        raise Damaged(self.path, f"it ends within {name}")


def let_go(path: str) -> None:
    """Have the system forget what it holds of a file in memory; the file is on the disk already."""
    if hasattr(os, "posix_fadvise"):
        file = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)


def _contents(path: str) -> tuple[Places, dict[str, Described], dict[str, Any]]:
    """Where the arrays lie, what the file says of them, and its facts."""
    with pa.memory_map(path) as source:
        first = source.read_buffer().address
        source.seek(0)
        batch = ipc.open_file(source).get_batch(0)
        facts, about = checks.described(batch.schema.metadata)
        places: Places = {}
        for name, array in checks.plain_arrays(batch, about).items():
            start = array.ctypes.data - first if len(array) else 0
            places[name] = start, start + array.nbytes, array.dtype
        return places, {each.name: each for each in about}, facts
