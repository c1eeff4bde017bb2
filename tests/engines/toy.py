"""Columns that hold one value: a toy class of rules, which shows all that a class and its engine need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

from holdfast.changes.diff import Diff, Result, Witness, between
from holdfast.changes.names import quoted
from holdfast.engines.contract import Engine, Explanation
from holdfast.engines.declared import FindingTable, Option, RuleClass
from holdfast.engines.watched import WatchedTable
from holdfast.rules.conditions import Condition, compared
from holdfast.rules.given import TableRules
from holdfast.rules.reader import Reader
from holdfast.rules.rule import Breach, Rule
from holdfast.table.change import Change
from holdfast.table.frequencies import Frequencies
from holdfast.table.nulls import Nulls


@dataclass(frozen=True)
class One(Rule):
    table: str
    column: str
    where: Condition | None = None

    NAMES = ("column", "where")
    kind = prefix = "one"
    example = "one(Country)"
    described = "a column of one value"

    @classmethod
    def means(cls, text: str) -> bool:
        return text.startswith("one(")

    @classmethod
    def parse(cls, text: str) -> Self:
        reader = Reader(text)
        reader.expect("one", "(")
        rule = cls("", reader.name())
        reader.expect(")")
        reader.end()
        return rule

    @property
    def body(self) -> str:
        return f"one({quoted(self.column)})"

    @property
    def says(self) -> str:
        return f"All rows share {self.column}."

    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:
        return (Breach((compared(self.column, "!=", nulls),), (self.column,)),)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "table": self.table, "text": self.text}


@dataclass(frozen=True)
class Count(Explanation):
    rule: One

    def lines(self) -> list[str]:
        return [f"{self.rule.text}: count its values"]

    def to_json(self) -> dict[str, Any]:
        return self.rule.to_json()


@dataclass(frozen=True)
class Settings:
    least_rows: Annotated[int, Option("Only in tables of at least so many rows.", 0)] = 1


@dataclass
class State:
    subject: WatchedTable
    found: Result


class ToyEngine(Engine[WatchedTable, State]):
    def __init__(self, declared: RuleClass[Settings], settings: Settings) -> None:
        self.declared, self.least_rows = declared, settings.least_rows

    def discover(self, subject: WatchedTable, *_: Any) -> State:
        return State(subject, self._found(subject))

    def maintain(self, state: State, change: Change, *_: Any) -> Diff:
        before, state.found = state.found, self._found(state.subject)
        return between(before, state.found, {text: Witness((change.born[0],)) for text in before})

    def _found(self, subject: WatchedTable) -> Result:
        schema = subject.table.schema
        columns = zip(schema.names, subject.part(Frequencies).columns, strict=True)
        rules = [One(schema.name, name) for name, counts in columns if len(counts.occurring()) == 1]
        return {rule.text: rule for rule in rules if subject.table.rows >= self.least_rows}

    def result(self, state: State) -> Result:
        return dict(state.found)

    def dump(self, state: State) -> tuple[Any, Any]:  # noqa: ARG002
        return {}, {}

    def load(self, subject: WatchedTable, *_: Any) -> State:
        return self.discover(subject)

    def explain(self, state: State | None, subject: WatchedTable, text: str, *_: Any) -> Count:  # noqa: ARG002
        return Count(One(subject.table.schema.name, One.parse(text).column))


class Ones(RuleClass[Settings]):
    name, title, rules = "one", "columns of one value", (One,)
    settings = Settings
    table = FindingTable(("rule",), lambda rule: [rule["text"]])

    def engine(self, settings: Settings, given: Mapping[str, TableRules]) -> ToyEngine:  # noqa: ARG002
        return ToyEngine(self, settings)


RULE_CLASSES = (Ones(),)
