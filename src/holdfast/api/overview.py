"""The answer to a newcomer's question: what is in these tables?"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.api.discovery import found_in
from holdfast.api.opening import opened
from holdfast.api.suggesting import suggestions_in
from holdfast.engines.registry import found_classes, make_engine
from holdfast.intake.reading import ReadOptions
from holdfast.progress import Progress
from holdfast.results.found import Found
from holdfast.results.suggestions import Suggestions
from holdfast.table.nulls import GivenNulls


def overview(
    tables: Mapping[str, Any],
    columns: Mapping[str, Sequence[str]],
    nulls: GivenNulls,
    options: ReadOptions,
    progress: Progress,
    page: Path | None,
    redact: bool,
) -> tuple[Suggestions, Found]:
    """What is in tables: read once, for the likely rules and for the facts of columns.

    `page` is one to write, which shows hashes in place of values with `redact`.
    """
    started = time.perf_counter()
    with opened(tables, columns, nulls, options, None, progress) as seen:
        facts = found_in(seen, [make_engine(each.name) for each in found_classes() if each.facts], nulls, progress)
        suggestions = suggestions_in(seen, progress)
        if page is not None:
            from holdfast.api.look_report import suggested_document, write_document

            progress.step("Writing the page")
            write_document(page, suggested_document(seen, suggestions, nulls, redact=redact))
    return replace(suggestions, seconds=time.perf_counter() - started), facts
