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
from holdfast.results.ranks import broken_rank
from holdfast.store.memory import LostScore, RuleRecord
from holdfast.table.table import Table
from holdfast.visible import Printed, counted


class RuleHistory(Printed, Drawn):
    """For each rule since which batch it holds (0: from the start; None: it doesn't), and how often it broke.

    Rules that broke come first: given ones before found ones, errors before warnings, those that are broken now before
    those that were mended, then by the score that each had when it broke (`score_then`), and the newest first. Other
    rules that a batch gained follow, then the rest, the best first. There may be a million rules, so iterating makes
    one line at a time. A found rule that is given since it raised an alarm has one line.

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
        events: Mapping[RuleKey, RuleRecord],
        memory: Memory,
        last: int,
        watched_since: Mapping[str, int],
        scores: Mapping[RuleKey, LostScore],
    ) -> None:
        self._results, self._events, self.memory, self.last = results, events, memory, last
        self._watched_since = watched_since  # classes that were not watched from the start
        given, found = ({at for at in results if rule_class(at[0]).given is is_given} for is_given in (True, False))
        now_given = {
            (table, text)
            for engine, table in given
            for text, rule in results[engine, table].items()
            if rule.to_json().get("origin") == "alarm"
        }
        gone = {
            rule: record
            for rule, record in events.items()
            if record.broke and rule[:2] in found and rule[1:] not in now_given
        }
        self._moved: list[tuple[RuleKey, dict[str, Any]]] = []
        for (engine, table), result in results.items():
            for text in result:
                rule = engine, table, text
                if (record := events.get(rule)) is not None:
                    gone.pop(rule, None)
                    line = _line(engine, table, result[text], record.gained, record.broke)
                    self._moved.append((rule, _with_score(line, record, scores.get(rule))))
        self._gone = len(gone)
        for rule, record in gone.items():
            line = {"kind": rule[0], "table": rule[1], "text": rule[2], "holds_since": None, "broke": record.broke}
            self._moved.append((rule, _with_score(line, record, scores.get(rule))))
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


def _with_score(line: dict[str, Any], record: RuleRecord, score: LostScore | None) -> dict[str, Any]:
    """The line of a rule with the last batch that broke it, and the score that it had then. One that was found before
    it was given broke with the batch that is stored with its score.
    """
    last = max(record.last, score[0] if score else 0)
    if not last:
        return line
    then = {} if score is None else {"score_then": round(score[1], 6)}
    return {**line, "broke": max(line["broke"], 1), "last_broke": last, **then}


def _rank(line: Mapping[str, Any]) -> tuple[Any, ...]:
    names = line["kind"], line["table"], line["text"]
    score = line.get("score", 0.0)
    if not line["broke"]:
        return 1, -score, *names
    meant = 1.0 if "severity" in line else score  # of a rule that never had a score: a given one is meant
    place = broken_rank(
        line.get("severity"), line["holds_since"] is None, line.get("score_then", meant), line.get("last_broke", 0)
    )
    return 0, *place, *names


def _line(engine: str, table: str, rule: Finding, gained: int, broke: int) -> dict[str, Any]:
    worth: Worth | None = getattr(rule, "worth", None)
    score = worth.to_json() if worth else {}
    line = {"kind": engine, "table": table, "text": rule.text, "holds_since": gained, "broke": broke, **score}
    if rule_class(engine).many:
        return line
    finding = rule.to_json()
    more = {name: finding[name] for name in ("name", "severity", *HISTORY) if name in finding}
    since = None if finding.get("violations") else gained
    return {**line, "kind": finding["kind"], "table": finding.get("table", table), **more, "holds_since": since}
