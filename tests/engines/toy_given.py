"""Columns that rise with others: a toy class of rules that are given, and all that one needs."""

from dataclasses import dataclass
from typing import Any

from holdfast.engines.given import PairClass
from holdfast.rules.conditions import compared
from holdfast.rules.reader import Reader
from holdfast.rules.rule import Breach, Rule
from holdfast.text.quotes import quoted


@dataclass(frozen=True)
class Rises(Rule):
    column: str
    by: str
    NAMES, kind, prefix, given_as = ("column", "by"), "rises", "rises", "rises"
    example, described = "rises(Price, Year)", "a column that rises with another"

    @classmethod
    def means(cls, text: str) -> bool:
        return text.startswith("rises(")

    @classmethod
    def parse(cls, text: str) -> "Rises":
        column, by = Reader(text.removeprefix("rises(")).names(until=")")
        return cls(column, by)

    @property
    def body(self) -> str:
        return f"rises({quoted(self.column)}, {quoted(self.by)})"

    @property
    def says(self) -> str:
        return f"{self.column} never falls where {self.by} rises."

    def broken_by(self, nulls: Any) -> tuple[Breach, ...]:
        return (Breach((compared(self.by, "<", nulls), compared(self.column, ">", nulls)), (self.column,)),)


class Rising(PairClass):
    name, title, rules, yours = "rises", "violations of rising columns", (Rises,), "your rising columns"
