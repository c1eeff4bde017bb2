"""Suggestions: rules that the data seem to follow, and the rows that break them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.api.discovery import found_in
from holdfast.api.workspace import Workspace, workspace_of
from holdfast.engines.registry import found_classes, make_engine, names_in, rule_class, rule_classes, suggestible
from holdfast.engines.scored import Scored, Wanted
from holdfast.engines.thresholds import ALARM_BUDGET, MAX_LHS, TOP
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput
from holdfast.intake.source import ReadOptions
from holdfast.progress import SILENT, Progress
from holdfast.ranking.doubts import doubts
from holdfast.ranking.expectation import Expectation, refuse_bad_budget
from holdfast.ranking.order import ranked
from holdfast.results.found import Found
from holdfast.results.suggestions import Suggestions
from holdfast.store.layout import DATABASE
from holdfast.table.nulls import GivenNulls


def suggest(
    source: Any,
    rules: str | Sequence[str] | None = None,
    *,
    top: int = TOP,
    max_lhs: int = MAX_LHS,
    alarm_budget: float = ALARM_BUDGET,
    columns: str | Sequence[str] | Mapping[str, Sequence[str]] = (),
    nulls: GivenNulls = "equal",
    options: ReadOptions | None = None,
    spark: Any = None,
    progress: Progress | None = None,
) -> Suggestions:
    """Rules that a table, or several given by name, seem to follow, exactly or nearly.

    `rules` names the classes to look at; none means all that can be suggested. At most `top` rules of a class are
    ranked, with up to `max_lhs` columns in a left side or key. `alarm_budget` is how many breaks by chance all errors
    together may have in 100 usual batches: rules that chance breaks more often warn.

    >>> import holdfast as hf, pyarrow as pa
    >>> towns = pa.table({"zip": [10115, 10115, 20095, 20095, 80331, 80331], "city": ["Berlin"] * 2 + ["Hamburg"] * 4})
    >>> best = hf.suggest(towns, "fd")[0]
    >>> print(best.text, best.scored.sentence)
    zip -> city all 6 rows that share zip with another have its city
    """
    progress = progress or SILENT
    classes, wanted = classes_of(rules), Wanted(top, max_lhs)
    refuse_bad_budget(alarm_budget)
    started = time.perf_counter()
    with workspace_of(source, columns, nulls, options, spark, progress) as tables:
        found = suggestions_in(tables, progress, classes, wanted, expectation=Expectation(budget=alarm_budget))
    return replace(found, seconds=time.perf_counter() - started)


def overview(
    tables: Mapping[str, Any],
    columns: Mapping[str, Sequence[str]],
    nulls: GivenNulls,
    options: ReadOptions,
    progress: Progress,
    page: Path | None,
    redact: bool,
) -> tuple[Suggestions, Found]:
    """The likely rules of tables and the facts of their columns; the tables are read once.

    `page` names a page to write; with `redact` it shows hashes in place of values.
    """
    started = time.perf_counter()
    with workspace_of(tables, columns, nulls, options, None, progress) as seen:
        facts = found_in(seen, [make_engine(each.name) for each in found_classes() if each.facts], nulls, progress)
        suggestions = suggestions_in(seen, progress)
        if page is not None:
            from holdfast.api.tables_report import suggested_document, write_document

            progress.step("Writing the page")
            write_document(page, suggested_document(seen, suggestions, nulls, redact=redact))
    return replace(suggestions, seconds=time.perf_counter() - started), facts


def suggestions_in(
    tables: Workspace,
    progress: Progress,
    classes: Sequence[str] | None = None,
    wanted: Wanted | None = None,
    given: Sequence[Mapping[str, Any]] = (),
    expectation: Expectation | None = None,
) -> Suggestions:
    """The likely rules of open tables. Batches have tested given rules, which shows in their scores."""
    started = time.perf_counter()
    found: list[Scored] = []
    declares = {each.name: each for each in suggestible()}
    alone = {
        name: WatchedTable(each.table) for name, each in tables.tables.items()
    }  # with the parts that classes share
    for declared in [declares[name] for name in (declares if classes is None else classes)]:
        for name in tables.names(declared.across):
            subject = tables.subject(name) if declared.across else alone[name]
            progress.step(f"Finding likely {declared.title}")
            found += declared.likely(subject, wanted or Wanted(), tables.runner, progress)
    tested = {(rule["table"], rule["text"]): rule for rule in given if rule.get("tested_since")}
    expectation = expectation or Expectation()
    known = [_with_tests(each, tested.get((each.table, each.text))) for each in found]
    order, same = ranked(known, tables.shapes, expectation)
    progress.step("Looking for rows that look wrong")
    wrong = doubts(order, tables.tables, tables.runner)
    seconds = time.perf_counter() - started
    return Suggestions(order, same, wrong, tables.shapes, tables.left_out, seconds, expectation)


def _with_tests(scored: Scored, given: Mapping[str, Any] | None) -> Scored:
    """A rule with its track record."""
    if given is None:
        return scored
    record = f"; since it is watched: {given['broke_since']:,} of {given['tested_since']:,} new rows broke it"
    return replace(scored, score=max(scored.score, given["trust"]), sentence=scored.sentence + record)


def classes_of(rules: str | Sequence[str] | None) -> list[str]:
    """The classes that are named, or all whose rules can be suggested."""
    known = [each.name for each in suggestible()]
    if rules is None:
        return known
    wanted = names_in(rules)
    for name in wanted:
        if name not in rule_classes():
            raise BadInput(f"there is no rule class {name!r}; choose from: {', '.join(known)}")
        if name not in known:
            raise BadInput(f"{rule_class(name).title} can't be suggested; choose from: {', '.join(known)}")
    return wanted


def is_state(source: Any) -> bool:
    """Whether a source is the folder of a state."""
    return isinstance(source, str | Path) and (Path(source) / DATABASE).is_file()
