"""What a state remembers, read back: events, figures over time, and values of rows that broke rules."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from holdfast.store.batch_numbers import BatchNumbers
from holdfast.store.evidence import stored_evidence
from holdfast.store.later import LOST_SCORES

Subject = tuple[str, str, str]  # engine, table (or all of them), and text of a rule
Rows = Callable[..., list[Any]]  # gives what a query finds with some values
_EVENT = "seq, engine, table_name, event, text, json, witness, implied_by"


class EventRecord(NamedTuple):
    """What a batch did to a rule, as it is stored: the finding and the witness as JSON."""

    seq: int
    engine: str
    table: str
    event: str
    text: str
    finding: str
    witness: str | None
    implied_by: str


class RuleRecord(NamedTuple):
    """The number of the last batch that gained a rule, or since when it is given (0: from the start); how many batches
    broke it, and the number of the last of them.
    """

    gained: int
    broke: int
    last: int = 0


class LostScore(NamedTuple):
    """The number of the last batch that broke a rule, and the score that the rule had then."""

    batch: int
    score: float


class StoredMemory:
    """Reads what the database of a state remembers."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def numbers(self) -> BatchNumbers:
        """The numbers of batches."""
        return BatchNumbers.read(self._rows)

    # ---- events -----------------------------------------------------------------------------------------------------

    def rule_events(self) -> dict[Subject, RuleRecord]:
        """The record of each rule that batches gained or lost and that was not removed."""
        query = """
            SELECT engine, table_name, text, coalesce(max(CASE WHEN event IN ('gained', 'added') THEN seq END), 0),
                   sum(event = 'lost'), coalesce(max(CASE event WHEN 'lost' THEN seq END), 0)
            FROM events WHERE event <> 'worse' GROUP BY engine, table_name, text
            HAVING max(CASE event WHEN 'removed' THEN rowid ELSE 0 END) < max(rowid)"""
        number = self.numbers().of
        return {
            (engine, table, text): RuleRecord(number(gained), broke, number(last))
            for engine, table, text, gained, broke, last in self._rows(query)
        }

    def lost_scores(self) -> dict[Subject, LostScore]:
        """The last batch that broke each rule with a score, and the score it had then."""
        if not self._rows("SELECT 1 FROM sqlite_master WHERE name = ?", LOST_SCORES):
            return {}
        query = f"SELECT engine, table_name, text, seq, score FROM {LOST_SCORES} ORDER BY seq"
        number = self.numbers().of
        return {
            (engine, table, text): LostScore(number(seq), score)
            for engine, table, text, seq, score in self._rows(query)
        }

    def texts(self) -> list[Subject]:
        """All rules and columns that have events or figures."""
        columns = "engine, table_name, text"
        return self._rows(f"SELECT DISTINCT {columns} FROM events UNION SELECT {columns} FROM subjects")

    def counts(self) -> dict[int, dict[str, int]]:
        """How many events of each kind a batch had."""
        found: dict[int, dict[str, int]] = defaultdict(dict)
        for seq, event, rules in self._rows("SELECT seq, event, rules FROM event_counts"):
            found[seq][event] = rules
        return dict(found)

    def events(self, since: int, most: int | None) -> list[EventRecord]:
        """The events after a batch, those of the newest batch first: at most `most`, or all.

        Events lie in the order of batches. So only the last batches are read, until there are enough events.
        """
        newest = sorted(self.counts().items(), reverse=True)
        ends = list(accumulate(sum(counts.values()) for seq, counts in newest if seq > since))
        wanted = ends[-1] if ends and most is None else most or 0
        read = next((end for end in ends if end >= wanted), ends[-1] if ends else 0)
        query = f"""
            SELECT {_EVENT} FROM (SELECT rowid AS place, * FROM events ORDER BY rowid DESC LIMIT ?)
            ORDER BY seq DESC, place LIMIT ?"""
        return [EventRecord(*row) for row in self._rows(query, read, wanted)]

    def events_of(self, engine: str, table: str, text: str) -> list[EventRecord]:
        """The events of one rule, the oldest first."""
        query = f"""
            SELECT {_EVENT} FROM events WHERE table_name = ? AND text = ? AND engine = ? ORDER BY rowid"""
        return [EventRecord(*row) for row in self._rows(query, table, text, engine)]

    # ---- figures ----------------------------------------------------------------------------------------------------

    def figures(self, place: Literal["rule_figures", "column_figures"]) -> dict[Subject, list[Any]]:
        """Wherever a figure changed, the oldest first: batch, violations, g3 and score of each given rule; or batch,
        nulls and distinct values of each column.
        """
        found: dict[Subject, list[Any]] = defaultdict(list)
        query = f"""
            SELECT engine, table_name, text, {place}.* FROM {place} JOIN subjects ON subjects.id = subject
            ORDER BY seq, subject"""
        for engine, table, text, seq, _, *figures in self._rows(query):
            found[engine, table, text].append((seq, *figures))
        return dict(found)

    # ---- evidence ---------------------------------------------------------------------------------------------------

    def evidence(self, part: str, table: str, seq: int | None = None) -> list[tuple[int, dict[str, Any]]]:
        """What batches changed in the evidence for rules of a table, the oldest first: all of them, or one. `columns`
        has the present names of its columns.
        """
        found, names = stored_evidence(self._rows, part, table, seq), self.column_names()
        for batch, record in found:
            now = names.now(table, batch, {name: place for place, name in enumerate(record["columns"])})
            present = {place: name for name, place in now.items()}
            record["columns"] = [present.get(place, name) for place, name in enumerate(record["columns"])]
        return found

    # ---- rows -------------------------------------------------------------------------------------------------------

    def rows_left_out(self) -> dict[int, int]:
        """How many rows that broke rules have no stored values, as they were too many, by batch."""
        return dict(self._rows("SELECT seq, rows FROM rows_left_out"))

    def column_names(self) -> ColumnNames:
        """What columns were called, and are called now."""
        return ColumnNames(self._rows)

    def rows(self, table: str, batches: Iterable[int]) -> dict[tuple[int, int], dict[str, Any]]:
        """The values of the rows of a table that broke rules with some batches, by batch and number, under the present
        names of columns.
        """
        found = self._broken_rows(table, "seq", sorted(set(batches)))
        return {(seq, number): values for number, seq, _, values in found}

    def rows_by_number(self, table: str, numbers: Iterable[int]) -> list[tuple[int, int, str, dict[str, Any]]]:
        """What is stored of rows, the newest first: number, batch, the rule that it broke, and values under the present
        names of columns.
        """
        return self._broken_rows(table, "number", list(numbers))

    def _broken_rows(
        self, table: str, column: Literal["seq", "number"], wanted: list[int]
    ) -> list[tuple[int, int, str, dict[str, Any]]]:
        """The same for the rows with some batches or numbers."""
        query = f"""
            SELECT number, seq, rule, json FROM witness_rows
            WHERE table_name = ? AND {column} IN (SELECT value FROM json_each(?)) ORDER BY seq DESC"""
        found = self._rows(query, table, json.dumps(wanted))
        names = self.column_names()
        return [(number, seq, rule, names.now(table, seq, json.loads(values))) for number, seq, rule, values in found]

    def witnesses_of(self, numbers: Sequence[int]) -> list[tuple[str, str, int, str, dict[str, Any]]]:
        """The witnesses with keys of some rows, the newest first: engine, table (or all), batch, rule and witness."""
        if not numbers:
            return []
        query = """
            SELECT DISTINCT engine, table_name, seq, text, witness FROM events, json_each(witness, '$.rows') AS own
            WHERE witness LIKE '%"keys"%' AND own.value IN (SELECT value FROM json_each(?)) ORDER BY seq DESC"""
        return [(*about, json.loads(witness)) for *about, witness in self._rows(query, json.dumps(list(numbers)))]


