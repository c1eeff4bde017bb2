"""Discovery without a state: what holds in a table, once."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from holdfast.changes.diff import Finding, Result
from holdfast.engines.contract import Settings, hear
from holdfast.engines.registry import classes, engine, refuse_given
from holdfast.intake.build import build_table, by_table, discovery_runner
from holdfast.intake.reading import ReadOptions
from holdfast.progress import Progress
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Nulls, Schema, Table


@dataclass(frozen=True)
class Found:
    """What was found, by text, for each class and table in their order, and the columns that could not be compared.

    There may be a million rules: they are made when they are looked at.
    """

    results: tuple[Result, ...]
    left_out: Mapping[str, tuple[str, ...]]
    nulls: Nulls
    proposals: tuple[Any, ...] = ()  # inclusion dependencies ranked as foreign keys, the best first
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
        """One object a finding."""
        return [self.told(finding) for finding in self]

    def told(self, finding: Finding) -> dict[str, Any]:
        """A finding as an object; an inclusion dependency with its rank as a foreign key."""
        told: dict[str, Any] = self._ranked.get(finding.text, finding).to_json()
        return told

    @cached_property
    def _ranked(self) -> dict[str, Any]:
        return {proposal.ind.text: proposal for proposal in self.proposals}

    def picture(self, path: str | Path) -> None:
        """Draw tables and proposed foreign keys: Graphviz (.dot), Mermaid (.mmd) or, with `dot` installed, .svg."""
        from holdfast.engines.inclusion.picture import draw
        from holdfast.report.export import write_page

        write_page(Path(path), draw(Path(path), list(self.left_out), self.proposals))

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
        from holdfast.report.pages import findings_html
        from holdfast.report.tables import shown

        return findings_html(*shown(self.results, 1000, self.told))


def discover(
    source: Any,
    rules: str | Sequence[str] = ("column",),
    *,
    columns: str | Sequence[str] | Mapping[str, Sequence[str]] = (),
    nulls: Nulls = "equal",
    settings: Settings | None = None,
    options: ReadOptions | None = None,
    spark: Any = None,
    progress: Progress | None = None,
) -> Found:
    """What holds in a table, or in each of several given by name.

    `rules` names the classes to look for: `"fd"`, `"fd,ucc"` or `["fd", "ucc"]`. `columns` names the columns to read,
    of the one table, or of each table by its name; none means all.

    >>> import holdfast as hf, pyarrow as pa
    >>> towns = pa.table({"zip": ["10115", "10117", "20095"], "city": ["Berlin", "Berlin", "Hamburg"]})
    >>> print(hf.discover(towns, "fd"))
    table: 3 rows, 2 columns
    functional dependencies: 1
      zip -> city
    """
    tables = source if isinstance(source, Mapping) else {"table": source}
    asked = classes(rules)
    refuse_given(asked)
    engines = [engine(name, settings) for name in asked]
    chosen = by_table(columns, tables, "columns are")
    progress = progress or Progress()
    results: list[Result] = []
    left_out = {}
    found_keys: list[Any] = []
    encoded: dict[str, Table] = {}
    runner: Runner = Threads()
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        for name, one in tables.items():
            asked_for = chosen.get(name, ())
            built = build_table(name, one, options or ReadOptions(), (), nulls, folder, spark, progress, asked_for)
            left_out[name] = built.left_out
            encoded[name] = built.admitted.table
            runner = discovery_runner(built)
        for serving in engines:
            for subject in [encoded] if serving.across else encoded.values():
                progress.step(f"Finding {serving.title}")
                hear(serving, progress)
                state = serving.discover(subject, runner)
                results.append(serving.result(state))
                if serving.name == "ind":
                    found_keys = getattr(serving, "foreign_keys")(state)  # noqa: B009  # this engine's own
    shapes = {name: (table.schema, table.rows) for name, table in encoded.items()}
    return Found(tuple(results), left_out, nulls, tuple(found_keys), shapes)
