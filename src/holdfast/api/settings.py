"""What a state is to watch, as its database stores it: settings, given rules, and marks of found ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from holdfast.engines.thresholds import ALARM_BUDGET
from holdfast.results.marked_rules import MARKS, MarkedRules
from holdfast.rules.given import Given, GivenRule, TableRules
from holdfast.store.store import Store

SENSITIVE = "sensitive"  # the fact of a state with the columns whose values others must not see, by table
_GIVEN = "given"
BUDGET = "alarm_budget"


def settings_text(values: Mapping[str, Any], given: Given) -> str:
    """Settings and given rules as text."""
    plain = {name: {table: asdict(own) for table, own in tables.items()} for name, tables in given.items()}
    return json.dumps({**values, _GIVEN: plain}, default=sorted)  # sets of names, as lists


def stored_settings(store: Store) -> dict[str, Any]:
    """The settings that a state was made with."""
    return {name: value for name, value in store.facts("settings").items() if name != _GIVEN}


def stored_rules(store: Store) -> dict[str, dict[str, TableRules]]:
    """The given rules, by class and table."""
    plain: dict[str, Any] = store.facts("settings").get(_GIVEN, {})
    return {
        name: {
            table: TableRules(tuple(GivenRule(**rule) for rule in own["rules"]), frozenset(own["ordered"]))
            for table, own in tables.items()
        }
        for name, tables in plain.items()
    }


def stored_marks(store: Store) -> MarkedRules:
    """The found rules that are ignored, and those that are pinned."""
    return MarkedRules.read(store.meta(MARKS))


def stored_sensitive(store: Store) -> dict[str, tuple[str, ...]]:
    """The columns that are declared sensitive, by table. One that was dropped stays so: it may come back."""
    return {table: tuple(names) for table, names in store.facts(SENSITIVE).items()}


def budget_of(store: Store) -> float:
    """How many breaks by chance the errors of a state may have in 100 usual batches."""
    return float(store.meta(BUDGET) or ALARM_BUDGET)
