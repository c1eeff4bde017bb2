"""Discovery without a state: what holds in a table, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from holdfast.api.workspace import Workspace, workspace_of
from holdfast.changes.diff import Result
from holdfast.engines.contract import Engine
from holdfast.engines.registry import make_engine, refuse_unknown_settings, to_find
from holdfast.intake.source import ReadOptions
from holdfast.progress import SILENT, Progress
from holdfast.results.found import Found
from holdfast.table.nulls import GivenNulls


def discover(
    source: Any,
    rules: str | Sequence[str] = ("column",),
    *,
    columns: str | Sequence[str] | Mapping[str, Sequence[str]] = (),
    nulls: GivenNulls = "equal",
    options: ReadOptions | None = None,
    spark: Any = None,
    html: str | Path | None = None,
    redact: bool = False,
    progress: Progress | None = None,
    **settings: Any,
) -> Found:
    """What holds in a table, or in each of several given by name. One that is a file has the file's name.

    `rules` names the classes to look for: `"fd"`, `"fd,ucc"` or `["fd", "ucc"]`. `columns` names the columns to read,
    of the one table, or of each table by its name; none means all. `settings` are those of the rule classes, such as
    `error=0.01` or `max_lhs=3`. `html` names a page to write, which shows hashes in place of values with `redact`.

    >>> import holdfast as hf, pyarrow as pa
    >>> towns = pa.table({"zip": ["10115", "10117", "20095"], "city": ["Berlin", "Berlin", "Hamburg"]})
    >>> print(hf.discover(towns, "fd"))
    table: 3 rows, 2 columns
    functional dependencies: 1
      zip -> city
    """
    wanted = to_find(rules)
    refuse_unknown_settings(settings)
    engines = [make_engine(name, settings) for name in wanted]
    progress = progress or SILENT
    with workspace_of(source, columns, nulls, options, spark, progress) as tables:
        found = found_in(tables, engines, nulls, progress)
        if html is not None:
            from holdfast.api.tables_report import found_document, write_document

            progress.step("Writing the page")
            write_document(Path(html), found_document(tables, found, redact=redact))
    return found


def found_in(tables: Workspace, engines: Sequence[Engine[Any, Any]], nulls: GivenNulls, progress: Progress) -> Found:
    """What engines find in open tables."""
    results: list[Result] = []
    ranked: list[Result] = []
    tables.engines = {engine.declared.name: engine for engine in engines}
    for at in tables.subjects():
        state = tables.discover(at, progress)
        results.append(tables.engines[at[0]].result(state))
        ranked.append(tables.engines[at[0]].ranked(state))
    return Found(tuple(results), tables.left_out, nulls, tuple(ranked), tables.shapes)
