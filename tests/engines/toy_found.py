"""Columns that hold one value: a toy class of rules that are found, and all that one needs."""

from dataclasses import dataclass
from typing import Annotated, Any

from holdfast.changes.diff import Diff, Result, Witness, between
from holdfast.engines.contract import Engine, FindingTable, Option, Suggestible
from holdfast.engines.scored import Scored
from holdfast.engines.watched import WatchedTable
from holdfast.rules.conditions import compared
from holdfast.rules.reader import Reader
from holdfast.rules.rule import Breach, Rule
from holdfast.table.table import Table
from holdfast.text.quotes import quoted


@dataclass(frozen=True)
class One(Rule):
    column: str
    NAMES, kind, prefix, example, described = ("column",), "one", "one", "one(Land)", "a column of one value"

    @classmethod
    def means(cls, text: str) -> bool:
        return text.startswith("one(")

    @classmethod
    def parse(cls, text: str) -> "One":
        return cls(Reader(text.removeprefix("one(")).names(until=")")[0])

    @property
    def body(self) -> str:
        return f"one({quoted(self.column)})"

    @property
    def says(self) -> str:
        return f"All rows share {self.column}."

    def broken_by(self, nulls: Any) -> tuple[Breach, ...]:
        return (Breach((compared(self.column, "!=", nulls),), (self.column,)),)


def found(table: Table) -> list[One]:
    names = table.schema.names
    return [One(name, table=table.schema.name) for c, name in enumerate(names) if len({*table.column_codes(c)}) == 1]


@dataclass(frozen=True)
class Settings:
    least_rows: Annotated[int, Option("Only in tables of at least this many rows.", 0)] = 1


class Ones(Suggestible[Settings, WatchedTable]):
    name, title, rules, suggested = "one", "columns of one value", (One,), "columns of one value"
    settings, table = Settings, FindingTable(("rule",), lambda rule: [rule["text"]])

    def engine(self, settings: Settings, given: Any) -> "OneEngine":  # noqa: ARG002
        return OneEngine(self, settings)

    def likely(self, subject: WatchedTable, *_: Any) -> list[Scored]:
        return [Scored(each, each.table, 0.9, subject.table.rows, "it has one value") for each in found(subject.table)]


class OneEngine(Engine[WatchedTable, list[One]]):
    def __init__(self, declared: Ones, settings: Settings) -> None:
        self.declared, self.least_rows = declared, settings.least_rows

    def discover(self, subject: WatchedTable, *_: Any) -> list[One]:
        return found(subject.table) if subject.table.rows >= self.least_rows else []

    def follow(self, state: list[One], batch: Any, *_: Any) -> Diff:
        before, change = self.result(state), batch.only
        state[:] = found(change.after)
        return between(before, self.result(state), {text: Witness((0, *change.born[:1])) for text in before})

    def result(self, state: list[One]) -> Result:
        return {each.text: each for each in state}
