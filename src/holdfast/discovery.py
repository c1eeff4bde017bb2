"""Discovery without a state: what holds in a table, once."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from holdfast.changes.diff import Finding
from holdfast.engine import Settings
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

    def __iter__(self) -> Any:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def to_json(self) -> list[dict[str, Any]]:
        """One object a finding."""
        return [finding.to_json() for finding in self.findings]

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
                findings += serving.result(serving.discover(subject, runner)).values()
    return Found(tuple(findings), left_out, nulls)
