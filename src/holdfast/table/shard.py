"""Shards: immutable slices of the encoded table, column-major, with an index to find rows again.

A shard holds rows with ascending ids. Its index is the rows' 64-bit hashes (of the key columns, or of all columns
where no key is declared) in order, each with its row's place. Codes are stored as narrow as they allow.
The table knows which rows are dead, not the shard. A shard is memory-mapped from its file, or lives in memory until a
commit writes it. A file's column is checked whole when it is first used; `codes_at`, `search` and `places_at` look at
no more than the blocks that they read.
Cost: 1, 2 or 4 bytes a cell and 12 bytes a row; finding m rows is O(m log n).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.equal_rows import hash_rows
from holdfast.table import files
from holdfast.table.checks import CheckedArrays, PlainArrays

AnyCodes = NDArray[np.unsignedinteger]


@dataclass(frozen=True, eq=False)
class Shard:
    """Rows `ids[i]` with codes `columns[c][i]`; `hashes` is sorted, `places[j]` the row of `hashes[j]`."""

    ids: NDArray[np.int64] | range
    width: int
    held: CheckedArrays | PlainArrays  # the arrays by their names in a file
    path: str | None = None

    def __len__(self) -> int:
        return len(self.held.unchecked("place"))

    @property
    def columns(self) -> Sequence[AnyCodes]:
        """The codes of each column."""
        return _Columns(self.held, self.width)

    @property
    def hashes(self) -> NDArray[np.uint64]:
        """The rows' hashes, in order."""
        return np.asarray(self.held["hash"])

    @property
    def places(self) -> NDArray[np.uint32]:
        """The row of each hash."""
        return np.asarray(self.held["place"])

    def codes_at(self, column: int, places: slice | NDArray[Any]) -> AnyCodes:
        """The codes of a column in the rows at some places."""
        return np.asarray(self.held.some(f"code/{column}", places))

    def places_at(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of the hashes at some places of their order."""
        return np.asarray(self.held.some("place", at)).astype(np.int64)

    def search(self, hashes: NDArray[np.uint64], side: Literal["left", "right"]) -> NDArray[np.int64]:
        """Where hashes go in the order of the rows' hashes."""
        return self.held.search("hash", hashes, side)

    @cached_property
    def nbytes(self) -> int:
        """The bytes of codes and index, as a file keeps them."""
        ids = 0 if isinstance(self.ids, range) else self.ids.nbytes
        names = ["hash", "place", *(f"code/{c}" for c in range(self.width))]
        return ids + sum(int(self.held.unchecked(name).nbytes) for name in names)

    @property
    def first_id(self) -> int:
        """The id of the first row."""
        return int(self.ids[0])

    @property
    def last_id(self) -> int:
        """The id of the last row."""
        return int(self.ids[-1])

    def places_of(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the rows with some ids of this shard stand."""
        if isinstance(self.ids, range):
            return ids - self.first_id
        return np.searchsorted(self.ids, ids).astype(np.int64)

    def ids_of(self, places: NDArray[Any]) -> NDArray[np.int64]:
        """The ids of the rows at some places."""
        if isinstance(self.ids, range):
            return places.astype(np.int64) + self.first_id
        return np.asarray(self.ids[places])

    def id_array(self) -> NDArray[np.int64]:
        """All ids, as an array."""
        if isinstance(self.ids, range):  # NumPy would walk through it number by number
            return np.arange(self.ids.start, self.ids.stop, dtype=np.int64)
        return self.ids

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a segment file keeps of this shard."""
        arrays: dict[str, NDArray[Any]] = {f"code/{i}": codes for i, codes in enumerate(self.columns)}
        arrays |= {"hash": self.hashes, "place": self.places}
        if not isinstance(self.ids, range):
            arrays["id"] = self.ids
        return arrays


class _Columns(Sequence[AnyCodes]):
    """The columns of a shard, each read when it is needed."""

    def __init__(self, held: Mapping[str, Any], width: int) -> None:
        self._held, self._width = held, width

    def __len__(self) -> int:
        return self._width

    def __getitem__(self, column: Any) -> Any:
        if not -self._width <= column < self._width:
            raise IndexError(column)
        return self._held[f"code/{column % self._width}"]


def build(
    columns: list[AnyCodes],
    key: tuple[int, ...],
    ids: NDArray[np.int64] | range,
    hashes: NDArray[np.uint64] | None = None,
) -> Shard:
    """A shard in memory from codes of any width. `key` is empty where rows are found by their content; `hashes` are
    those of the rows, where known.
    """
    if hashes is None:
        hashes = hash_rows([columns[c] for c in key] if key else columns)
    places = np.argsort(hashes, kind="stable").astype(np.uint32)
    held = {f"code/{i}": narrowed(codes) for i, codes in enumerate(columns)}
    return Shard(ids, len(columns), PlainArrays(held, hash=hashes[places], place=places))


def load(path: str, first_id: int, width: int) -> Shard:
    """The shard of a segment file; ids count from `first_id` unless the file names them."""
    arrays, _ = files.read(path)
    return from_arrays(arrays, first_id, width, path)


def from_arrays(arrays: CheckedArrays, first_id: int, width: int, path: str) -> Shard:
    """The shard among the arrays of a segment file."""
    ids = arrays["id"] if "id" in arrays else range(first_id, first_id + len(arrays.unchecked("place")))
    return Shard(ids, width, arrays, path)


def narrowed(codes: AnyCodes) -> AnyCodes:
    """The same codes in as few bytes as they fit."""
    top = int(codes.max()) if len(codes) else 0
    return codes.astype(np.min_scalar_type(top), copy=False)
