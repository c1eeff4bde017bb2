"""The answer to a newcomer's question: what is in these tables?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from holdfast.api.discovery import found_in
from holdfast.api.opening import opened
from holdfast.api.suggesting import suggestions_in
from holdfast.engines.registry import found_classes, make_engine
from holdfast.intake.reading import ReadOptions
from holdfast.progress import SILENT, Progress
from holdfast.results.found import Found
from holdfast.results.suggestions import Suggestions
from holdfast.table.nulls import GivenNulls


@dataclass(frozen=True)
class Overview:
    """The likely rules of some tables, and the facts of their columns."""

    suggestions: Suggestions
    facts: Found


def overview(
    source: Any,
    *,
    columns: str | Sequence[str] | Mapping[str, Sequence[str]] = (),
    nulls: GivenNulls = "equal",
    options: ReadOptions | None = None,
    spark: Any = None,
    html: str | Path | None = None,
    redact: bool = False,
    progress: Progress | None = None,
) -> Overview:
    """What is in a table, or in several given by name: read once, for the likely rules and for the facts of columns.

    `html` names a page to write, which shows hashes in place of values with `redact`.
    """
    progress = progress or SILENT
    started = time.perf_counter()
    with opened(source, columns, nulls, options, spark, progress) as tables:
        facts = found_in(tables, [make_engine(each.name) for each in found_classes() if each.facts], nulls, progress)
        suggestions = suggestions_in(tables, progress)
        if html is not None:
            from holdfast.api.look_report import suggested_document, write_document

            progress.step("Writing the page")
            write_document(Path(html), suggested_document(tables, suggestions, nulls, redact=redact))
    return Overview(replace(suggestions, seconds=time.perf_counter() - started), facts)
