"""What a state keeps beside its tables: the settings, the rules that were given, and what engines share of a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from holdfast.rules.given import Given, GivenRule, TableRules
from holdfast.store.store import Store

PARTS = "parts"  # stands where the name of an engine would, for what engines share of a table
_GIVEN = "given"


def settings_text(values: Mapping[str, Any], given: Given) -> str:
    """Settings and given rules as a state keeps them."""
    plain = {
        name: {
            table: {"ordered": sorted(own.ordered), "rules": [asdict(rule) for rule in own.rules]}
            for table, own in tables.items()
        }
        for name, tables in given.items()
    }
    return json.dumps({**values, _GIVEN: plain})


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


def _settings(store: Store) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(store.meta("settings") or "{}")
    return found
