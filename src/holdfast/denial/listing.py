"""The violations of one rule with the rows they speak of: for people, and as tables for other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.denial.model import DenialConstraint
from holdfast.denial.violations import NOBODY
from holdfast.denial.words import columns_of, most_involved, sentence
from holdfast.errors import BadInput
from holdfast.table.plain import plain_rows
from holdfast.table.table import Table


@dataclass(frozen=True, eq=False)
class Listing:
    """The violations of a rule: their number, and the pairs unless only the number is kept."""

    rule: DenialConstraint
    table: Table
    count: int
    pairs: NDArray[np.int64] | None

    @property
    def listed(self) -> NDArray[np.int64]:
        """The pairs; an error where only their number is kept."""
        if self.pairs is None:
            raise BadInput(
                f"rule {self.rule.name}: only the number of its violations is kept ({self.count:,}); "
                "start the state with a higher --pair-limit to list them"
            )
        return self.pairs

    def shown_columns(self, row: str) -> list[str]:
        """What is shown of row t or s: the declared key, then what the rule looks at."""
        schema = self.table.schema
        return list(dict.fromkeys([*(schema.names[c] for c in schema.key), *columns_of(self.rule, row)]))

    def to_arrow(self, first: int | None = None) -> pa.Table:
        """One line a violation: the row ids, and of each row its key and the offending values."""
        pairs = self.listed[:first]
        columns: dict[str, Any] = {
            "rule": pa.array([self.rule.name] * len(pairs), pa.string()).dictionary_encode(),
            "t_row": pa.array(pairs[:, 0]),
        }
        sides = ["t"] if self.rule.is_single else ["t", "s"]
        if "s" in sides:
            columns["s_row"] = pa.array(pairs[:, 1])
        for place, side in enumerate(sides):
            values = self.table.values(pairs[:, place])
            columns |= {f"{side}.{name}": values.column(name) for name in self.shown_columns(side)}
        return pa.table(columns)

    def to_pandas(self) -> Any:
        """As a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_spark(self, spark: Any) -> Any:
        """As a Spark DataFrame."""
        return spark.createDataFrame(self.to_arrow())

    def violations(self, first: int | None = None) -> Iterator[dict[str, Any]]:
        """One object a violation, with the whole rows."""
        pairs = self.listed[:first]
        sides = [plain_rows(self.table.values(pairs[:, 0]))]
        if not self.rule.is_single:
            sides.append(plain_rows(self.table.values(pairs[:, 1])))
        for number, pair in enumerate(pairs.tolist()):
            rows = dict(zip(("t", "s"), (side[number] for side in sides), strict=False))
            yield {
                "kind": "violation",
                "table": self.rule.table,
                "rule": self.rule.name,
                "rows": [row for row in pair if row != NOBODY],
                **rows,
            }

    def explain(self, t: int, s: int | None = None) -> str:
        """One sentence about a violating pair (or row)."""
        asked = (t, NOBODY if s is None else s)
        for pair in (asked, asked[::-1]):
            if (self.listed == pair).all(axis=1).any():
                ids = [row for row in pair if row != NOBODY]
                values = plain_rows(self.table.values(np.array(ids)))
                return sentence(self.rule, pair, dict(zip(("t", "s"), values, strict=False)))
        raise BadInput(f"rows {t} and {s} don't violate rule {self.rule.name}" if s is not None else
                       f"row {t} doesn't violate rule {self.rule.name}")  # fmt: skip

    def most_involved(self, most: int = 10) -> list[tuple[int, int]]:
        """The rows that take part in the most violations, with how many: what to fix first."""
        return most_involved(self.listed, most)
