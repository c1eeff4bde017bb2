"""A state is created: its tables are read whole, and all that holds in them is found."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from holdfast.api.checks import bound, classes_of, given_rules
from holdfast.api.expectations import OFF, History, first_expected, rows_of_days
from holdfast.api.naming import named_record, named_table
from holdfast.api.open_state import OpenState
from holdfast.api.settings import BUDGET, SENSITIVE, budget_of, settings_text, stored_settings
from holdfast.api.suggestions import suggestions_in
from holdfast.api.upkeep import Upkeep, kept_for
from holdfast.api.workspace import Workspace, named
from holdfast.engines.given.engine import GivenState
from holdfast.engines.registry import make_engine, names_in, refuse_unknown_settings, to_find
from holdfast.engines.thresholds import ALARM_BUDGET, SUGGESTED
from holdfast.errors import BadInput, clear_sentences, refuse_none_of
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import BuiltTable, build_table, by_table
from holdfast.progress import Progress
from holdfast.ranking.expectation import Expectation, Usual, refuse_bad_budget
from holdfast.ranking.few_errors import broken_by_errors
from holdfast.rules.dependency import Key
from holdfast.rules.file import RuleEntry, Rules, free_name
from holdfast.rules.names import name_of
from holdfast.rules.registry import parse
from holdfast.store.records import TableRecord
from holdfast.store.store import KEEP_ROWS, Store
from holdfast.table.nulls import GivenNulls
from holdfast.table.rewrite import bytes_a_row
from holdfast.text.quotes import quoted

_DEFAULT_CLASSES = ("column",)


@dataclass(frozen=True)
class Wanted:
    """What to watch, and how, as `Monitor.create` describes it."""

    watch: str | Sequence[str] | None
    rules: str | Path | Sequence[str] | Rules | None
    suggest: int | None
    alarm_budget: float
    key: str | Sequence[str] | Mapping[str, str | Sequence[str]]
    columns: str | Sequence[str] | Mapping[str, Sequence[str]]
    nulls: GivenNulls
    options: ReadOptions | None
    segments: str | None
    sensitive: str | Sequence[str] | Mapping[str, str | Sequence[str]]
    keep_rows: str | None
    expect: bool | None
    history: History
    settings: Mapping[str, Any]


def created(path: str | Path, sources: Any, wanted: Wanted, spark: Any, progress: Progress | None) -> OpenState:
    """A new state that watches tables; nothing is left of it where that fails."""
    tables = named(sources, wanted.options)
    if not tables:
        raise BadInput("nothing to watch: give at least one table")
    given = None if wanted.rules is None else given_rules(wanted.rules)
    suggest = wanted.suggest
    if wanted.watch is None and given is None and suggest is None:
        suggest = SUGGESTED
    with clear_sentences(path):
        store = Store.create(path, _first_facts(wanted, given), wanted.segments)
        try:
            state = OpenState(store, spark, progress)
            _watch(state, tables, wanted, given, suggest)
            return state
        except BaseException:
            store.abandon()
            raise


def _first_facts(wanted: Wanted, given: Rules | None) -> dict[str, str]:
    """The facts that a state begins with; refused where they can't be meant."""
    classes = to_find(_DEFAULT_CLASSES if wanted.watch is None else wanted.watch)
    refuse_unknown_settings(wanted.settings)
    if wanted.alarm_budget != ALARM_BUDGET:
        refuse_bad_budget(wanted.alarm_budget)
    watched = names_in([*classes, *(classes_of(given) if given else ())])
    for name in watched:
        make_engine(name, wanted.settings)
    return {
        "watch": json.dumps(watched),
        "nulls": wanted.nulls,
        "settings": settings_text(wanted.settings, {}),
        KEEP_ROWS: kept_for(wanted.keep_rows),
        BUDGET: repr(float(wanted.alarm_budget)),
    }


def read_table(
    state: OpenState, name: str, source: Any, options: ReadOptions | None, key: Sequence[str], columns: Sequence[str]
) -> BuiltTable:
    """A new table, read whole."""
    store, read = state.store, options or ReadOptions()
    return build_table(name, source, read, key, store.nulls, store.folder, state.spark, state.progress, columns)


def record_of(built: BuiltTable) -> TableRecord:
    """A new table as a state stores it."""
    table = built.admitted.table
    return TableRecord(table.schema, built.options.to_dict(), built.left_out, table.rows, table.files)


