"""Checks without a state: whether rules hold in a table, and whether one list of columns orders another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.api.workspace import workspace_of
from holdfast.engines.listing import Listing
from holdfast.engines.registry import ALL_TABLES, given_class, make_engine, refuse_unknown_settings, rule_classes
from holdfast.errors import BadInput, refuse_no_error
from holdfast.intake.source import ReadOptions
from holdfast.progress import SILENT, Progress
from holdfast.results.checked import Checked
from holdfast.rules.bind import bind
from holdfast.rules.file import RuleEntry, Rules, read_rules, rules_of
from holdfast.rules.given import Given
from holdfast.rules.lists import ListOD
from holdfast.rules.measure import TableRule
from holdfast.rules.registry import nearest_kind, parse, split_table
from holdfast.table.nulls import GivenNulls
from holdfast.table.table import Schema

if TYPE_CHECKING:
    from holdfast.engines.order.list_first import Ordered

_RULE_FILES = (".yaml", ".yml", ".json")


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
    if given_class(split_table(rules)[1]):
        return rules_of([rules])
    if not is_rule_file(rules):
        raise BadInput(f"{rules!r} is no rule, nor the name of a rule file; {nearest_kind(rules)}")
    return read_rules(rules)


def is_rule_file(name: str) -> bool:
    """Whether a text names a rule file, which may not exist."""
    if Path(name).suffix in _RULE_FILES:
        return True
    try:
        return Path(name).is_file()
    except OSError:  # no name, but a long rule
        return False


def classes_of(rules: Rules) -> list[str]:
    """The classes of rules."""
    known = [given_class(entry.text) for entry in rules.entries]
    return [each.name for each in rule_classes().values() if each in known]


def rules_in(given: Given) -> Rules:
    """Given rules as a rule file has them."""
    tables = [(table, own) for each in given.values() for table, own in each.items()]
    entries = [RuleEntry(r.name, r.table, r.text, r.severity, r.note, r.origin) for _, own in tables for r in own.rules]
    ordered: dict[str, tuple[str, ...]] = {}
    for table, own in tables:
        ordered[table] = tuple(sorted({*ordered.get(table, ()), *own.ordered}))
    return Rules(tuple(entries), {table: names for table, names in ordered.items() if names})


def bound(rules: Rules, schemas: Mapping[str, Schema], progress: Progress) -> Given:
    """Rules checked against tables, by class and table; oddities are noted."""
    found = bind(rules, schemas)
    for note in found.notes:
        progress.note(note)
    return found.given


def check(
    source: Any,
    rules: str | Path | Sequence[str] | Rules,
    *,
    nulls: GivenNulls = "equal",
    error: float = 0.0,
    options: ReadOptions | None = None,
    spark: Any = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Checked:
    """Check rules (a rule file, a text, or texts) on a table, or on several given by name. List orders that hold but
    for the share `error` of the rows (g3) pass. `settings` are those of the rule classes, such as `pair_limit=1000`.

    >>> import holdfast as hf, pyarrow as pa
    >>> towns = pa.table({"zip": ["10115", "10115", "20095"], "city": ["Berlin", "Brelin", "Hamburg"]})
    >>> checked = hf.check(towns, "zip -> city")
    >>> print(checked)
    rules: 1, 1 of them violated
      fd1: 1 row to remove for zip -> city
    >>> print(checked.listings[0])
    fd1: 1 violation of zip -> city
      t_row 1, s_row 0, t.zip '10115', t.city 'Brelin', s.zip '10115', s.city 'Berlin'
    """
    progress = progress or SILENT
    given = given_rules(rules)
    refuse_unknown_settings(settings)
    refuse_no_error(error)
    findings: list[Any] = []
    listings: list[Listing] = []
    with workspace_of(source, (), nulls, options, spark, progress) as tables:
        by_class = bound(given, tables.schemas, progress)
        _note_unchecked(by_class, progress)
        tables.engines = {name: make_engine(name, settings, own) for name, own in by_class.items()}
        order = [*tables.tables, ALL_TABLES]
        for at in sorted(tables.subjects(), key=lambda at: order.index(at[1])):
            engine, state = tables.engines[at[0]], tables.discover(at, progress)
            findings += engine.ranked(state).values()
            listings += engine.listings(state, tables.subject(at[1]))
    return Checked(tuple(findings), tuple(listings), error)


def _note_unchecked(given: Given, progress: Progress) -> None:
    """Say which rules pass only because they are about batches."""
    rules = [rule for own in given.values() for each in own.values() for rule in each.rules]
    for rule in rules:
        parsed = parse(rule.text)
        if isinstance(parsed, TableRule) and parsed.quantity.is_of_batch:
            progress.note(f"{rule.text} is about batches; there is none here, so it passes unchecked")


def orders(
    table: Any,
    by: str | Sequence[str],
    then: str | Sequence[str],
    *,
    error: float = 0.0,
    options: ReadOptions | None = None,
    spark: Any = None,
    progress: Progress | None = None,
) -> Ordered:
    """Whether rows of a table that are sorted by some columns are sorted by others, too; if not, two rows that aren't.

    Columns are written as in a rule: `"Year, Salary desc"`, or `["Year", "Salary desc"]`; names that aren't plain words
    in double quotes. Nulls come first. A split is two rows that are equal by the first list and not by the second; a
    swap is two that the second puts the other way round. With `error` it also counts as ordered if it would be without
    that share of the rows (g3); how many would have to go is `to_remove`.

    >>> import holdfast as hf, pyarrow as pa
    >>> staff = pa.table({"year": [15, 15, 16], "salary": [45, 60, 50], "bin": [1, 2, 1]})
    >>> bool(hf.orders(staff, "year, salary", "year, bin"))
    True
    >>> print(hf.orders(staff, "salary", "year"))
    [salary] orders [year]
    row 2 and row 1 are a swap: salary 50 of row 2 is below salary 60 of row 1; year 16 of row 2 is above year 15 of \
row 1.
    >>> hf.orders(staff, "salary", "year", error=0.5).to_remove
    1
    """
    from holdfast.engines.order.list_first import look

    refuse_no_error(error)
    rule = ListOD.parse(f"[{_listed(by)}] orders [{_listed(then)}]")
    with workspace_of(table, rule.columns, "equal", options, spark, progress or SILENT) as tables:
        ((name, watched),) = tables.tables.items()
        return look(replace(rule, table=name), watched.table, error)


def _listed(columns: str | Sequence[str]) -> str:
    return columns if isinstance(columns, str) else ", ".join(columns)
