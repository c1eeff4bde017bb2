"""What a comparison with null means: the one place that decides it.

| nulls | `null = null` | `null != x` | order |
|---|---|---|---|
| `equal` | true | true, of a value x | null is less than every value |
| `distinct` | false | true: a null is a value of its own | unknown |
| `sql` | false | false: a comparison with null is never true | unknown |

A table is declared `equal` or `distinct`. Searches for pairs of rows compare by `equal` or `sql`: a denial constraint
compares as SQL does, whatever its table declares.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from holdfast.errors import BadInput

NullMode = Literal["equal", "distinct"]  # as users name it


class Nulls(StrEnum):
    """A meaning of nulls. States, JSON and `print` have it as its text. Ask outside of loops; kernels take a bool."""

    EQUAL = "equal"
    DISTINCT = "distinct"
    SQL = "sql"

    @staticmethod
    def given(mode: GivenNulls) -> Nulls:
        """The meaning that a user declares for a table."""
        if mode not in (Nulls.EQUAL, Nulls.DISTINCT):
            raise BadInput(f"nulls can't be {mode!r}; give 'equal' or 'distinct'")
        return Nulls(mode)

    @property
    def are_equal(self) -> bool:
        """Whether null equals null, and is less than every value."""
        return self is Nulls.EQUAL

    @property
    def are_distinct(self) -> bool:
        """Whether a null differs from everything, from itself too, and has no place in the order."""
        return self is Nulls.DISTINCT

    def __repr__(self) -> str:
        return repr(self.value)


GivenNulls = Nulls | NullMode
