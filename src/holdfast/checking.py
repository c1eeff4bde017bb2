"""Checking without a state: do these rules hold in a table, and which rows break them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from holdfast.denial.engine import DenialEngine
from holdfast.denial.listing import Listing
from holdfast.engine import Settings
from holdfast.errors import BadInput
from holdfast.intake.build import build_table, discovery_runner
from holdfast.intake.reading import ReadOptions
from holdfast.rules.bind import bind
from holdfast.rules.file import Rules, read_rules, rules_of
from holdfast.table.table import Nulls, Schema
from holdfast.voice import Voice


@dataclass(frozen=True)
class Checked:
    """How each rule stands, and its violations."""

    findings: tuple[Any, ...]
    listings: tuple[Listing, ...]

    @property
    def violated(self) -> bool:
        """Whether a rule of severity error has violations."""
        return any(f.violations and f.constraint.severity == "error" for f in self.findings)

    def to_json(self) -> list[dict[str, Any]]:
        """One object a rule."""
        return [finding.to_json() for finding in self.findings]

    def _repr_html_(self) -> str:
        from holdfast.report.pages import findings_html

        return findings_html(self.to_json())


def given_rules(rules: str | Path | Sequence[str] | Rules) -> Rules:
    """Rules from a rule file, or from texts."""
    if isinstance(rules, Rules):
        return rules
    return read_rules(rules) if isinstance(rules, str | Path) else rules_of(rules)


def bound_settings(settings: Settings, rules: Rules, schemas: Mapping[str, Schema], voice: Voice) -> Settings:
    """The settings with the rules of each table, checked against its columns."""
    from holdfast.denial.check import notes

    if others := [entry for entry in rules.entries if entry.kind != "dc"]:
        raise BadInput(
            f"rule {others[0].name!r} ({others[0].text}): only denial constraints can be checked, "
            "such as not(t.Zip = s.Zip and t.City != s.City)"
        )
    bound = bind(rules, schemas)
    for constraints in bound.values():
        for constraint in constraints:
            for note in notes(constraint):
                voice.note(f"rule {constraint.name}: {note}")
    by_table = {
        table: {
            "ordered": sorted(rules.ordered_in(table)),
            "constraints": [
                {"name": c.name, "text": c.text, "severity": c.severity, "note": c.note} for c in constraints
            ],
        }
        for table, constraints in bound.items()
    }
    return replace(settings, rules=by_table)


def check(
    source: Any,
    rules: str | Path | Sequence[str] | Rules,
    *,
    nulls: Nulls = "equal",
    settings: Settings | None = None,
    options: ReadOptions | None = None,
    spark: Any = None,
    voice: Voice | None = None,
) -> Checked:
    """Check rules (a rule file, or texts) on a table, or on several given by name."""
    voice = voice or Voice()
    given = given_rules(rules)
    tables = source if isinstance(source, Mapping) else {"table": source}
    findings: list[Any] = []
    listings: list[Listing] = []
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        built = {
            name: build_table(name, one, options or ReadOptions(), (), nulls, folder, spark, voice)
            for name, one in tables.items()
        }
        schemas = {name: one.admitted.table.schema for name, one in built.items()}
        engine = DenialEngine(bound_settings(settings or Settings(), given, schemas, voice))
        for name, one in built.items():
            voice.step(f"Looking for violations in {name}")
            table = one.admitted.table
            state = engine.discover(table, discovery_runner(one))
            findings += engine.result(state).values()
            listings += [Listing(found.constraint, table, found.count, found.pairs) for found in engine.found(state)]
    return Checked(tuple(findings), tuple(listings))