def _with_filled_keys(suggested: Sequence[RuleEntry], workspace: Workspace) -> list[RuleEntry]:
    """Suggestions, and that the best key of each table has a value in every row, if it has: one row without it breaks
    no key.
    """
    entries, names = list(suggested), {each.name for each in suggested}
    done = {name for name, watched in workspace.tables.items() if watched.table.schema.key}  # which takes no nulls
    for each in suggested:
        rule = parse(each.text)
        if not isinstance(rule, Key) or each.severity != "error" or each.table in done:
            continue
        done.add(each.table)
        table = workspace.tables[each.table].table
        for column in rule.columns:
            if table.column_codes(table.schema.names.index(column)).all():  # code 0 is null
                text, note = f"t.{quoted(column)} is not null", f"{each.text} names its rows"
                name = free_name(name_of([text]), names, f"{name_of([text])}-", 2)
                filled = RuleEntry(name, each.table, text, "error", note)
                known = next(
                    (at for at, own in enumerate(entries) if (own.table, own.text) == (each.table, text)), None
                )
                if known is None:
                    names.add(name)
                    entries.append(filled)
                else:
                    entries[known] = replace(filled, name=entries[known].name)
    return entries


def _accepting(known: Any) -> Any:
    """What an engine knows, where what breaks suggested rules of severity error now is accepted."""
    if not isinstance(known, GivenState):
        return known
    broken = (each for each in known.statuses if each.violations and each.named.origin == "suggested")
    return known.accept({each.text: True for each in broken if each.named.severity == "error"})


def _usual_of(workspace: Workspace, history: History) -> dict[str, Usual]:
    """How large the past batches are into which tables are cut."""
    tables = {name: watched.table for name, watched in workspace.tables.items()}
    return {name: Usual.of(rows_of_days(table, history), table.rows) for name, table in tables.items()}


def _with_suggested(state: OpenState, given: Rules | None, most: int, history: History) -> Rules:
    """Given rules, and the best ones that the tables seem to follow."""
    workspace = state.workspace
    expectation = Expectation(_usual_of(workspace, history), budget_of(state.store))
    suggestions = suggestions_in(workspace, state.progress, expectation=expectation)
    found = suggestions.rules(most, broken_by_errors(suggestions.best(most), workspace.tables))
    entries = _with_filled_keys(found.entries, workspace)
    suggested = replace(found, entries=tuple(replace(each, origin="suggested") for each in entries))
    return suggested if given is None else given.with_others(suggested)


def _watch(
    state: OpenState, tables: Mapping[str, Any], wanted: Wanted, given: Rules | None, suggest: int | None
) -> None:
    """Read tables, find what holds in them, and what their batches are expected to look like, and make the state
    durable.
    """
    keys, chosen = by_table(wanted.key, tables, "a key is"), by_table(wanted.columns, tables, "columns are")
    built = {
        name: read_table(state, name, source, wanted.options, keys.get(name, ()), chosen.get(name, ()))
        for name, source in tables.items()
    }
    sensitive = by_table(wanted.sensitive, tables, "columns are")
    history, expect = wanted.history, bool(suggest) if wanted.expect is None else wanted.expect
    store, workspace = state.store, state.workspace
    for name, columns in sensitive.items():
        refuse_none_of(columns, built[name].admitted.table.schema.names, f"no column of {name}")
    for name, one in built.items():
        workspace.add(name, one)
        state.records[name] = record_of(one)
    store.put_meta(SENSITIVE, json.dumps({name: columns for name, columns in sensitive.items() if columns}))
    store.put_meta("ways", json.dumps({name: one.reader for name, one in built.items()}))
    rules = _with_suggested(state, given, suggest, history if expect else OFF) if suggest else given
    if rules is not None:
        own = bound(rules, workspace.schemas, state.progress)
        store.put_meta("watch", json.dumps(names_in([*store.watched, *classes_of(rules)])))
        store.put_meta("settings", settings_text(stored_settings(store), own))
        for name, watched in workspace.tables.items():
            watched.table = named_table(watched.table, own)
            state.records[name] = named_record(state.records[name], own)
    workspace.engines = state.made_engines()
    for at in workspace.subjects():
        workspace.states[at] = _accepting(workspace.discover(at, state.progress))
    Upkeep(state).remember_needed({name: bytes_a_row(each.table) for name, each in workspace.tables.items()})
    results = {at: each for at, each in workspace.results().items() if not workspace.engines[at[0]].declared.many}
    accepted = {at: each.baselines for at, each in workspace.states.items() if isinstance(each, GivenState)}
    tables = {name: watched.table for name, watched in workspace.tables.items()}
    expected = first_expected(tables, history, state.progress) if expect else None
    states = state.write_states(workspace, {})
    store.finish_creation(state.records.values(), results, accepted, states, expected)
    store.bulk.remove_orphans()
