"""Verification: is a state what was written, and are its answers what a fresh search finds?

Three checks, each only if the one before found nothing wrong: every byte of every file, and the database; the facts in
the database against the tables and the engines' states; and, with `deep`, the answers against a search from scratch.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast.api.open_state import OpenState
from holdfast.api.workspace import Subject, Workspace, workspace_of
from holdfast.changes.diff import Finding, Result
from holdfast.changes.equal_rows import hash_rows
from holdfast.engines.contract import HISTORY
from holdfast.engines.registry import ALL_TABLES, rule_class
from holdfast.engines.watched import WatchedTable
from holdfast.errors import Damaged, Missing, clear_sentences
from holdfast.progress import Progress
from holdfast.results.upkeep import Verified
from holdfast.rules.registry import parse
from holdfast.store.store import Store
from holdfast.table import files
from holdfast.table.load import load_table
from holdfast.table.table import Table

_ATTEMPTS = 5
_SMALL_CELLS = 5_000_000  # up to here, rules are looked for among all columns of a table
_SAMPLE = 4  # columns of larger ones
_SHOWN = 3


def verify(path: str | Path, *, deep: bool = False, progress: Progress | None = None) -> Verified:
    """Check whether a state is whole, while a writer may be at work; with `deep`, whether its answers equal those of a
    search from scratch: all of them in small tables, in larger ones those about a few random columns.

    With `watch` and `more` of the example of `Monitor`:

    >>> hf.verify(watch.path, deep=True).compared
    ('violations of named dependencies of towns: 1',)
    """
    with clear_sentences(path):
        try:
            with closing(Store(path)) as store:
                return _verified(store, deep, progress or Progress())
        except (Damaged, Missing) as error:  # of the database: other files are not known then
            return Verified(str(path), 0, 0, (), (str(error),))


def _verified(store: Store, deep: bool, progress: Progress) -> Verified:
    compared: list[str] = []
    count, size, problems = _look_at_all_files(store, progress)
    problems += store.complaints()
    if not problems:
        progress.step("Reading tables and rules")
        answers = _Answers(store, progress)
        problems += answers.wrong_facts()
        for what, wrong in answers.found_again() if deep and not problems else ():
            compared.append(what)
            problems += wrong
    return Verified(str(store.path), count, size, tuple(compared), tuple(problems))


# ---- files ----------------------------------------------------------------------------------------------------------


def _look_at_all_files(store: Store, progress: Progress) -> tuple[int, int, list[str]]:
    """How many files and bytes there are, and what is wrong with them. If a compaction removed files meanwhile, look
    again.
    """
    for _ in range(_ATTEMPTS):
        names = store.bulk.named()
        size, problems = _look_at_files(store, names, progress)
        if not problems:
            break
        store.look_again()
        if store.bulk.named() == names:
            break
    return len(names), size, problems


def _look_at_files(store: Store, names: set[str], progress: Progress) -> tuple[int, list[str]]:
    size, problems = 0, []
    for number, name in enumerate(sorted(names), 1):
        progress.step(f"Checking files: {number:,} of {len(names):,}")
        try:
            size += files.check(f"{store.folder}/{name}")
        except (Missing, Damaged) as error:
            problems.append(str(error))
    return size, problems


# ---- facts and answers ----------------------------------------------------------------------------------------------


class _Answers:
    """A state with the results in its database, both as of one moment."""

    def __init__(self, store: Store, progress: Progress) -> None:
        self._state = OpenState(store, progress=progress)
        self._stored: dict[Subject, dict[str, Any]] = self._state.while_others_write(self._read)
        self._watched: Workspace = self._state.now()
        self._found = self._watched.results()

    def _read(self) -> dict[Subject, dict[str, Any]]:
        self._state.load()
        subjects = (at for at in self._state.workspace.states if not rule_class(at[0]).many)
        return {at: {line["text"]: line for line in self._state.store.rules.results(*at)} for at in subjects}

    def wrong_facts(self) -> list[str]:
        """Where the database disagrees with tables and engines, and where a table contradicts itself."""
        problems = []
        for name, table in self._state.tables.items():
            if table.rows != (stored := self._state.records[name].rows):
                problems.append(f"table {name}: its files hold {table.rows:,} rows, the database says {stored:,}")
            problems += [f"table {name}: {wrong}" for wrong in _wrong_shards(table)]
        for subject, results in self._stored.items():
            now = _as_json(self._found[subject])
            problems += [f"the database: {line}" for line in _differences(results, now)]
        return problems

    def found_again(self) -> Iterator[tuple[str, list[str]]]:
        """What was searched from scratch, and which answers differ."""
        tables = self._state.tables
        fresh = {name: load_table(table.files) for name, table in tables.items()}
        sampled = sum(table.rows * len(table.schema.columns) for table in fresh.values()) > _SMALL_CELLS
        everything = Workspace({name: WatchedTable(table) for name, table in fresh.items()})
        searched = [rules for rules in self._watched.engines if sampled and rule_class(rules).is_searched]
        whole = [rules for rules in self._watched.engines if rules not in searched]
        for (rules, name), again in self._found_in(everything, whole):
            what = rule_class(rules).title + (f" of {name}" if name != ALL_TABLES else "")
            known = _without_history(_as_json(self._found[rules, name]))
            yield f"{what}: {len(again):,}", _differences(known, _without_history(_as_json(again)))
        if searched:
            yield self._found_again_among_some(searched, fresh)

    def _found_again_among_some(self, searched: list[str], fresh: Mapping[str, Table]) -> tuple[str, list[str]]:
        """The same among a few random columns. A rule is minimal among all columns iff it is minimal among its own, so
        a search there must find exactly the known rules about these columns.
        """
        picked = {name: _picked(table) for name, table in fresh.items()}
        parts = {name: _part(table, picked[name]) for name, table in fresh.items()}
        with workspace_of(parts, (), self._state.store.nulls, None, None, self._state.progress) as tables:
            again = [finding for _, result in self._found_in(tables, searched) for finding in result.values()]
        among = {(name, table.schema.names[c]) for name, table in fresh.items() for c in picked[name]}
        known = [finding for at in self._found if at[0] in searched for finding in self._found[at].values()]
        sides = again, [finding for finding in known if _columns(finding) <= among]
        found, stored = ({(each.kind, each.text): each.to_json() for each in side} for side in sides)
        named = ", ".join(sorted(f"{table}.{column}" for table, column in among))
        return f"rules ({', '.join(searched)}) among {named}: {len(found):,}", _differences(stored, found)

    def _found_in(self, tables: Workspace, classes: list[str]) -> Iterator[tuple[Subject, Result]]:
        """What engines of some classes find in tables, with the same spec as in the state."""
        for at, state in self._watched.states.items():
            if at[0] in classes:
                engine = tables.engines[at[0]] = self._watched.engines[at[0]].with_settings_of(state)
                again = tables.discover(at, self._state.progress)
                engine.recall(again, self._stored_lines(at))  # what batches did is no fact of the tables
                yield at, engine.result(again)

    def _stored_lines(self, at: Subject) -> list[dict[str, Any]]:
        return self._state.store.rules.recalled(*at) if rule_class(at[0]).given else []


def _wrong_shards(table: Table) -> Iterator[str]:
    """Where a code has no value, and where a row is not found by its hash."""
    for shard in table.shards:
        for name, codes, dictionary in zip(table.schema.names, shard.columns, table.dictionaries, strict=True):
            if int(codes.max(initial=0)) >= len(dictionary):
                yield f"{shard.path}: column {name} has codes that stand for no value"
        hashes = hash_rows([shard.columns[c] for c in table.schema.found_by])
        in_order = bool((shard.hashes[1:] >= shard.hashes[:-1]).all())
        if not in_order or not np.array_equal(hashes[shard.places], shard.hashes):
            yield f"{shard.path}: its index does not fit its rows"


def _picked(table: Table) -> list[int]:
    width = len(table.schema.columns)
    return sorted(random.sample(range(width), min(_SAMPLE, width)))


def _part(table: Table, columns: list[int]) -> pa.Table:
    """Some columns of the living rows, as values."""
    names = table.schema.names
    return pa.table({names[c]: table.dictionaries[c].values(table.column_codes(c)) for c in columns})


def _columns(finding: Finding) -> set[tuple[str, str]]:
    """The columns that a rule is about, with their tables."""
    own = finding.to_json().get("table", "")
    return {(table or own, name) for table, names in parse(finding.text).mentions() for name in names}


def _as_json(result: Result) -> dict[str, Any]:
    return {text: finding.to_json() for text, finding in result.items()}


def _without_history(found: Mapping[str, Any]) -> dict[str, Any]:
    """Findings without their track record, which the table doesn't decide."""
    return {text: {name: line[name] for name in line if name not in HISTORY} for text, line in found.items()}


def _differences(stored: Mapping[Any, Any], found: Mapping[Any, Any]) -> list[str]:
    """The first few rules on which two sides differ."""
    wrong = [text for text in {**stored, **found} if stored.get(text) != found.get(text)]
    return [
        f"{text}: stored as {stored.get(text, 'nothing')}, found as {found.get(text, 'nothing')}"
        for text in wrong[:_SHOWN]
    ]
