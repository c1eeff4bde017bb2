"""The indexes of a pair search in files: what a checkpoint stores of them, and when they are written.

An index costs more to make than to map, and more to write than a checkpoint should cost. So each has a file of its own,
which is written once and stays while the table changes: a checkpoint names the file and the keys of the rows in
it that died since. Opening it takes these out again and puts in the rows that were born since, which the table
has. A file is written again when so much has changed that opening it would not pay, and when the process that
writes a checkpoint had to add many rows when it opened the file: later processes would have to, too.
Cost: 8 bytes a row and dimension, and 8 for the id, by about 1.5; a checkpoint writes what died since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.search.index import MUCH, IndexFile, PairIndex
from holdfast.search.operands import Spaces
from holdfast.table import files
from holdfast.table.table import Table

FEWEST = 1 << 15  # rows: an index of fewer is made again as fast as it is opened
_FEW = 1 << 11  # rows that are made up for in no time


@dataclass(frozen=True)
class IndexFiles:
    """What a checkpoint knows of the indexes of a search: the numbers of distinct values by which they were laid out,
    the table's rows at that time, and the file of each, if it has one.
    """

    distinct: list[int]
    laid_out_at: int
    indexes: list[IndexFile | None]

    def dump(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays and facts from which `load` makes the same."""
        arrays: dict[str, NDArray[Any]] = {}
        for number, written in enumerate(self.indexes):
            if written is not None and written.deleted:
                arrays[f"{number}/ids"] = np.concatenate([ids for _, ids in written.deleted])
                arrays[f"{number}/keys"] = np.concatenate([keys for keys, _ in written.deleted], axis=1).reshape(-1)
        names = [None if each is None else each.path.rpartition("/")[2] for each in self.indexes]
        return arrays, {"distinct": self.distinct, "laid_out_at": self.laid_out_at, "files": names}

    @staticmethod
    def load(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any], folder: str) -> IndexFiles:
        """What `dump` described, of files in a folder."""
        indexes: list[IndexFile | None] = []
        for number, name in enumerate(facts["files"]):
            written = None if name is None else IndexFile(f"{folder}/{name}")
            if written is not None and f"{number}/ids" in arrays:
                ids = np.array(arrays[f"{number}/ids"])
                written.deleted.append((np.array(arrays[f"{number}/keys"]).reshape(-1, len(ids)), ids))
            indexes.append(written)
        return IndexFiles(list(facts["distinct"]), int(facts["laid_out_at"]), indexes)


def write_where_due(indexes: Sequence[PairIndex], spaces: Spaces, table: Table, folder: str) -> None:
    """Write the indexes that have no file, or one that it takes long to make up for."""
    for index in indexes:
        rows, written = len(index.tree), index.written
        due = written is None or written.drift * MUCH > rows or written.made_up_for > _FEW
        if due and rows >= FEWEST and index.is_lasting(spaces):
            index.write(files.new_path(folder), table)
