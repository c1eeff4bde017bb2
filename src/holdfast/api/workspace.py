"""Tables in memory with the engines that look at them, and what each engine knows. Nothing here touches a state on
disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from holdfast.changes.diff import Diff, Result
from holdfast.engines.contract import Engine
from holdfast.engines.listing import Listing
from holdfast.engines.registry import ALL_TABLES
from holdfast.engines.watched import Facts, WatchedTable
from holdfast.intake.paths import table_name
from holdfast.intake.readers import discovery_runner
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import BuiltTable, build_table, by_table
from holdfast.progress import Progress
from holdfast.table import files
from holdfast.table.change import Batch
from holdfast.table.nulls import GivenNulls
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Schema

Subject = tuple[str, str]  # a class of rules, and a table or all of them


@dataclass
class Workspace:
    """Tables by name, engines by the class of their rules, and the state of each engine."""

    tables: dict[str, WatchedTable] = field(default_factory=dict)
    engines: dict[str, Engine[Any, Any]] = field(default_factory=dict)
    states: dict[Subject, Any] = field(default_factory=dict)
    runner: Runner = field(default_factory=Threads)
    left_out: dict[str, tuple[str, ...]] = field(default_factory=dict)  # columns of each table that are not watched

    @property
    def shapes(self) -> dict[str, tuple[Schema, int]]:
        """The columns and the number of rows of each table."""
        return {name: (watched.table.schema, watched.table.rows) for name, watched in self.tables.items()}

    def add(self, name: str, built: BuiltTable) -> None:
        """Watch a table that was just read. One table that needs another runner than threads is enough for all."""
        table = built.admitted.table
        self.tables[name], self.left_out[name] = WatchedTable(table), built.left_out
        if self.runner.is_local:
            self.runner = discovery_runner(table.rows, built.runner)

    @property
    def schemas(self) -> dict[str, Schema]:
        """The columns of each table."""
        return {name: watched.table.schema for name, watched in self.tables.items()}

    def subjects(self) -> Iterator[Subject]:
        """Each engine with the name of each table that it has a state of, or with the name for all of them."""
        for rules, engine in self.engines.items():
            yield from ((rules, name) for name in self.names(engine.declared.across))

    def names(self, across: bool) -> list[str]:
        """What the engine of a class looks at: each table, or all of them together."""
        return [ALL_TABLES] if across else list(self.tables)

    def subject(self, name: str) -> Any:
        """What an engine looks at: a table, or all of them."""
        return dict(self.tables) if name == ALL_TABLES else self.tables[name]

    def discover(self, at: Subject, progress: Progress, by: Engine[Any, Any] | None = None) -> Any:
        """The state of an engine from scratch; by that of its class, or by another one of that class."""
        engine, name = by or self.engines[at[0]], at[1]
        progress.step(f"Finding {engine.declared.title}" + (f" of {name}" if name != ALL_TABLES else ""))
        return engine.discover(self.subject(name), self.runner, progress)

    def refuse_long(self, batch: Batch) -> None:
        """BadInput where an engine would take far too long to follow a batch."""
        for (rules, table), state in self.states.items():
            own = _seen_by(table, batch)
            if own.changes:
                self.engines[rules].refuse_long(state, own)

    def follow(self, batch: Batch, progress: Progress) -> dict[Subject, Diff]:
        """Show a batch to the parts that engines share, then to the engines; gives what it changed."""
        for change in batch:
            self.tables[change.table].follow(change, self.runner)
        diffs = {}
        for (rules, table), state in self.states.items():
            own = _seen_by(table, batch)
            if own.changes:
                diffs[rules, table] = self.engines[rules].follow(state, own, self.runner, progress)
        return diffs

    def explained(self, batch: Batch, diffs: Mapping[Subject, Diff]) -> dict[Subject, Diff]:
        """What `follow` gave, with all that is stored and shown of it: nothing is computed later."""
        return {
            (rules, table): self.engines[rules].explained(self.states[rules, table], diff, _seen_by(table, batch))
            for (rules, table), diff in diffs.items()
        }

    def records(self, batch: Batch) -> dict[Subject, Facts]:
        """What a batch that `follow` has seen changed in what engines share, for the history: by part and table."""
        tables = {change.table: self.tables[change.table] for change in batch}
        return {(part, name): record for name, own in tables.items() for part, record in own.records().items()}

    def results(self) -> dict[Subject, Result]:
        """What is found now, by class and table."""
        return {at: self.engines[at[0]].result(state) for at, state in self.states.items()}

    def given_results(self) -> list[Result]:
        """The results of the classes whose rules are given."""
        return [
            engine.result(state) for at, state in self.states.items() if (engine := self.engines[at[0]]).declared.given
        ]

    def ranked(self, rules: str | None = None) -> dict[Subject, Result]:
        """The findings of all classes or of one, the best first."""
        chosen = {at: state for at, state in self.states.items() if rules in (None, at[0])}
        return {at: self.engines[at[0]].ranked(state) for at, state in chosen.items()}

    def listings(self, rule: str | None = None) -> list[Listing]:
        """The violations of all given rules, or of one, by its name or text; none where there are no such rules."""
        return [
            listing
            for (rules, name), state in self.states.items()
            if self.engines[rules].declared.given
            for listing in self.engines[rules].listings(state, self.subject(name), rule)
        ]


def named(source: Any, options: ReadOptions | None = None) -> Mapping[str, Any]:
    """Sources by the names of their tables: as they are given, or one, named after its file."""
    if isinstance(source, Mapping):
        return source
    name = table_name(source, options.jdbc_table, options.query) if options else table_name(source)
    return {name if name and "*" not in name else "table": source}  # `.csv` has no name, and `*` names many files


@contextmanager
def workspace_of(
    source: Any,
    columns: str | Sequence[str] | Mapping[str, Sequence[str]],
    nulls: GivenNulls,
    options: ReadOptions | None,
    spark: Any,
    progress: Progress,
) -> Iterator[Workspace]:
    """Read a table whole, or several given by name, all of their columns or those that are named. The files that this
    takes are removed at the end.
    """
    tables = named(source, options)
    chosen = by_table(columns, tables, "columns are")
    found = Workspace()
    with files.temporary_folder() as folder:
        for name, one in tables.items():
            wanted = chosen.get(name, ())
            found.add(
                name, build_table(name, one, options or ReadOptions(), (), nulls, folder, spark, progress, wanted)
            )
        yield found


def _seen_by(table: str, batch: Batch) -> Batch:
    """The part of a batch that the engines of a table see, or those that look across tables."""
    return batch if table == ALL_TABLES else batch.in_table(table)
