"""The profile of a column: its facts, the rules that name it, and how its values spread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.results.drawn import Drawn, section
from holdfast.visible import Printed, brief


@dataclass(frozen=True, repr=False)
class ColumnProfile(Printed, Drawn):
    """A column: its facts, and the rules that name it, the best of each kind first.

    With `watch` and `more` of the example of `Monitor`:

    >>> watch.column("city")
    towns.city: text, 2 distinct, 0 nulls, from Berlin to Hamburg
    your rules: 1
      zip -> city
    """

    table: str
    name: str
    facts: Mapping[str, Any]  # type, rows, nulls, distinct, min, max and the most frequent values
    rules: Mapping[str, tuple[str, ...]]  # by what they say about it
    pictures: tuple[str, ...]  # SVG

    def to_json(self) -> dict[str, Any]:
        """As a plain object."""
        rules = {kind: list(texts) for kind, texts in self.rules.items()}
        return {"kind": "lens", "table": self.table, "column": self.name, **self.facts, "rules": rules}

    def lines(self) -> list[str]:
        """Its facts, and the first rules of each kind."""
        lines = [f"{self.table}.{self.name}: {self.summary()}"]
        for kind, texts in self.rules.items():
            lines += section(f"{kind}: {len(texts):,}", len(texts), texts)
        return lines

    def summary(self) -> str:
        """Its type, how many values it has, and the least and the greatest one."""
        facts = self.facts
        spread = f", from {brief(facts['min'])} to {brief(facts['max'])}" if facts.get("distinct") else ""
        return f"{facts['type']}, {facts['distinct']:,} distinct, {facts['nulls']:,} nulls{spread}"
