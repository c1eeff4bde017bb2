"""Rows that arrive in blocks, gathered in memory while they are few and in a temporary file when they are many.

The file has no name and is gone when the last array that maps it is. What is gathered is bounded by the disk, and
what stays in memory by `_IN_MEMORY`.
"""

from __future__ import annotations

import errno
import tempfile
import weakref
from typing import IO

import numpy as np

from holdfast.errors import BadInput
from holdfast.pairs.bitsets import Words

_IN_MEMORY = 128 << 20


class Blocks:
    """Gathers blocks of rows of `words` words."""

    def __init__(self, words: int, in_memory: int = _IN_MEMORY) -> None:
        self._words, self._in_memory = words, in_memory
        self._blocks: list[Words] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None

    def __len__(self) -> int:
        return self._bytes // (8 * self._words)

    def add(self, block: Words) -> None:
        """Take in a block; the caller may use its memory again."""
        try:
            self._add(block)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            raise BadInput(
                f"{tempfile.gettempdir()}: no space left for more than {len(self):,} results; ask for less "
                "(--max-lhs bounds left sides), or set TMPDIR to a larger disk"
            ) from None

    def _add(self, block: Words) -> None:
        self._bytes += block.nbytes
        if self._file is None and self._bytes > self._in_memory:
            self._file = tempfile.TemporaryFile(prefix="holdfast-")  # noqa: SIM115  # closed when all are gathered
            weakref.finalize(self, self._file.close)
            for early in self._blocks:
                self._file.write(early.data)
            self._blocks = []
        if self._file is None:
            self._blocks.append(block.copy())
        else:
            self._file.write(np.ascontiguousarray(block).data)

    def rows(self) -> Words:
        """All rows, in the order of their arrival. Ask once, at the end."""
        if self._file is None:
            return np.concatenate([np.empty((0, self._words), np.uint64), *self._blocks])
        with self._file as file:
            file.flush()
            mapped = np.memmap(file, np.uint64, "c", shape=(len(self), self._words))
            return np.asarray(mapped)  # kernels know plain arrays
