"""What the parts of a document share: what was seen, how values are shown, and where each rule stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from holdfast.engines.registry import rule_class
from holdfast.report.document.columns import ColumnIndex
from holdfast.report.document.details import rule_of, wanted_rows
from holdfast.report.document.rules import RuleBlock, RuleName, Section
from holdfast.report.document.seen import Rows, Seen
from holdfast.report.document.shown import Shown
from holdfast.results.memory import RuleKey

Json = dict[str, Any]

MOST_EVENTS = 20_000  # the newest


class Context:
    """One document in the making."""

    def __init__(self, seen: Seen, shown: Shown, budget: int, most: int | None) -> None:
        self.seen, self.shown = seen, shown
        self.schemas = {name: each.table.schema for name, each in seen.watched.items()}
        self.columns = ColumnIndex({name: schema.names for name, schema in self.schemas.items()})
        self.block = RuleBlock(self._sections(), self.columns, self._wanted(), budget, most)
        wanted = wanted_rows(seen.rules)
        for table, row, _, _ in seen.doubts:
            wanted.setdefault(table, set()).add(row)
        self.rows = Rows(seen.watched, wanted)

    def _sections(self) -> list[Section]:
        """The rules that there are; constants in them are values, too."""
        return [
            replace(
                section,
                lines=[replace(line, text=self.text(section.declared.name, line.text)) for line in section.lines],
            )
            for section in self.seen.sections
        ]

    def _wanted(self) -> set[RuleName]:
        """The rules that something else refers to."""
        keys = [rule.key for rule in self.seen.rules] + [event.rule for event in self.seen.events[:MOST_EVENTS]]
        return {self._named(key) for key in [*keys, *self.seen.references]}

    def _named(self, key: RuleKey) -> RuleName:
        engine, subject, text = key
        return engine, "" if rule_class(engine).across else subject, self.text(engine, text)

    def place(self, key: RuleKey) -> int | None:
        """The number of a rule in the document; None where it is left out."""
        return self.block.place(self._named(key))

    def text(self, engine: str, text: str) -> str:
        """The text of a rule as the page has it."""
        rule = rule_of(engine, text) if self.shown.redacted else None
        return self.shown.rule(text, rule) if rule else text
