"""What a change of columns did, for people and programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.api.rule_change import line as rule_line
from holdfast.store.records import BatchRecord
from holdfast.table.columns import ColumnChange
from holdfast.table.table import Schema
from holdfast.table.types import show_type
from holdfast.visible import visible

Json = Mapping[str, Any]


@dataclass(frozen=True)
class ColumnsChanged:
    """What a change of columns did: its record in the history, and what it did to which columns and rules.

    `about` has lists of objects: `columns`, each with what was done to it; given rules that were `removed`, as a column
    that they speak of is gone or has another type now; and how many rules of which classes are `found` now.
    """

    batch: BatchRecord | None  # None: nothing was to change, and nothing was kept
    about: Mapping[str, Sequence[Json]] = field(default_factory=dict)
    already_applied: bool = False

    def to_json(self) -> list[dict[str, Any]]:
        """One object for the change, then one for each column, rule and class."""
        first = {} if self.batch is None else {**self.batch.to_json(), "already_applied": self.already_applied}
        lines = [{"event": event, **each} for event, listed in self.about.items() for each in listed]
        return [{**first, "kind": "change", "changed": len(lines)}, *lines]

    def sentence(self) -> str:
        """What was done to the columns, in one sentence."""
        assert self.batch is not None
        return visible(f"{self.batch.table}: {'; '.join(map(column_line, self.about.get('columns', ())))}.")

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """A line for the change, and one for each column, rule and class."""
        if self.already_applied:
            assert self.batch is not None
            return [f"change {visible(self.batch.batch_id)} was made before, at {self.batch.at}; nothing to do"]
        if self.batch is None:
            return ["nothing changed: all is as you want it"]
        told = [column_line(each) for each in self.about.get("columns", ())]
        told += [f"{rule_line('removed', each)}, as it has no meaning now" for each in self.about.get("removed", ())]
        told += [f"{each['class']}: {each['before']:,} rules before, {each['now']:,} now" for each in self._found]
        return [
            f"change {self.batch.seq} of the columns of {visible(self.batch.table)}",
            *(f"  {visible(each)}" for each in told),
        ]

    @property
    def _found(self) -> Sequence[Json]:
        return self.about.get("found", ())


def columns_told(schema: Schema, change: ColumnChange) -> list[Json]:
    """What is done to each column of a table that has a schema before."""
    types = {column.name: column.type for column in schema.columns}
    lines: list[Json] = [{"column": each.name, "done": "added", "type": show_type(each.type)} for each in change.added]
    lines += [{"column": name, "done": "dropped"} for name in change.dropped]
    lines += [{"column": old, "done": "renamed", "name": new} for old, new in change.renamed.items()]
    for name, kind in change.retyped.items():
        lines.append({"column": name, "done": "retyped", "before": show_type(types[name]), "type": show_type(kind)})
    return lines


def column_line(told: Json) -> str:
    """What was done to a column."""
    name = repr(told["column"])
    if told["done"] == "added":
        return f"column {name} ({told['type']}) joins, null in the rows that were there"
    if told["done"] == "dropped":
        return f"column {name} leaves"
    if told["done"] == "renamed":
        return f"column {name} is called {told['name']!r} now"
    return f"column {name} is {told['type']} now, and was {told['before']}"
