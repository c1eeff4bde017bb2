"""What the store holds, as plain values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import Diff, Witness
from holdfast.expectations.figures import Layout
from holdfast.expectations.unusual import Unusual
from holdfast.table.table import Schema, Segment, TableFiles
from holdfast.text.row_names import Values
from holdfast.visible import counted

RULES, COLUMNS, TABLES = CHANGES = ("rules", "columns", "tables")  # kinds of batches that bring no rows (see `reshape`)
_ALL = "*"  # stands for the table of a batch that has several, and of a change of the rules


@dataclass(frozen=True)
class TableRecord:
    """A watched table: its schema, how its files are read, the columns left out, and its segments."""

    schema: Schema
    options: dict[str, Any]
    left_out: tuple[str, ...]
    rows: int
    where: TableFiles


@dataclass(frozen=True)
class BatchPart:
    """What a batch of several tables did to one of them."""

    table: str
    inserted: int
    deleted: int
    ignored: int


@dataclass(frozen=True)
class BatchRecord:
    """One applied batch, as `history` lists it. A batch of several tables has a part for each, and `*` for a table.
    Changes of rules (of `*`), columns and tables stand among the batches.

    `seq` counts all of these; `number` counts batches alone, and a change has that of the last batch before it.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> batch = watch.history()[-1]
    >>> print(batch)
    batch 1 on towns: 1 row inserted, 0 deleted
    >>> batch.number, batch.inserted, batch.lost
    (1, 1, 1)
    """

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
    parts: tuple[BatchPart, ...] = ()
    number: int = 0

    @property
    def is_change(self) -> bool:
        """Whether it is a change of rules, columns or tables."""
        return self.kind in CHANGES

    @property
    def when(self) -> str:
        """When it was applied, to the second."""
        return self.at[:19].replace("T", " ")

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that it changed, or might have changed."""
        return tuple(part.table for part in self.by_table)

    @property
    def by_table(self) -> tuple[BatchPart, ...]:
        """What it did to each table."""
        if self.parts or self.table == _ALL:
            return self.parts
        return (BatchPart(self.table, self.inserted, self.deleted, self.ignored),)

    def __str__(self) -> str:
        if self.is_change:
            of_table = f" of {self.table}" if self.kind == COLUMNS else ""
            after = f" after batch {self.number:,}" if self.number else ""
            return f"change of the {self.kind}{of_table}{after}"
        on = ", ".join(self.tables)
        return f"batch {self.number} on {on}: {counted(self.inserted, 'row')} inserted, {self.deleted:,} deleted"

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        own = {name: value for name, value in self.__dict__.items() if name not in ("kind", "parts", "number")}
        several = {"tables": list(self.tables), "parts": [asdict(part) for part in self.parts]} if self.parts else {}
        return {"kind": "batch", "batch": self.number, **own, "how": self.kind, **several}


@dataclass(frozen=True)
class WitnessRow:
    """The values of a row that broke a rule, and the rule."""

    rule: str
    values: Values


@dataclass(frozen=True)
class WitnessRows:
    """The rows that broke rules with a batch, by table and number, and how many are left out, as they were too many."""

    rows: Mapping[tuple[str, int], WitnessRow] = field(default_factory=dict)
    left_out: int = 0


@dataclass(frozen=True)
class CommitPart:
    """What a batch does to one table: the segments that it adds, and the table's rows and next row id after it."""

    table: str
    segments: tuple[Segment, ...]
    next_id: int
    rows: int
    inserted: int
    deleted: int
    ignored: int


@dataclass(frozen=True, eq=False)
class BatchFigures:
    """The figures of a table's rows in a batch, or in a past batch that was cut from its first load."""

    table: str
    lane: str  # batches of other lanes are not compared with it
    day: float  # since 1970
    dated: bool  # its rows say the day
    values: NDArray[np.float64]
    sides: NDArray[np.int8]  # where it is far outside
    past: int = 0  # how long ago, of past batches: 1 for the last


@dataclass(frozen=True)
class Expected:
    """What a batch has for expectations: its figures, the layouts of tables that changed, and what is far outside."""

    figures: Sequence[BatchFigures] = ()
    layouts: Mapping[str, Layout] = field(default_factory=dict)
    unusual: Sequence[Unusual] = ()


@dataclass(frozen=True)
class Commit:
    """One batch, ready to be made durable in one transaction."""

    batch_id: str
    kind: str
    parts: tuple[CommitPart, ...]  # one a table
    seconds: float
    diffs: dict[tuple[str, str], Diff] = field(default_factory=dict)  # by engine and subject
    many: tuple[str, ...] = ()  # engines whose findings are stored in their states, and not one by one
    # One new violation of each given rule that has some, by engine and subject, and text.
    witnesses: Mapping[tuple[str, str], Mapping[str, Witness]] = field(default_factory=dict)
    rows: WitnessRows = field(default_factory=WitnessRows)
    # What it changed in what engines share, by the name of the part and the table.
    evidence: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    incidents: Sequence[IncidentChange] = ()
    alarmed: Sequence[AlarmedRule] = ()  # what the batch leaves to do: these are to be given
    handled: Sequence[HandledFile] = ()  # the files of a watched folder that it consists of
    at: datetime | None = None  # when it was applied; None: when it is committed
    expected: Expected = field(default_factory=Expected)


class AlarmedRule(NamedTuple):
    """A found rule that raised an alarm and is to be watched from then on: its class, table and text, its score where
    it had one, and the `seq` of the batch that broke it.
    """

    engine: str
    table: str  # `*` where the class looks across tables
    text: str
    worth: tuple[float, int] | None = None  # score and support
    seq: int = 0


class IncidentChange(NamedTuple):
    """How many more violations of a rule have the values of an incident, which a hash names."""

    engine: str
    table: str  # `*` where the class looks across tables
    text: str
    hash: str
    step: int


class HandledFile(NamedTuple):
    """A file of a watched folder that was applied: `looks` changes whenever the file does, `digest` with its content
    alone; `version` counts the contents that were applied under its name.
    """

    path: str
    looks: str
    digest: str
    version: int


class StateFiles(NamedTuple):
    """The files of the engines' states, by engine and subject, and the names of the files that go with them."""

    files: Mapping[tuple[str, str], str]
    with_them: Collection[str]


@dataclass(frozen=True)
class AppliedBatch:
    """What an applied batch did to a table; its segments bring an engine's stored state up to date."""

    seq: int
    table: str
    inserted: int
    next_id: int
    segments: tuple[Segment, ...] = ()