class ColumnNames:
    """The names of columns when a row was stored, and now: values of rows are stored under the names of then, while
    rules follow their columns to new names.
    """

    def __init__(self, rows: Rows) -> None:
        self._changes: dict[str, list[tuple[int, dict[str, str | None]]]] = defaultdict(list)
        query = "SELECT seq, table_name, json FROM reshaped JOIN batches USING (seq) ORDER BY seq"
        for seq, table, about in rows(query):
            if names := _names(json.loads(about)):
                self._changes[table].append((seq, names))

    def now(self, table: str, seq: int, values: dict[str, Any]) -> dict[str, Any]:
        """The values of a row that was stored with a batch, under the present names. Those of a dropped column stay,
        unless another column got its name.
        """
        for later, names in self._changes.get(table, ()):
            if later > seq:
                moved = {new: values[old] for old, new in names.items() if new is not None and old in values}
                taken = {*names, *filter(None, names.values())}
                values = {name: value for name, value in values.items() if name not in taken} | moved
        return values


def _names(about: Mapping[str, Any]) -> dict[str, str | None]:
    """New names by old ones; None for names that were given to new columns."""
    columns = about.get("columns", ())
    given: dict[str, str | None] = {each["column"]: None for each in columns if each["done"] == "added"}
    return given | {each["column"]: each["name"] for each in columns if each["done"] == "renamed"}
