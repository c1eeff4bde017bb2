"""Who the rows of a table are: their keys, what they are called, and which of them broke a rule. Only what is shown is
read.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import Witness
from holdfast.table.plain import Plain, plain_values
from holdfast.table.table import Schema, Table
from holdfast.text.row_names import by_number, named, naming_columns

Ids = NDArray[np.int64]
Rule = TypeVar("Rule", bound=Hashable)


def key_names(schema: Schema) -> list[str]:
    """The columns of the declared key."""
    return [schema.names[c] for c in schema.key]


def naming_key(schema: Schema) -> list[str]:
    """The columns by which messages name rows: those of the declared key, or of the best one that was suggested."""
    return [schema.names[c] for c in schema.key or schema.named_by]


def names_nothing_new(schema: Schema, said: Sequence[str]) -> bool:
    """Whether a key that is not declared names rows by values that are said anyway, perhaps because two rows share it:
    then rows keep their numbers.
    """
    return not schema.key and set(naming_key(schema)) <= set(said)


def keys_of(table: Table, ids: Ids) -> tuple[dict[str, Plain], ...]:
    """The keys of some rows that lie in the table; none where there is none to name them by."""
    key = naming_key(table.schema)
    return tuple(some_values(table, ids, key)) if key else ()


def names_of(table: Table, ids: Ids, first: Sequence[str] = ()) -> list[str]:
    """What some rows are called, dead or alive; those that the table has lost, by their number."""
    lie_here, _ = table.which_live(ids)
    there = ids[lie_here]
    keys = keys_of(table, there)
    values = [] if keys else some_values(table, there, naming_columns(table.schema.names, first))
    names = dict(zip(there.tolist(), named(there.tolist(), keys, values, first), strict=True))
    return [names.get(number) or by_number(number) for number in ids.tolist()]


def some_values(table: Table, ids: Ids, names: Sequence[str]) -> list[dict[str, Plain]]:
    """The values of some rows in some columns."""
    codes = table.codes(ids)
    columns = [table.schema.names.index(name) for name in names]
    values = [plain_values(table.dictionaries[c].values(codes[c])) for c in columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def witnesses_of(table: Table, pairs: Mapping[Rule, tuple[int, ...]]) -> dict[Rule, Witness]:
    """Pairs of rows, or single ones, by the rule that they break, with values and keys, which are read once for all."""
    ids = np.array(sorted({row for pair in pairs.values() for row in pair}), np.int64)
    values = dict(zip(ids.tolist(), some_values(table, ids, table.schema.names), strict=True))
    key = naming_key(table.schema)
    keys = {row: {name: own[name] for name in key} for row, own in values.items()}
    made = {
        pair: Witness(pair, tuple(values[row] for row in pair), tuple(keys[row] for row in pair) if key else ())
        for pair in set(pairs.values())
    }
    return {rule: made[pair] for rule, pair in pairs.items()}
