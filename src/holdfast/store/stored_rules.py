"""What is stored of rules, read back: what holds now, which violations are accepted, and which raised an alarm."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from holdfast.store.later import BASELINES, INCIDENTS
from holdfast.store.records import AlarmedRule

ALARMED = "alarmed"  # the fact with the found rules that raised an alarm and are to be given
_Rule = tuple[str, str, str]  # engine, table (or all of them), and text


class StoredRules(NamedTuple):
    """Reads what the database of a state has of rules. `rows` gives what a query finds."""

    rows: Callable[..., list[Any]]

    def results(self, engine: str | None = None, table: str | None = None) -> list[dict[str, Any]]:
        """What holds now, as JSON objects."""
        query = """
            SELECT json FROM results WHERE (?1 IS NULL OR engine = ?1) AND (?2 IS NULL OR table_name = ?2)
            ORDER BY engine, table_name, text"""
        return [json.loads(row[0]) for row in self.rows(query, engine, table)]

    def recalled(self, engine: str, table: str) -> list[dict[str, Any]]:
        """How given rules stand, with which violations are accepted (`baseline`)."""
        lines = self.results(engine, table)
        if not self._has(BASELINES):
            return lines
        query = f"SELECT text, json FROM {BASELINES} WHERE engine = ? AND table_name = ?"
        known = {text: {"baseline": json.loads(stored)} for text, stored in self.rows(query, engine, table)}
        return [{**line, **known.get(line["text"], {})} for line in lines]

    def incidents(self, rules: Iterable[_Rule]) -> dict[_Rule, dict[str, int]]:
        """The incidents of some rules, each with the `seq` of the batch that brought it."""
        if not self._has(INCIDENTS):
            return {rule: {} for rule in rules}
        query = f"SELECT hash, seq FROM {INCIDENTS} WHERE engine = ? AND table_name = ? AND text = ?"
        return {rule: dict(self.rows(query, *rule)) for rule in rules}

    def alarmed(self) -> list[AlarmedRule]:
        """The found rules that raised an alarm and still are to be given."""
        found = self.rows("SELECT value FROM meta WHERE key = ?", ALARMED)
        return [AlarmedRule(*rule) for rule in json.loads(found[0][0])] if found else []

    def _has(self, name: str) -> bool:
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = ?", name))
