"""Tables of others, read whole and encoded for as long as they are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from holdfast.api.workspace import Watched
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import build_table, by_table
from holdfast.progress import Progress
from holdfast.table import files
from holdfast.table.nulls import GivenNulls


@contextmanager
def opened(
    source: Any,
    columns: str | Sequence[str] | Mapping[str, Sequence[str]],
    nulls: GivenNulls,
    options: ReadOptions | None,
    spark: Any,
    progress: Progress,
) -> Iterator[Watched]:
    """Read a table, or several given by name; all of their columns, or those that are named."""
    tables = source if isinstance(source, Mapping) else {"table": source}
    chosen = by_table(columns, tables, "columns are")
    watched = Watched()
    with files.temporary_folder() as folder:
        for name, one in tables.items():
            asked_for = chosen.get(name, ())
            built = build_table(name, one, options or ReadOptions(), (), nulls, folder, spark, progress, asked_for)
            watched.add(name, built)
        yield watched
