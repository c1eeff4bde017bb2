"""How often rules broke over all batches, and since when they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.changes.diff import Finding, Result, Worth
from holdfast.engines.contract import HISTORY
from holdfast.engines.registry import rule_class
from holdfast.results.drawn import Drawn, section
from holdfast.results.memory import Memory, RuleKey
from holdfast.table.table import Table
from holdfast.visible import Printed, counted


class RuleHistory(Printed, Drawn):
    """For each rule since which batch it holds (0: from the start; None: it doesn't), and how often it broke.

    Rules that a batch gained or lost come first: those that broke most often, then those with the best scores. The
    others follow, the best first. There may be a million rules, so iterating makes one line at a time.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> watch.rule_history()
    rules: 1
      zip -> city: broken now, broke 1 time
    >>> next(iter(watch.rule_history()))["tested_since"]
    1
    """

    def __init__(
        self,
        results: Mapping[tuple[str, str], Result],
        events: Mapping[RuleKey, tuple[int, int]],
        memory: Memory,
        last: int,
        watched_since: Mapping[str, int],
    ) -> None:
        self._results, self._events, self.memory, self.last = results, events, memory, last
        self._watched_since = watched_since  # classes that were not watched from the start
        found = {at for at in results if not rule_class(at[0]).given}
        gone = {rule: record for rule, record in events.items() if record[1] and rule[:2] in found}
        self._moved: list[tuple[RuleKey, dict[str, Any]]] = []
        for (engine, table), result in results.items():
            for text in result:
                if (record := events.get((engine, table, text))) is not None:
                    gone.pop((engine, table, text), None)
                    self._moved.append(((engine, table, text), _line(engine, table, result[text], *record)))
        self._gone = len(gone)
        self._moved += [
            (rule, {"kind": rule[0], "table": rule[1], "text": rule[2], "holds_since": None, "broke": broke})
            for rule, (_, broke) in gone.items()
        ]
        self._moved.sort(key=lambda each: _rank(each[1]))

    def __len__(self) -> int:
        return self._gone + sum(len(result) for result in self._results.values())

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (line for _, line in self.by_rule())

    def by_rule(self) -> Iterator[tuple[RuleKey, dict[str, Any]]]:
        """The same lines, each with the class, table and text of its rule."""
        yield from self._moved
        for (engine, table), result in self._results.items():
            for text, rule in result.items():
                if (engine, table, text) not in self._events:
                    since = self._watched_since.get(engine, 0)
                    yield (engine, table, text), _line(engine, table, rule, since, 0)

    def lines(self) -> list[str]:
        """How many rules there are, and the first ones."""
        lines = (
            f"{line['text']}: {since(line['holds_since'])}, broke {counted(line['broke'], 'time')}" for line in self
        )
        return section(f"rules: {len(self):,}", len(self), lines)


@dataclass(frozen=True)
class StateSummary(Drawn):
    """What a notebook shows of a state: its tables, and the rules that broke most often."""

    path: str
    batches: int
    tables: Mapping[str, Table]
    history: RuleHistory


def since(batch: int | None) -> str:
    """Since which batch a rule holds, in words."""
    if batch is None:
        return "broken now"
    return f"holds since batch {batch:,}" if batch else "holds since the start"


def _rank(line: Mapping[str, Any]) -> tuple[Any, ...]:
    return -line["broke"], -line.get("score", 0.0), line["kind"], line["table"], line["text"]


def _line(engine: str, table: str, rule: Finding, gained: int, broke: int) -> dict[str, Any]:
    worth: Worth | None = getattr(rule, "worth", None)
    score = worth.to_json() if worth else {}
    line = {"kind": engine, "table": table, "text": rule.text, "holds_since": gained, "broke": broke, **score}
    if rule_class(engine).many:
        return line
    finding = rule.to_json()
    more = {name: finding[name] for name in ("name", *HISTORY) if name in finding}
    since = None if finding.get("violations") else gained
    return {**line, "kind": finding["kind"], "table": finding.get("table", table), **more, "holds_since": since}
