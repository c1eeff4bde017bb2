"""What a state keeps beside its tables: the settings, the rules that were given, and what engines share of a table.

States of formats 1 and 2 kept some of it in other forms: they are read here, and written anew with the next checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from holdfast.engines.declared import Given, GivenRule, TableRules
from holdfast.store.store import Store

PARTS = "parts"  # stands where the name of an engine would, for what engines share of a table
_GIVEN = "given"
State = tuple[Mapping[str, Any], Mapping[str, Any]]  # the arrays and the facts of a file


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
    return {name: value for name, value in _settings(store).items() if name not in (_GIVEN, "rules")}


def kept_rules(store: Store) -> dict[str, dict[str, TableRules]]:
    """The rules that were given, by class and table."""
    kept = _settings(store)
    plain: dict[str, Any] = kept[_GIVEN] if _GIVEN in kept else _older_rules(kept.get("rules", {}))
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


def _older_rules(by_table: Mapping[str, Any]) -> dict[str, Any]:
    """Formats 1 and 2: denial constraints and dependencies table by table."""
    given: dict[str, Any] = {}
    for table, kept in by_table.items():
        for name, rules in (("dc", "constraints"), ("named", "dependencies")):
            listed = [{**rule, "table": table} for rule in kept.get(rules, ())]
            if listed:
                given.setdefault(name, {})[table] = {"ordered": kept["ordered"], "rules": listed}
    return given


def kept_parts(table: str, kept: Mapping[tuple[str, str], State]) -> State:
    """The arrays and facts of what engines share of a table."""
    if (PARTS, table) in kept:
        return kept[PARTS, table]
    return _older_parts(table, kept), {}


def _older_parts(table: str, kept: Mapping[tuple[str, str], State]) -> dict[str, Any]:
    """Formats 1 and 2: frequencies with column facts, agree-sets with keys and with FDs."""
    parts: dict[str, Any] = {}
    if ("column", table) in kept:
        arrays = kept["column", table][0]
        parts |= {f"frequencies/{name}": arrays[name] for name in arrays}
    for name in ("ucc", "fd"):
        arrays = kept.get((name, table), ({}, {}))[0]
        parts |= {f"agree-sets/{each}": arrays[each] for each in arrays if each.startswith(("pairs/", "maximal/"))}
    return parts
