"""The violations of one given rule with the rows they speak of: for people, and as tables for other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.changes.diff import NOBODY
from holdfast.errors import BadInput, refuse_below
from holdfast.rules.given import Named
from holdfast.rules.rule import Rule
from holdfast.table.frames import Framed
from holdfast.table.plain import plain_rows
from holdfast.table.row_names import key_names, names_of, naming_key
from holdfast.table.table import Table
from holdfast.visible import Printed, accepted_words, counted

_PRINTED = 5  # violations that `print()` shows


@dataclass(frozen=True, eq=False, repr=False)
class Listing(Printed, Framed):
    """The violations of a rule: their number, and the pairs unless only the number is stored.

    >>> import holdfast as hf, pyarrow as pa
    >>> listing = hf.check(pa.table({"id": [1, 1, 2]}), "key(id)").listings[0]
    >>> listing
    key1: 1 violation of key(id)
      t_row 1, s_row 0, t.id 1, s.id 1
    >>> listing.to_pandas().columns.tolist()
    ['rule', 't_row', 's_row', 't.id', 's.id']
    """

    rule: Named[Rule]
    table: Table
    count: int
    pairs: NDArray[np.int64] | None
    looked_at: dict[str, list[str]]  # the columns that the rule looks at in row t, and in row s if there are two
    accepted: int | None = None  # how many are; None: nobody accepted any

    def lines(self) -> list[str]:
        """The rule, the number of its violations, and the first ones."""
        rows = [] if self.pairs is None else self.to_arrow(_PRINTED).to_pylist()
        numbers = [f"{row}_row" for row in self.looked_at] if naming_key(self.table.schema) else []
        return [
            f"{self.rule.name}: {counted(self.count, 'violation')} of {self.rule.text}{self.accepted_words}",
            *("  " + ", ".join(f"{k} {v!r}" for k, v in row.items() if k not in ("rule", *numbers)) for row in rows),
            *([f"  … and {self.count - _PRINTED:,} more"] if self.count > _PRINTED else []),
        ]

    @property
    def accepted_words(self) -> str:
        """How many violations are accepted, in words."""
        return accepted_words(self.count, self.accepted)

    @property
    def listed(self) -> NDArray[np.int64]:
        """The pairs; an error where only their number is stored."""
        if self.pairs is None:
            raise BadInput(
                f"rule {self.rule.name}: only the number of its violations is kept ({self.count:,}); "
                "start the state with a higher --pair-limit to list them"
            )
        return self.pairs

    def cut_to(self, most: int) -> Listing:
        """The same listing with at most `most` of its pairs; the others are let go."""
        return self if self.pairs is None or len(self.pairs) <= most else replace(self, pairs=self.pairs[:most].copy())

    def shown_columns(self, row: str) -> list[str]:
        """What is shown of row t or s: the key that names it, then what the rule looks at."""
        return list(dict.fromkeys([*naming_key(self.table.schema), *self.looked_at[row]]))

    def names(self, ids: NDArray[np.int64]) -> list[str]:
        """What some rows are called: by their key, or by their values, first of the columns that the rule looks at."""
        looked_at = [name for names in self.looked_at.values() for name in names]
        return names_of(self.table, ids, list(dict.fromkeys(looked_at)))

    def to_arrow(self, first: int | None = None) -> pa.Table:
        """One line for each of the `first` violations: row ids, keys and the offending values."""
        refuse_below(0, first, "the number of violations to list")
        pairs = self.listed[:first]
        columns: dict[str, Any] = {"rule": pa.array([self.rule.name] * len(pairs), pa.string()).dictionary_encode()}
        columns |= {f"{row}_row": pa.array(pairs[:, place]) for place, row in enumerate(self.looked_at)}
        for place, row in enumerate(self.looked_at):
            values = self.table.values(pairs[:, place])
            columns |= {f"{row}.{name}": values.column(name) for name in self.shown_columns(row)}
        return pa.table(columns)

    def to_json(self) -> dict[str, Any]:
        """The rule with the number of its violations; `listed` says that the pairs are stored, too."""
        rule, listed = self.rule, self.pairs is not None
        about = {"kind": "rule", "table": rule.table, "rule": rule.name, "text": rule.text}
        accepted = {} if self.accepted is None else {"accepted": self.accepted}
        return {**about, "violations": self.count, "listed": listed, **accepted}

    def violations(self, first: int | None = None) -> Iterator[dict[str, Any]]:
        """One object for each of the `first` violations, with the whole rows, and their keys where one is declared."""
        refuse_below(0, first, "the number of violations to list")
        pairs = self.listed[:first]
        key = key_names(self.table.schema)
        sides = [plain_rows(self.table.values(pairs[:, place])) for place, _ in enumerate(self.looked_at)]
        for number, pair in enumerate(pairs.tolist()):
            rows = dict(zip(self.looked_at, (side[number] for side in sides), strict=True))
            yield {
                "kind": "violation",
                "table": self.rule.table,
                "rule": self.rule.name,
                "rows": [row for row in pair if row != NOBODY],
                **({"keys": [{name: row[name] for name in key} for row in rows.values()]} if key else {}),
                **rows,
            }
