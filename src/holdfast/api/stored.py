"""What a state keeps beside its tables: settings, the rules that were given, marks, and what engines know."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from holdfast.api.workspace import Subject, Watched
from holdfast.engines.watched import FILES
from holdfast.results.marks import MARKS, Marks
from holdfast.rules.given import Given, GivenRule, TableRules
from holdfast.store.records import KeptStates
from holdfast.store.store import Store
from holdfast.table import files

PARTS = "parts"  # stands where the name of an engine would, for what engines share of a table
_GIVEN = "given"


def settings_text(values: Mapping[str, Any], given: Given) -> str:
    """Settings and given rules as a state keeps them."""
    plain = {name: {table: asdict(own) for table, own in tables.items()} for name, tables in given.items()}
    return json.dumps({**values, _GIVEN: plain}, default=sorted)  # sets of names, as lists


def kept_settings(store: Store) -> dict[str, Any]:
    """The settings that a state was made with."""
    return {name: value for name, value in _settings(store).items() if name != _GIVEN}


def kept_rules(store: Store) -> dict[str, dict[str, TableRules]]:
    """The rules that were given, by class and table."""
    plain: dict[str, Any] = _settings(store).get(_GIVEN, {})
    return {
        name: {
            table: TableRules(tuple(GivenRule(**rule) for rule in own["rules"]), frozenset(own["ordered"]))
            for table, own in tables.items()
        }
        for name, tables in plain.items()
    }


def kept_marks(store: Store) -> Marks:
    """The found rules that are ignored, and those that are pinned."""
    return Marks.read(store.meta(MARKS))


def _settings(store: Store) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(store.meta("settings") or "{}")
    return found


def written_states(store: Store, watched: Watched, unchanged: Mapping[Subject, str]) -> KeptStates:
    """Write what engines know, and what they share of each table, to files: one each, where there is anything. Gives
    these, and the names of the files that go with them, as the states say. Unchanged states keep the files they have.
    """
    kept = dict(unchanged)
    beside = store.beside() if kept else set()
    for subject, (arrays, facts) in _dumps(watched, unchanged):
        if arrays or facts:
            kept[subject] = files.new_path(store.folder)
            files.write(kept[subject], arrays, facts)
            beside |= set(facts.get(FILES, ()))
    return KeptStates(kept, beside)


def _dumps(
    watched: Watched, unchanged: Mapping[Subject, str]
) -> Iterator[tuple[Subject, tuple[Mapping[str, Any], Mapping[str, Any]]]]:
    for at, state in watched.states.items():
        if at not in unchanged:
            yield at, watched.engines[at[0]].dump(state)
    for name, table in watched.tables.items():
        yield (PARTS, name), table.dump()
