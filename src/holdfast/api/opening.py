"""Tables of others, read whole and encoded for as long as they are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from holdfast.engines.watched import WatchedTable
from holdfast.intake.build import build_table, by_table
from holdfast.intake.choosing import discovery_runner
from holdfast.intake.reading import ReadOptions
from holdfast.progress import Progress
from holdfast.table import files
from holdfast.table.nulls import GivenNulls
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Schema


@dataclass(frozen=True)
class Opened:
    """Some tables by name, the columns of each that could not be compared, and where engines look at them."""

    watched: dict[str, WatchedTable]
    left_out: dict[str, tuple[str, ...]]
    runner: Runner

    @property
    def shapes(self) -> dict[str, tuple[Schema, int]]:
        """The columns and the number of rows of each table."""
        return {name: (each.table.schema, each.table.rows) for name, each in self.watched.items()}

    def subjects(self, across: bool) -> list[Any]:
        """What the engine of a class looks at: all tables together, or each."""
        return [self.watched] if across else list(self.watched.values())


@contextmanager
def opened(
    source: Any,
    columns: str | Sequence[str] | Mapping[str, Sequence[str]],
    nulls: GivenNulls,
    options: ReadOptions | None,
    spark: Any,
    progress: Progress,
) -> Iterator[Opened]:
    """Read a table, or several given by name; all of their columns, or those that are named."""
    tables = source if isinstance(source, Mapping) else {"table": source}
    chosen = by_table(columns, tables, "columns are")
    watched: dict[str, WatchedTable] = {}
    left_out: dict[str, tuple[str, ...]] = {}
    runner: Runner = Threads()
    with files.temporary_folder() as folder:
        for name, one in tables.items():
            asked_for = chosen.get(name, ())
            built = build_table(name, one, options or ReadOptions(), (), nulls, folder, spark, progress, asked_for)
            left_out[name] = built.left_out
            watched[name] = WatchedTable(built.admitted.table)
            if runner.is_local:  # one table that needs another runner is enough
                runner = discovery_runner(built.admitted.table.rows, built.runner)
        yield Opened(watched, left_out, runner)
