"""What a batch did to a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.batch import Codes
from holdfast.table.table import Table


@dataclass(frozen=True)
class Change:
    """What a batch did to a table: the table before and after, the ids born, and the ids that died."""

    before: Table
    after: Table
    born: range
    dead: NDArray[np.int64]

    @property
    def table(self) -> str:
        """The name of the table."""
        return self.after.schema.name

    @cached_property
    def inserted(self) -> Codes:
        """The codes of the rows born, `[column, row]`."""
        return self.after.codes(np.arange(self.born.start, self.born.stop, dtype=np.int64))

    @cached_property
    def deleted(self) -> Codes:
        """The codes of the rows that died."""
        return self.before.codes(self.dead)
