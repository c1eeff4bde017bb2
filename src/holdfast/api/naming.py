"""Which key names the rows of a table in messages, where none is declared: the best one that was suggested.

Only messages use it: rows are still found by their content, and the key may have violations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.rules.dependency import Key
from holdfast.rules.given import TableRules
from holdfast.rules.registry import parse
from holdfast.store.records import TableRecord
from holdfast.table.table import Schema, Table

Given = Mapping[str, Mapping[str, TableRules]]  # by class and table


def named(schema: Schema, given: Given) -> Schema:
    """The schema with the columns that name its rows."""
    return replace(schema, named_by=() if schema.key else _best_key(schema, given))


def named_table(table: Table, given: Given) -> Table:
    """The table with these columns."""
    schema = named(table.schema, given)
    return replace(table, schema=schema, where=table.where and replace(table.where, schema=schema))


def named_record(record: TableRecord, given: Given) -> TableRecord:
    """The record of a table with these columns."""
    schema = named(record.schema, given)
    return replace(record, schema=schema, where=replace(record.where, schema=schema))


def _best_key(schema: Schema, given: Given) -> tuple[int, ...]:
    """The columns of the first suggested key that held: suggestions come with the best first."""
    rules = given.get(Key.given_as, {}).get(schema.name, TableRules()).rules
    sure = (each.text for each in rules if each.origin == "suggested" and each.severity == "error")
    keys = (rule for rule in map(parse, sure) if isinstance(rule, Key) and rule.where is None)
    best = next(keys, None)
    names = () if best is None else best.columns
    return tuple(schema.names.index(name) for name in names) if set(names) <= set(schema.names) else ()
