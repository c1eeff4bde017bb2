"""What is watched, in memory: tables with what engines share of each, the engines, and what each of them knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.changes.diff import Diff, Result
from holdfast.engines.contract import Engine
from holdfast.engines.registry import ALL_TABLES
from holdfast.engines.watched import WatchedTable
from holdfast.intake.readers import discovery_runner
from holdfast.intake.tables import Built
from holdfast.progress import Progress
from holdfast.table.change import Batch
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Schema

Subject = tuple[str, str]  # a class of rules, and a table or all of them


@dataclass
class Watched:
    """Tables by name, engines by the class of their rules, and the state of each engine; it knows of no disk."""

    tables: dict[str, WatchedTable] = field(default_factory=dict)
    engines: dict[str, Engine[Any, Any]] = field(default_factory=dict)
    states: dict[Subject, Any] = field(default_factory=dict)
    runner: Runner = field(default_factory=Threads)
    left_out: dict[str, tuple[str, ...]] = field(default_factory=dict)  # columns of each table that are not watched

    @property
    def shapes(self) -> dict[str, tuple[Schema, int]]:
        """The columns and the number of rows of each table."""
        return {name: (watched.table.schema, watched.table.rows) for name, watched in self.tables.items()}

    def add(self, name: str, built: Built) -> None:
        """Watch a table that was just read. One that needs another runner than threads is enough for all."""
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

    def found(self, at: Subject, progress: Progress) -> Any:
        """The state of an engine from scratch."""
        engine, name = self.engines[at[0]], at[1]
        progress.step(f"Finding {engine.declared.title}" + (f" of {name}" if name != ALL_TABLES else ""))
        return engine.discover(self.subject(name), self.runner, progress)

    def follow(self, batch: Batch, progress: Progress) -> dict[Subject, Diff]:
        """Let the engines see a batch, after all that they share has followed it; gives what it did."""
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

    def results(self) -> dict[Subject, Result]:
        """What is found now, by class and table."""
        return {at: self.engines[at[0]].result(state) for at, state in self.states.items()}

    def ranked(self, rules: str | None = None) -> dict[Subject, Result]:
        """The same as people want to read it, of all classes or of one."""
        chosen = {at: state for at, state in self.states.items() if rules in (None, at[0])}
        return {at: self.engines[at[0]].ranked(state) for at, state in chosen.items()}


def _seen_by(table: str, batch: Batch) -> Batch:
    """The part of a batch that the engines of a table see, or those that look across tables."""
    return batch if table == ALL_TABLES else batch.in_table(table)
