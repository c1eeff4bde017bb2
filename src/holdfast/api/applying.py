"""A batch on its way into a state: what it is made of, table by table, and what engines make of it.

A batch of several tables is one transaction: each table's part is read and resolved before any engine sees one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from holdfast.changes.diff import Diff
from holdfast.engines.contract import Engine
from holdfast.engines.registry import ALL_TABLES
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput
from holdfast.intake.build import Sources
from holdfast.progress import Progress
from holdfast.store.records import CommitPart
from holdfast.table import files
from holdfast.table.admit import Admitted
from holdfast.table.change import Batch, Change
from holdfast.table.runner import Runner
from holdfast.table.table import Table

Subject = tuple[str, str]  # an engine, and a table or all of them


def sources_by_table(
    sources: Sources, table: str | None, table_column: str | None, evolve: bool
) -> dict[str | None, Sources]:
    """What each table gets: sources may be given by the names of tables, in whose order they are taken. No source is
    itself a mapping. What is given without a name stands under that which was asked for.
    """
    given = {each.name: getattr(sources, each.name) for each in fields(sources)}
    named = {part: source for part, source in given.items() if isinstance(source, Mapping)}
    plain = [part for part, source in given.items() if source is not None and part not in named]
    if not named:
        if table_column is not None:
            _refuse_beside_column(sources, table, table_column, evolve)
        return {table: sources}
    if plain:
        raise BadInput(f"{plain[0]}: say whose rows these are; give them by the names of tables, as the others are")
    if table is not None or table_column is not None:
        raise BadInput("what is given by the names of tables needs no other name of a table; leave it out")
    names = dict.fromkeys(name for own in named.values() for name in own)
    return {name: Sources(**{part: own.get(name) for part, own in named.items()}) for name in names}


def _refuse_beside_column(sources: Sources, table: str | None, table_column: str, evolve: bool) -> None:
    """Say so where something can't be, as a column names the table of each row."""
    if table is not None:
        raise BadInput(f"the column {table_column!r} names the table of each row; leave out the table {table!r}")
    if sources.snapshot is not None:
        raise BadInput("a snapshot is that of one table; give those of several by the names of tables")
    if evolve:
        raise BadInput("of rows of several tables nobody can tell whose a new column is; leave out evolve")


def kind_of(parts: Iterable[Sources]) -> str:
    """What a batch is made of, in a word; refuses parts that can't be."""
    words = [word for own in list(parts) or [Sources()] for word in own.kind.split("+")]
    return "+".join(each.name for each in fields(Sources) if each.name in words)


@dataclass(frozen=True)
class Part:
    """What a batch does to one table."""

    change: Change
    admitted: Admitted

    @staticmethod
    def of(before: Table, admitted: Admitted) -> Part:
        """Where nothing changes, the history tells of it, and no file needs to."""
        if len(admitted.born) or len(admitted.dead):
            return Part(Change(before, admitted.table, admitted.born, admitted.dead), admitted)
        for segment in admitted.segments:
            files.remove(segment.path)
        same = replace(admitted, table=before, segments=())
        return Part(Change(before, before, same.born, same.dead), same)

    @property
    def is_nothing(self) -> bool:
        """Whether the table stays as it is."""
        return not len(self.change.born) and not len(self.change.dead)

    def to_commit(self) -> CommitPart:
        """What is made durable of it."""
        done, change = self.admitted, self.change
        after, born, dead = change.after, len(change.born), len(change.dead)
        return CommitPart(change.table, done.segments, after.next_id, after.rows, born, dead, done.ignored)


@dataclass(frozen=True)
class Watching:
    """All that sees a change: the tables with what engines share of them, the engines, and their states."""

    watched: Mapping[str, WatchedTable]
    engines: Mapping[str, Engine[Any, Any]]
    states: Mapping[Subject, Any]
    runner: Runner
    progress: Progress

    def follow(self, batch: Batch) -> dict[Subject, Diff]:
        """Let the engines see a batch, after all that they share has followed it; gives what it did."""
        for change in batch:
            self.watched[change.table].follow(change, self.runner)
        diffs = {}
        for (rules, table), state in self.states.items():
            own = _seen_by(table, batch)
            if own.changes:
                diffs[rules, table] = self.engines[rules].follow(state, own, self.runner, self.progress)
        return diffs

    def explained(self, batch: Batch, diffs: Mapping[Subject, Diff]) -> dict[Subject, Diff]:
        """What `follow` gave, with all that is stored and shown of it: nothing is computed later."""
        return {
            (rules, table): self.engines[rules].explained(self.states[rules, table], diff, _seen_by(table, batch))
            for (rules, table), diff in diffs.items()
        }


def _seen_by(table: str, batch: Batch) -> Batch:
    """The part of a batch that the engines of a table see, or those that look across tables."""
    return batch if table == ALL_TABLES else batch.in_table(table)
