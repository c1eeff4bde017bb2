"""Column facts: the smallest engine. Rows, nulls, distinct values, extremes and frequent values of each column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.engines.contract import ChangeLine, FindingTable, Json, NoSettings, RuleClass
from holdfast.visible import brief, counted

if TYPE_CHECKING:
    from holdfast.engines.column.engine import ColumnEngine
    from holdfast.rules.given import TableRules


def _value(value: Any) -> str:
    """A value of the data, as it is: numbers are not grouped."""
    return brief(str(value) if value is not None else None, 12)


def _cells(facts: Json) -> list[str]:
    frequent = ", ".join(f"{_value(value)} ×{count:,}" for value, count in facts["frequent"][:3])
    counts = brief(facts["nulls"]), brief(facts["distinct"])
    return [facts["column"], facts["type"], *counts, _value(facts["min"]), _value(facts["max"]), frequent]


class Facts(RuleClass[NoSettings]):
    """Column facts."""

    name, title = "column", "column facts"
    settings, facts = NoSettings, True
    table = FindingTable(
        ("column", "type", "nulls", "distinct", "min", "max", "frequent"), _cells, ("nulls", "distinct")
    )

    def engine(self, settings: NoSettings, given: Mapping[str, TableRules]) -> ColumnEngine:  # noqa: ARG002
        """From how often values occur."""
        from holdfast.engines.column.engine import ColumnEngine

        return ColumnEngine(self, settings)

    def heading(self, finding: Json) -> str:
        """How many rows there are."""
        return counted(finding["rows"], "row")

    def changes(self, before: Json, after: Json) -> list[ChangeLine]:
        """The facts that differ, besides the number of rows."""
        lines = [
            (after["column"], fact, brief(before[fact]), brief(after[fact]))
            for fact in ("nulls", "distinct", "min", "max")
            if before[fact] != after[fact]
        ]
        top_before, top_after = before["frequent"][:1], after["frequent"][:1]
        if [value for value, _ in top_before] != [value for value, _ in top_after]:
            shown = [brief(top[0][0]) if top else "–" for top in (top_before, top_after)]
            lines.append((after["column"], "most frequent", *shown))
        return lines


RULE_CLASSES = (Facts(),)
