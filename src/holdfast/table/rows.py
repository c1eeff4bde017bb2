"""Some rows as columns: what looks at a batch gets the rows that came and went so, and no table.

A keeper of rules (`engines/given`) that knows nothing but such rows and its own state can run anywhere: in a thread, or
in a task that gets the rows of one piece.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property, partial

import numpy as np
from numpy.typing import NDArray

from holdfast.table.shard import AnyCodes
from holdfast.table.table import Table

Ids = NDArray[np.int64]


class Rows:
    """Ids, ascending, and the codes of each column. `encoding` says what codes mean: dictionaries and order keys of a
    table, which has no rows itself.
    """

    def __init__(
        self, encoding: Table, ids: Callable[[], Ids], count: int, codes_of: Callable[[int], AnyCodes]
    ) -> None:
        """`ids()` and `codes_of(column)` are asked when first needed."""
        self.encoding, self._ids_of, self._count, self._codes_of = encoding, ids, count, codes_of

    @staticmethod
    def at(table: Table, ids: Ids) -> Rows:
        """Some rows of a table."""
        codes = table.codes(ids)
        return Rows(table.encoding, lambda: ids, len(ids), lambda column: codes[column])

    @staticmethod
    def living(table: Table, number: int) -> Rows:
        """The living rows of a shard, by its number."""
        shard, alive = table.shards[number], table.alive[number]
        if alive is None:
            return Rows(table.encoding, shard.id_array, len(shard), cache(lambda column: shard.columns[column]))
        places = np.flatnonzero(alive)
        ids, codes = partial(shard.ids_of, places), cache(lambda column: shard.columns[column][places])
        return Rows(table.encoding, ids, len(places), codes)

    @staticmethod
    def all_of(table: Table) -> Rows:
        """The living rows of a table."""
        return Rows(
            table.encoding, table.living_ids, table.rows, lambda column: table.column_codes(column).view(np.uint64)
        )

    @staticmethod
    def none_of(table: Table) -> Rows:
        """No rows of a table."""
        return Rows(table.encoding, lambda: np.empty(0, np.int64), 0, lambda _: np.empty(0, np.uint32))

    def __len__(self) -> int:
        return self._count

    @cached_property
    def ids(self) -> Ids:
        """The ids of the rows."""
        return self._ids_of()

    def codes(self, column: int) -> AnyCodes:
        """The codes of a column, in the order of the ids."""
        return self._codes_of(column)
