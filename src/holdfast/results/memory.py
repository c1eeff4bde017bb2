"""What a state remembers: what batches did to rules, and how figures changed. `View.memory()` returns it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.changes.diff import Witness
from holdfast.engines.contract import Json
from holdfast.engines.registry import table_of_rows
from holdfast.results.agree_sets import AgreeSetChange
from holdfast.store.memory import EventRecord
from holdfast.store.store import Store
from holdfast.table.row_names import key_names
from holdfast.text.row_names import Values

RuleKey = tuple[str, str, str]  # engine, table ("*": all) and text


@dataclass(frozen=True)
class StoredWitness(Witness):
    """The rows that broke a rule, as they were then: their numbers; their values (None: not stored, as they were too
    many or a vacuum removed them); their keys, where the table has one; and a sentence that says how, where that is not
    plain.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> watch.memory().events()[0].witness.to_json()["keys"]
    [{'id': 1}, {'id': 3}]
    """

    values: tuple[Values | None, ...] = ()  # type: ignore[assignment]  # not all are stored


@dataclass(frozen=True)
class Event:
    """What a batch, or a change of the rules, did to a rule.

    - `lost`: rows broke it; `worse`: a given rule that was already violated has new violations;
    - `gained`: it holds now and did not before, or it no longer follows from others;
    - `implied`: it still holds, but follows from others (`by` is one of them, where known), or too few rows test it;
    - `untested`: it does not hold, but no rows could break it before;
    - `added`, `removed`: a user gave it, or removed it.

    `batch` is the number of the batch; with a change of rules, columns or tables, of the last batch before it. `seq` is
    the place in the history, where changes stand among the batches.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> event = watch.memory().events()[0]
    >>> event.batch, event.event, event.rule
    (1, 'lost', ('named', 'towns', 'zip -> city'))
    """

    seq: int
    engine: str
    table: str  # `*` where the class looks across tables
    event: str
    text: str
    finding: Json | None  # the rule as an object; None where its text says all, and for rules that got worse
    witness: StoredWitness | None
    by: str
    batch: int

    @property
    def rule(self) -> RuleKey:
        """The key of the rule."""
        return self.engine, self.table, self.text


@dataclass(frozen=True)
class Figures:
    """The figures of a given rule after a batch, or a change; None: its class has no such figure. `seq` and `batch` are
    those of `Event`.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> [(each.batch, each.violations) for each in watch.memory().figures()["named", "towns", "zip -> city"]]
    [(0, 0), (1, 1)]
    """

    seq: int
    violations: int | None
    g3: float | None
    score: float | None
    batch: int


@dataclass(frozen=True)
class ColumnFigures:
    """How many nulls and distinct values a column had after a batch, or a change. `seq` and `batch` are those of
    `Event`.

    With `watch` and `more` of the example of `Monitor`:

    >>> changed = watch.watch("column")
    >>> [(each.batch, each.distinct) for each in watch.memory().columns()["towns", "city"]]
    [(0, 2)]
    """

    seq: int
    nulls: int
    distinct: int
    batch: int


class Memory:
    """What a state remembers; each call reads the database.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> memory = watch.memory()
    >>> [(event.batch, event.event, event.text) for event in memory.events()]
    [(1, 'lost', 'zip -> city')]
    >>> memory.counts()
    {1: {'lost': 1}}
    """

    def __init__(self, store: Store, keys: Mapping[str, Sequence[str]] | None = None) -> None:
        self._store = store
        self._keys = keys if keys is not None else {each.schema.name: key_names(each.schema) for each in store.tables()}

    def events(self, since: int = 0, most: int | None = None) -> list[Event]:
        """The events after the entry of the history with `seq` `since`, the newest first; at most `most`."""
        return self._events(self._store.memory.events(since, most))

    def events_of(self, engine: str, table: str, text: str) -> list[Event]:
        """The events of one rule, the oldest first."""
        return self._events(self._store.memory.events_of(engine, table, text))

    def counts(self) -> dict[int, dict[str, int]]:
        """How many events of each kind each batch or change had, by its `seq`; those without any are left out."""
        return self._store.memory.counts()

    def figures(self) -> dict[RuleKey, list[Figures]]:
        """The figures of each given rule, by engine, table and text: at the start (batch 0), and after each batch that
        changed one; the oldest first.
        """
        stored, number = self._store.memory.figures("rule_figures").items(), self._number()
        return {rule: [Figures(*(*each, number(each[0]))) for each in own] for rule, own in stored}

    def columns(self) -> dict[tuple[str, str], list[ColumnFigures]]:
        """The same for columns, by table and name, where column facts are watched."""
        stored, number = self._store.memory.figures("column_figures").items(), self._number()
        return {
            (table, column): [ColumnFigures(*(*each, number(each[0]))) for each in own]
            for (_, table, column), own in stored
        }

    def agree_sets(self, table: str, batch: int | None = None) -> list[AgreeSetChange]:
        """The agree-sets of a table that came and went with each batch while an engine counted them, or with one batch;
        the oldest first.
        """
        numbers = self._store.numbers()
        seq = None if batch is None else numbers.seq_of(batch)
        stored = self._store.memory.evidence("agree-sets", table, seq)
        return [AgreeSetChange.of_record(table, numbers.of(seq), record) for seq, record in stored]

    def left_out(self) -> dict[int, int]:
        """For each batch, by its `seq`, how many of the rows that broke rules have no stored values: they were too
        many.
        """
        return self._store.memory.rows_left_out()

    def _events(self, records: Sequence[EventRecord]) -> list[Event]:
        values, number = _WitnessValues(self._store, records, self._keys), self._number()
        events = []
        for record in records:
            finding = json.loads(record.finding) if record.finding else None
            witness = values.witness(record) if record.witness else None
            events.append(Event(*record[:5], finding, witness, record.implied_by, number(record.seq)))
        return events

    def _number(self) -> Callable[[int], int]:
        """Gives the batch numbers of entries of the history."""
        return self._store.numbers().of


class _WitnessValues:
    """The values of the rows in the witnesses of some events; reads each table once."""

    def __init__(self, store: Store, records: Sequence[EventRecord], keys: Mapping[str, Sequence[str]]) -> None:
        self._stored = store.memory
        self._names = self._stored.column_names()
        self._keys = keys
        self._batches = {record.seq for record in records if record.witness}
        self._rows: dict[str, dict[tuple[int, int], Json]] = {}

    def witness(self, record: EventRecord) -> StoredWitness:
        """The witness of an event, with the stored values."""
        stored: dict[str, Any] = json.loads(record.witness or "")
        rows = tuple(stored["rows"])
        table = table_of_rows(record.engine, record.table, record.text)
        if table not in self._rows:
            self._rows[table] = dict(self._stored.rows(table, self._batches))
        known = self._rows[table]
        values = tuple(known.get((record.seq, row)) for row in rows)
        stored_keys = [self._names.now(table, record.seq, key) for key in stored.get("keys") or ()]
        keys = tuple(stored_keys or self._keys_in(table, values))
        return StoredWitness(rows, values, keys, sentence=stored.get("sentence", ""))

    def _keys_in(self, table: str, values: tuple[Json | None, ...]) -> list[Json]:
        """The keys among the values, where the table has one; empty for rows without stored values."""
        names = self._keys.get(table, [])
        return [{name: row[name] for name in names} if row else {} for row in values] if names else []
