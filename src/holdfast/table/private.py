"""Files mapped for writing in memory alone: what changes is copied page by page, and the file stays what it is.

For large arrays of which a process reads and changes a few places: opening them costs nothing, however large they are.
The arrays come unchecked, as a check would read them whole. Whoever uses them checks what is about to be used, or what
was used before an answer is given out; `check` and `check_some` look at the file, whatever has changed in memory.
A file that doesn't lie on this machine is read and checked whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc

from holdfast.errors import Damaged
from holdfast.table import files


class PrivateArrays:
    """The arrays of numbers in a file, by name, to read and to change in memory."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._checked, self.facts = files.read(path)
        self._offsets: dict[str, int] = {}
        if "://" not in path:
            self._offsets = offsets(path)
            self._bytes = np.memmap(path, np.uint8, "c")

    def __getitem__(self, name: str) -> NDArray[Any]:
        """An array, not checked yet; what is written to it stays in memory."""
        if name not in self._offsets:
            return np.array(self._checked[name])
        kept = self._checked.some(name, slice(0, 0)).dtype
        start, size = self._offsets[name], self._checked.nbytes(name)
        return np.asarray(self._bytes[start : start + size]).view(kept)

    def check(self, name: str) -> None:
        """Look at a whole array. Raises where it is not what was written."""
        _ = self._checked[name]

    def check_some(self, name: str, places: NDArray[np.int64]) -> None:
        """Look at the parts of an array that hold some places."""
        self._checked.some(name, places)


def offsets(path: str) -> dict[str, int]:
    """Where the numbers of each array begin in a file."""
    try:
        with pa.memory_map(path) as source:
            start = source.read_buffer().address
            source.seek(0)
            batch = ipc.open_file(source).get_batch(0)
            return {
                name: column.values.buffers()[1].address - start
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
                if len(column.values)
            }
    except pa.ArrowException as error:
        raise Damaged(path, str(error)) from None
