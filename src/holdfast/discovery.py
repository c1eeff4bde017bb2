"""Discovery without a state: what holds in a table, once."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from holdfast.changes.diff import Finding
from holdfast.engine import Settings, hear
from holdfast.intake.build import build_table, discovery_runner
from holdfast.intake.reading import ReadOptions
from holdfast.registry import engine
from holdfast.table.runner import Runner, Threads
from holdfast.table.table import Nulls, Table
from holdfast.voice import Voice


@dataclass(frozen=True)
class Found:
    """What was found, in the order of tables and rules, and the columns that could not be compared."""

    findings: tuple[Finding, ...]
    left_out: Mapping[str, tuple[str, ...]]
    nulls: Nulls
    proposals: tuple[Any, ...] = ()  # inclusion dependencies ranked as foreign keys, the best first

    def __iter__(self) -> Any:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def to_json(self) -> list[dict[str, Any]]:
        """One object a finding; inclusion dependencies with their rank as foreign keys."""
        ranks = {proposal.ind.text: proposal for proposal in self.proposals}
        return [ranks.get(finding.text, finding).to_json() for finding in self.findings]

    def picture(self, path: Path) -> None:
        """Draw tables and proposed foreign keys: Graphviz (.dot), Mermaid (.mmd) or, with `dot` installed, .svg."""
        from holdfast.inclusion.picture import draw

        draw(path, list(self.left_out), self.proposals)

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

    def _repr_html_(self) -> str:
        from holdfast.report.pages import findings_html

        return findings_html(self.to_json())


def discover(
    source: Any,
    rules: Sequence[str] = ("column",),
    *,
    nulls: Nulls = "equal",
    settings: Settings | None = None,
    options: ReadOptions | None = None,
    spark: Any = None,
    voice: Voice | None = None,
) -> Found:
    """What holds in a table, or in each of several given by name."""
    tables = source if isinstance(source, Mapping) else {"table": source}
    engines = [engine(name, settings) for name in rules]
    voice = voice or Voice()
    findings: list[Finding] = []
    left_out = {}
    found_keys: list[Any] = []
    encoded: dict[str, Table] = {}
    runner: Runner = Threads()
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        for name, one in tables.items():
            built = build_table(name, one, options or ReadOptions(), (), nulls, folder, spark, voice)
            left_out[name] = built.left_out
            encoded[name] = built.admitted.table
            runner = discovery_runner(built)
        for serving in engines:
            for subject in [encoded] if serving.across else encoded.values():
                voice.step(f"Finding {serving.title}")
                hear(serving, voice)
                state = serving.discover(subject, runner)
                findings += serving.result(state).values()
                if serving.name == "ind":
                    found_keys = getattr(serving, "foreign_keys")(state)  # noqa: B009  # this engine's own
    return Found(tuple(findings), left_out, nulls, tuple(found_keys))
