"""What the parts of a document share: its content, how values are shown, and the place of each rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from holdfast.engines.registry import rule_class
from holdfast.report.document.columns import ColumnIndex
from holdfast.report.document.content import Content, RowValues
from holdfast.report.document.details import rule_of, wanted_rows
from holdfast.report.document.rules import RuleBlock, RuleName, RuleSection
from holdfast.results.memory import RuleKey
from holdfast.results.redaction import ShownValues

Json = dict[str, Any]

MOST_EVENTS = 20_000  # the newest


class Context:
    """What is needed to write one document."""

    def __init__(self, content: Content, shown: ShownValues, budget: int, most: int | None) -> None:
        self.content, self.shown = content, shown
        self.schemas = {name: each.table.schema for name, each in content.watched.items()}
        self.columns = ColumnIndex({name: schema.names for name, schema in self.schemas.items()})
        self.block = RuleBlock(self._sections(), self.columns, self._wanted(), budget, most)
        wanted = wanted_rows(content.rules)
        for doubt in content.doubts:
            wanted.setdefault(doubt.table, set()).add(doubt.row)
        self.rows = RowValues(content.watched, wanted)

    def _sections(self) -> list[RuleSection]:
        """The rules, with their constants redacted if values are."""
        sections = []
        for each in self.content.sections:
            lines = [replace(line, text=self.text(each.declared.name, line.text, each.table)) for line in each.lines]
            sections.append(replace(each, lines=lines))
        return sections

    def _wanted(self) -> set[RuleName]:
        """The rules that something else refers to."""
        keys = [rule.key for rule in self.content.rules] + [event.rule for event in self.content.events[:MOST_EVENTS]]
        return {self._named(key) for key in [*keys, *self.content.references]}

    def _named(self, key: RuleKey) -> RuleName:
        engine, subject, text = key
        table = "" if rule_class(engine).across else subject
        return engine, table, self.text(engine, text, table)

    def place(self, key: RuleKey) -> int | None:
        """The number of a rule in the document; None: it is left out."""
        return self.block.place(self._named(key))

    def text(self, engine: str, text: str, table: str = "") -> str:
        """The text of a rule on the page."""
        rule = None if self.shown.shows_all else rule_of(engine, text)
        return self.shown.of_table(table).rule(text, rule) if rule else text

    def name(self, engine: str, text: str, name: str, table: str = "") -> str:
        """The name of a rule on the page; empty where it has none, or one that is made of values."""
        rule = None if self.shown.shows_all or not name else rule_of(engine, text)
        return self.shown.of_table(table).rule_name(name, rule) if rule else name
