"""What the store keeps, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.changes.diff import Diff, Witness
from holdfast.changes.naming import Values
from holdfast.table.table import Schema, Segment, TableFiles


@dataclass(frozen=True)
class TableRecord:
    """A watched table: its schema, how its files are read, its columns that can't be compared, and its segments."""

    schema: Schema
    options: dict[str, Any]
    left_out: tuple[str, ...]
    rows: int
    where: TableFiles


@dataclass(frozen=True)
class BatchRecord:
    """One applied batch, as `history` tells it."""

    seq: int
    batch_id: str
    table: str
    at: str
    kind: str
    inserted: int
    deleted: int
    ignored: int
    seconds: float
    gained: int = 0
    lost: int = 0
    changed: int = 0

    def __str__(self) -> str:
        return f"batch {self.seq} on {self.table}: {self.inserted:,} rows inserted, {self.deleted:,} deleted"

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {"kind": "batch", **{k: v for k, v in self.__dict__.items() if k != "kind"}, "how": self.kind}


@dataclass(frozen=True)
class KeptRow:
    """The values of a row that broke a rule, and the rule."""

    rule: str
    values: Values


@dataclass(frozen=True)
class KeptRows:
    """The rows that broke rules with a batch, by table and number, and how many are left out as they are too many."""

    rows: Mapping[tuple[str, int], KeptRow] = field(default_factory=dict)
    left_out: int = 0


@dataclass(frozen=True)
class Commit:
    """One batch, ready to be made durable in one transaction."""

    batch_id: str
    table: str
    kind: str
    segments: tuple[Segment, ...]
    next_id: int
    rows: int
    inserted: int
    deleted: int
    ignored: int
    seconds: float
    diffs: dict[tuple[str, str], Diff] = field(default_factory=dict)  # by engine and subject
    many: tuple[str, ...] = ()  # engines whose findings are kept in their states, and not one by one
    # Of given rules that have new violations, one of these each, by engine and subject, and text.
    witnesses: Mapping[tuple[str, str], Mapping[str, Witness]] = field(default_factory=dict)
    kept: KeptRows = field(default_factory=KeptRows)


@dataclass(frozen=True)
class AppliedBatch:
    """An applied batch with the segments it added, for bringing an engine's kept state up to date."""

    seq: int
    table: str
    segments: tuple[Segment, ...]
    next_id: int
