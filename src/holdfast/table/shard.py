"""Shards: immutable slices of the encoded table, column-major, with an index to find rows again.

A shard holds rows with ascending ids. Its index is the rows' 64-bit hashes (of the key columns, or of all columns
where no key is declared) in order, with the rows' places beside them. Codes are stored as narrow as they allow.
Dead rows are marked beside the shard, by the table. A shard is memory-mapped from its file, or lives in memory until
a commit writes it.
Cost: 1, 2 or 4 bytes a cell and 12 bytes a row; finding m rows is O(m log n).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.batch import hash_rows
from holdfast.table import files

AnyCodes = NDArray[np.unsignedinteger]


@dataclass(frozen=True, eq=False)
class Shard:
    """Rows `ids[i]` with codes `columns[c][i]`; `hashes` is sorted, `places[j]` the row of `hashes[j]`."""

    ids: NDArray[np.int64] | range
    columns: tuple[AnyCodes, ...]
    hashes: NDArray[np.uint64]
    places: NDArray[np.uint32]
    path: str | None = None

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def nbytes(self) -> int:
        """The bytes of codes and index, as a file keeps them."""
        return sum(array.nbytes for array in self.arrays().values())

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


def build(columns: list[AnyCodes], key: tuple[int, ...], ids: NDArray[np.int64] | range) -> Shard:
    """A shard in memory from codes of any width. `key` is empty where rows are found by their content."""
    hashes = hash_rows([columns[c] for c in key] if key else columns)
    places = np.argsort(hashes, kind="stable").astype(np.uint32)
    return Shard(ids, tuple(narrowed(c) for c in columns), hashes[places], places)


def load(path: str, first_id: int, width: int) -> Shard:
    """The shard of a segment file; ids count from `first_id` unless the file names them."""
    arrays, _ = files.read(path)
    return from_arrays(arrays, first_id, width, path)


def from_arrays(arrays: dict[str, Any], first_id: int, width: int, path: str) -> Shard:
    """The shard among the arrays of a segment file."""
    ids = arrays.get("id", range(first_id, first_id + len(arrays["place"])))
    columns = tuple(arrays[f"code/{i}"] for i in range(width))
    return Shard(ids, columns, arrays["hash"], arrays["place"], path)


def narrowed(codes: AnyCodes) -> AnyCodes:
    """The same codes in as few bytes as they fit."""
    top = int(codes.max()) if len(codes) else 0
    return codes.astype(np.min_scalar_type(top), copy=False)
