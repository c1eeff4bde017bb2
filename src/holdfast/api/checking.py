"""Checking without a state: do these rules hold in a table, and which rows break them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, cast

from holdfast.engines.contract import Settings
from holdfast.engines.denial.check import notes
from holdfast.engines.denial.model import DenialConstraint
from holdfast.engines.denial.parse import is_denial
from holdfast.engines.functional.model import is_dependency
from holdfast.engines.listing import Listing, Lists
from holdfast.engines.registry import engine
from holdfast.errors import BadInput
from holdfast.intake.build import build_table, discovery_runner
from holdfast.intake.reading import ReadOptions
from holdfast.progress import Progress
from holdfast.rules.bind import bind, bind_dependencies
from holdfast.rules.file import RuleEntry, Rules, read_rules, rules_of
from holdfast.table.table import Nulls, Schema

_RULE_FILES = (".yaml", ".yml", ".json")


@dataclass(frozen=True)
class Checked:
    """How each rule stands, and its violations."""

    findings: tuple[Any, ...]
    listings: tuple[Listing, ...]

    @property
    def violated(self) -> bool:
        """Whether a rule of severity error has violations."""
        return any(told["violations"] and told["severity"] == "error" for told in self.to_json())

    def to_json(self) -> list[dict[str, Any]]:
        """One object a rule."""
        return [finding.to_json() for finding in self.findings]

    def __repr__(self) -> str:
        from holdfast.report.text import checked_text

        return checked_text(self)

    def _repr_html_(self) -> str:
        from holdfast.report.pages import findings_html

        return findings_html(self.to_json())


def given_rules(rules: str | Path | Sequence[str] | Rules) -> Rules:
    """Rules from a rule file, from one text, or from several.

    A text that is no rule is the path of a rule file.
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, Path):
        return read_rules(rules)
    if not isinstance(rules, str):
        return rules_of(rules)
    if is_denial(rules) or is_dependency(rules):
        return rules_of([rules])
    if Path(rules).suffix not in _RULE_FILES and not Path(rules).is_file():
        raise BadInput(
            f"{rules!r} is no rule, such as Zip -> City, key(Zip) or not(t.Zip = s.Zip and t.City != s.City), "
            "and there is no rule file of that name"
        )
    return read_rules(rules)


def engines_for(rules: Rules) -> list[str]:
    """The engines that serve the classes of some rules."""
    kinds = {entry.kind for entry in rules.entries}
    return [name for name, kind in (("dc", "dc"), ("named", "fd")) if kind in kinds]


def bound_settings(settings: Settings, rules: Rules, schemas: Mapping[str, Schema], progress: Progress) -> Settings:
    """The settings with the rules of each table, checked against its columns."""
    if others := [entry for entry in rules.entries if entry.kind == "other"]:
        raise BadInput(
            f"rule {others[0].name!r} ({others[0].text}): this is neither a denial constraint, such as "
            "not(t.Zip = s.Zip and t.City != s.City), nor a functional dependency, Zip -> City, nor a key, key(Zip)"
        )
    constraints, dependencies = bind(rules, schemas), bind_dependencies(rules, schemas)
    _tell_notes(constraints, progress)
    by_table = {
        table: {
            "ordered": sorted(rules.ordered_in(table)),
            "constraints": [_plain(each) for each in constraints[table]],
            "dependencies": [_plain(each) for each in dependencies[table]],
        }
        for table in schemas
    }
    return replace(settings, rules=by_table)


def _tell_notes(bound: Mapping[str, Sequence[DenialConstraint]], progress: Progress) -> None:
    for constraints in bound.values():
        for constraint in constraints:
            for note in notes(constraint):
                progress.note(f"rule {constraint.name}: {note}")


def _plain(rule: DenialConstraint | RuleEntry) -> dict[str, str]:
    return {"name": rule.name, "text": rule.text, "severity": rule.severity, "note": rule.note}


def check(
    source: Any,
    rules: str | Path | Sequence[str] | Rules,
    *,
    nulls: Nulls = "equal",
    settings: Settings | None = None,
    options: ReadOptions | None = None,
    spark: Any = None,
    progress: Progress | None = None,
) -> Checked:
    """Check rules (a rule file, a text, or texts) on a table, or on several given by name.

    >>> import holdfast as hf, pyarrow as pa
    >>> towns = pa.table({"zip": ["10115", "10115", "20095"], "city": ["Berlin", "Brelin", "Hamburg"]})
    >>> checked = hf.check(towns, "zip -> city")
    >>> print(checked)
    rules: 1, 1 of them violated
      fd1: 1 rows to remove for zip -> city
    >>> print(checked.listings[0])
    fd1: 1 violations of zip -> city
      t_row 1, s_row 0, t.zip '10115', t.city 'Brelin', s.zip '10115', s.city 'Berlin'
    """
    progress = progress or Progress()
    given = given_rules(rules)
    tables = source if isinstance(source, Mapping) else {"table": source}
    findings: list[Any] = []
    listings: list[Listing] = []
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        built = {
            name: build_table(name, one, options or ReadOptions(), (), nulls, folder, spark, progress)
            for name, one in tables.items()
        }
        schemas = {name: one.admitted.table.schema for name, one in built.items()}
        bound = bound_settings(settings or Settings(), given, schemas, progress)
        for (name, one), serving in product(built.items(), [engine(each, bound) for each in engines_for(given)]):
            progress.step(f"Looking for {serving.title} in {name}")
            state = serving.discover(one.admitted.table, discovery_runner(one))
            findings += serving.result(state).values()
            listings += cast(Lists, serving).listings(state, one.admitted.table)
    return Checked(tuple(findings), tuple(listings))
