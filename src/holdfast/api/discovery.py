"""Discovery without a state: what holds in a table, once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from holdfast.api.opening import Opened, opened
from holdfast.changes.asked import RulesWhenAsked
from holdfast.changes.diff import Finding, Result
from holdfast.engines.contract import Engine
from holdfast.engines.registry import (
    found_classes,
    make_engine,
    names_in,
    refuse_given,
    refuse_unknown_settings,
)
from holdfast.intake.reading import ReadOptions
from holdfast.progress import SILENT, Progress
from holdfast.table.nulls import GivenNulls
from holdfast.table.table import Schema


@dataclass(frozen=True)
class Found:
    """What was found, by text, for each class and table in their order, and the columns that could not be compared.

    There may be a million rules: they are made when they are looked at.
    """

    results: tuple[Result, ...]
    left_out: Mapping[str, tuple[str, ...]]
    nulls: GivenNulls
    ranked: tuple[Result, ...] = ()  # the same as people want to read them, with what only a look at all of them tells
    shapes: Mapping[str, tuple[Schema, int]] = field(default_factory=dict)  # columns and number of rows of each table

    def __iter__(self) -> Iterator[Finding]:
        return (finding for result in self.results for finding in result.values())

    def __len__(self) -> int:
        return sum(len(result) for result in self.results)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them."""
        return tuple(self)

    def to_json(self) -> list[dict[str, Any]]:
        """One object a finding, with its rank where there is one."""
        return [finding.to_json() for result in self.ranked for finding in result.values()]

    def denials(self) -> Iterator[dict[str, Any]]:
        """The rules that can be written so as denial constraints, which `check` and rule files take: one object each.

        They come with pointwise order dependencies (`pod`), one for all readings of a rule.
        """
        for result in [each for each in self.ranked if isinstance(each, RulesWhenAsked)]:
            for first in islice(result.values(), 1):
                table = first.to_json()["table"]
                yield from ({"kind": "dc", "table": table, "text": text} for text in result.denials())

    def picture(self, path: str | Path) -> None:
        """Draw tables and proposed foreign keys: Graphviz (.dot), Mermaid (.mmd) or, with `dot` installed, .svg."""
        from holdfast.report.outputs import PICTURE, write_text

        for each in found_classes():
            if each.drawn:
                pictures = each.pictures()
                chosen = [rule for result in self.ranked for rule in result.values() if rule.kind == each.name]
                write_text(Path(path), pictures.draw(Path(path), list(self.left_out), chosen), PICTURE)

    def to_arrow(self) -> pa.Table:
        """The findings as an Arrow table; values that differ in type from row to row are text."""
        from holdfast.report.tables import to_arrow

        return to_arrow(self.to_json())

    def to_pandas(self) -> Any:
        """The findings as a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_spark(self, spark: Any) -> Any:
        """The findings as a Spark DataFrame."""
        return spark.createDataFrame(self.to_arrow())

    def __repr__(self) -> str:
        from holdfast.report.text import found_text

        return found_text(self)

    def _repr_html_(self) -> str:
        from holdfast.report.notebook import framed
        from holdfast.report.pages import findings_html
        from holdfast.report.tables import shown

        return framed(findings_html(*shown(self.ranked, 1000)))


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
    """What holds in a table, or in each of several given by name.

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
    asked = names_in(rules)
    refuse_given(asked)
    refuse_unknown_settings(settings)
    engines = [make_engine(name, settings) for name in asked]
    progress = progress or SILENT
    with opened(source, columns, nulls, options, spark, progress) as tables:
        found = found_in(tables, engines, nulls, progress)
        if html is not None:
            from holdfast.api.look_report import found_document, write_document

            progress.step("Writing the page")
            write_document(Path(html), found_document(tables, found, redact=redact))
    return found


def found_in(tables: Opened, engines: Sequence[Engine[Any, Any]], nulls: GivenNulls, progress: Progress) -> Found:
    """What engines find in tables that are open."""
    results: list[Result] = []
    ranked: list[Result] = []
    for engine in engines:
        for subject in tables.subjects(engine.declared.across):
            progress.step(f"Finding {engine.declared.title}")
            state = engine.discover(subject, tables.runner, progress)
            results.append(engine.result(state))
            ranked.append(engine.ranked(state))
    return Found(tuple(results), tables.left_out, nulls, tuple(ranked), tables.shapes)
