"""Some rows as columns: what looks at a batch gets the rows that came and went so, and no table.

A keeper of rules (`engines/given`) that knows nothing but such rows and its own state can run anywhere: in a thread, or
in a task that gets the rows of one piece.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.table.shard import AnyCodes
from holdfast.table.table import Table

Ids = NDArray[np.int64]
Places = NDArray[np.int64] | None  # of some rows; None: of all
IdsAt = Callable[[Places], Ids]


class Rows:
    """Ids, ascending, and the codes of each column. `encoding` says what codes mean: dictionaries and order keys of a
    table, which has no rows itself.
    """

    def __init__(self, encoding: Table, count: int, ids_at: IdsAt, codes_of: Callable[[int], AnyCodes]) -> None:
        """`ids_at(places)` and `codes_of(column)` are called when they are needed: ids of few rows cost few."""
        self.encoding, self._count, self.ids_at, self.codes = encoding, count, ids_at, codes_of

    @staticmethod
    def of(encoding: Table, ids: Ids, codes_of: Callable[[int], AnyCodes]) -> Rows:
        """Rows whose ids are at hand."""
        return Rows(encoding, len(ids), lambda places: ids if places is None else ids[places], codes_of)

    @staticmethod
    def at(table: Table, ids: Ids) -> Rows:
        """Some rows of a table."""
        codes = cache(lambda: table.codes(ids))
        return Rows.of(table.encoding, ids, lambda column: codes()[column])

    @staticmethod
    def living(table: Table, number: int) -> Rows:
        """The living rows of a shard, by its number."""
        shard, alive = table.shards[number], table.alive[number]
        own = None if alive is None else np.flatnonzero(alive)

        def ids_at(places: Places) -> Ids:
            at = own if places is None else places if own is None else own[places]
            return shard.id_array() if at is None else shard.ids_of(at)

        codes_of = cache(lambda column: shard.columns[column] if own is None else shard.columns[column][own])
        return Rows(table.encoding, len(shard) if own is None else len(own), ids_at, codes_of)

    @staticmethod
    def all_of(table: Table) -> Rows:
        """The living rows of a table."""
        if len(table.shards) == 1:
            return Rows.living(table, 0)
        ids = cache(table.living_ids)
        every = table.column_codes
        return Rows(table.encoding, table.rows, lambda places: ids() if places is None else ids()[places], every)

    def __len__(self) -> int:
        return self._count

    @cached_property
    def ids(self) -> Ids:
        """The ids of the rows."""
        return self.ids_at(None)

    def some(self, places: NDArray[np.int64]) -> Rows:
        """The rows at some places."""
        return Rows(
            self.encoding,
            len(places),
            lambda chosen: self.ids_at(places if chosen is None else places[chosen]),
            cache(lambda column: self.codes(column)[places]),
        )
