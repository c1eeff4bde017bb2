"""What a batch did to a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.equal_rows import Codes, group_rows
from holdfast.table.rows import Rows
from holdfast.table.table import Table

K = TypeVar("K")


@dataclass(frozen=True)
class Change:
    """What a batch did to a table: the table before and after, the ids born, and the ids that died."""

    before: Table
    after: Table
    born: range
    dead: NDArray[np.int64]
    _made: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def made_once(self, make: Callable[..., K], *given: Any) -> K:
        """What a function makes of this change, and of what else it is given: once for all engines."""
        if (make, *given) not in self._made:
            self._made[make, *given] = make(self, *given)
        return cast(K, self._made[make, *given])

    @property
    def table(self) -> str:
        """The name of the table."""
        return self.after.schema.name

    @cached_property
    def born_ids(self) -> NDArray[np.int64]:
        """The ids born."""
        return np.arange(self.born.start, self.born.stop, dtype=np.int64)

    @cached_property
    def inserted(self) -> Codes:
        """The codes of the rows born, `[column, row]`."""
        return self.after.codes(self.born_ids)

    @cached_property
    def deleted(self) -> Codes:
        """The codes of the rows that died."""
        return self.before.codes(self.dead)

    @property
    def come(self) -> Rows:
        """The rows born, as columns."""
        return Rows.of(self.after.encoding, self.born_ids, lambda column: self.inserted[column])

    @property
    def gone(self) -> Rows:
        """The rows that died, as columns, by id."""
        return Rows.of(self.after.encoding, self.dead, lambda column: self.deleted[column])

    @cached_property
    def updated(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows that were updated: ids that died, ascending, and for each the id born with the same declared key.
        Without a key rows have no name that lasts, and none is the update of another.
        """
        key = list(self.after.schema.key)
        if not key or not len(self.dead) or not len(self.born_ids):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        groups = group_rows(np.concatenate([self.deleted[key], self.inserted[key]], axis=1))
        of_dead, of_born = np.split(groups.of_row, [len(self.dead)])
        born = np.full(groups.count, -1, np.int64)
        born[of_born] = self.born_ids
        there = born[of_dead] >= 0
        old, new = self.dead[there], born[of_dead][there]
        order = np.argsort(old)
        return old[order], new[order]


@dataclass(frozen=True)
class ChangeOfSome(Change):
    """What a batch did to some rows of a table, before and after which the others count as dead. Of the ids born these
    rows have only `ids`.
    """

    ids: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    @cached_property
    def born_ids(self) -> NDArray[np.int64]:
        """The ids born."""
        return self.ids


class Batch:
    """The changes of all tables of one transaction: at most one of each table, all made before anyone sees one. `at` is
    the time at which it is applied; None where batches are replayed together.
    """

    def __init__(self, changes: Sequence[Change], at: datetime | None = None) -> None:
        self.changes, self.at = tuple(changes), at

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def of(self, table: str) -> Change | None:
        """What it did to a table, if anything."""
        return next((change for change in self.changes if change.table == table), None)

    def in_table(self, table: str) -> Batch:
        """What it did to one table."""
        return Batch([change for change in self.changes if change.table == table], self.at)

    @property
    def only(self) -> Change:
        """The change of the one table that it is about."""
        (change,) = self.changes
        return change
