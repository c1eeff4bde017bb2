"""Columns that hold one value: a toy engine, which shows all that an engine needs."""

from dataclasses import dataclass
from typing import Annotated, Any

from holdfast.changes.diff import Diff, Result, Witness, between
from holdfast.engines.contract import Engine, Explanation, FindingTable, Option, RuleClass
from holdfast.table.frequencies import Frequencies


@dataclass(frozen=True)
class Settings:
    least_rows: Annotated[int, Option("Only in tables of at least so many rows.", 0)] = 1


@dataclass(frozen=True)
class One(Explanation):
    about: str
    text: str
    kind = "one"

    def lines(self) -> list[str]:
        return [f"{self.text}: count its values"]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "table": self.about, "text": self.text}


class ToyEngine(Engine):
    def __init__(self, declared: RuleClass, settings: Settings) -> None:
        self.declared, self.least_rows = declared, settings.least_rows

    def discover(self, subject: Any, *_: Any) -> dict[str, Any]:
        subject.part(Frequencies)
        return {"subject": subject, "found": self._found(subject)}

    def maintain(self, state: dict[str, Any], change: Any, *_: Any) -> Diff:
        before, state["found"] = state["found"], self._found(state["subject"])
        return between(before, state["found"], {text: Witness((change.born[0],)) for text in before})

    def _found(self, subject: Any) -> Result:
        columns = zip(subject.table.schema.names, subject.part(Frequencies).columns, strict=True)
        texts = [f"one({name})" for name, counts in columns if len(counts.occurring()) == 1]
        return {text: One(subject.table.schema.name, text) for text in texts if subject.table.rows >= self.least_rows}

    def result(self, state: dict[str, Any]) -> Result:
        return dict(state["found"])

    def dump(self, state: dict[str, Any]) -> tuple[Any, Any]:  # noqa: ARG002
        return {}, {}

    def load(self, subject: Any, *_: Any) -> dict[str, Any]:
        return self.discover(subject)

    def explain(self, _: Any, subject: Any, text: str, *__: Any) -> One:
        return One(subject.table.schema.name, text)


def make(declared: RuleClass, settings: Settings, _: Any) -> ToyEngine:
    return ToyEngine(declared, settings)


def means(text: str) -> bool:
    return text.startswith("one(")


_TABLE = FindingTable(("rule",), lambda rule: [rule["text"]])
RULE_CLASSES = (RuleClass("one", "columns of one value", __name__, Settings, texts=__name__, table=_TABLE),)
