"""What a state remembers: what batches did to rules, and how figures moved. Reached by `View.memory()`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from holdfast.changes.diff import Witness
from holdfast.engines.contract import Json
from holdfast.engines.registry import table_of_rows
from holdfast.store.memory import EventRecord, StoredMemory
from holdfast.store.store import Store
from holdfast.table.naming import key_names
from holdfast.text.row_names import Values

RuleKey = tuple[str, str, str]  # engine, table ("*": all) and text


@dataclass(frozen=True)
class KeptWitness(Witness):
    """The rows that broke a rule, as they were then: their numbers, their values (None where they are not kept, as they
    were too many or a vacuum removed them), their keys where one is declared, and a sentence that says how, if need be.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> watch.memory().events()[0].witness.to_json()["keys"]
    [{'id': 1}, {'id': 3}]
    """

    values: tuple[Values | None, ...] = ()  # type: ignore[assignment]  # not all are kept


@dataclass(frozen=True)
class Event:
    """What a batch, or a change of the rules, did to a rule.

    - `lost`: rows broke it; `worse`: a given rule that was violated before has new violations;
    - `gained`: it holds now, and did not before; or it holds, and did not follow from others any more;
    - `implied`: it holds still, and follows from others (`by` tells one, where that is known);
    - `untested`: nothing is left that could break it, or nothing was there before that could;
    - `added`, `removed`: people gave it, or gave it up.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> event = watch.memory().events()[0]
    >>> event.seq, event.event, event.rule
    (1, 'lost', ('named', 'towns', 'zip -> city'))
    """

    seq: int
    engine: str
    table: str  # `*` where the class looks across tables
    event: str
    text: str
    finding: Json | None  # the rule as an object; None where its text tells all, and of those that got worse
    witness: KeptWitness | None
    by: str

    @property
    def rule(self) -> RuleKey:
        """What names the rule."""
        return self.engine, self.table, self.text


@dataclass(frozen=True)
class Figures:
    """How a given rule stood after a batch; None where its class has no such figure.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> [(each.seq, each.violations) for each in watch.memory().figures()["named", "towns", "zip -> city"]]
    [(0, 0), (1, 1)]
    """

    seq: int
    violations: int | None
    g3: float | None
    score: float | None


@dataclass(frozen=True)
class ColumnFigures:
    """How many nulls and distinct values a column had after a batch.

    With `watch` and `more` of the example of `Monitor`:

    >>> changed = watch.watch("column")
    >>> [(each.seq, each.distinct) for each in watch.memory().columns()["towns", "city"]]
    [(1, 2)]
    """

    seq: int
    nulls: int
    distinct: int


class Memory:
    """What a state remembers; read from the database when asked for.

    With `watch` and `more` of the example of `Monitor`:

    >>> outcome = watch.apply(inserts=more)
    >>> memory = watch.memory()
    >>> [(event.seq, event.event, event.text) for event in memory.events()]
    [(1, 'lost', 'zip -> city')]
    >>> memory.counts()
    {1: {'lost': 1}}
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def _kept(self) -> StoredMemory:
        return self._store.memory

    def events(self, since: int = 0, most: int | None = None) -> list[Event]:
        """What the batches after one did, the newest batch first; or the first so many of that."""
        return self._events(self._kept.events(since, most))

    def events_of(self, engine: str, table: str, text: str) -> list[Event]:
        """What batches did to one rule, the oldest first."""
        return self._events(self._kept.events_of(engine, table, text))

    def counts(self) -> dict[int, dict[str, int]]:
        """How many events of each kind the batches had that had any."""
        return self._kept.counts()

    def figures(self) -> dict[RuleKey, list[Figures]]:
        """How each given rule stood, by engine, table and text: at the start (batch 0), and after each batch that moved
        a figure; the oldest first.
        """
        return {rule: [Figures(*each) for each in kept] for rule, kept in self._kept.figures("rule_figures").items()}

    def columns(self) -> dict[tuple[str, str], list[ColumnFigures]]:
        """The same of columns, by table and name, where column facts are watched."""
        kept = self._kept.figures("column_figures").items()
        return {(table, column): [ColumnFigures(*each) for each in own] for (_, table, column), own in kept}

    def left_out(self) -> dict[int, int]:
        """Of how many rows that broke rules with a batch values are not kept, as they were too many."""
        return self._kept.rows_left_out()

    def _events(self, records: Iterable[EventRecord]) -> list[Event]:
        records = list(records)
        values = _Values(self._store, records)
        return [
            Event(
                record.seq,
                record.engine,
                record.table,
                record.event,
                record.text,
                json.loads(record.finding) if record.finding else None,
                values.witness(record) if record.witness else None,
                record.implied_by,
            )
            for record in records
        ]


class _Values:
    """The values of the rows that some events tell of, each table's read once."""

    def __init__(self, store: Store, records: Iterable[EventRecord]) -> None:
        self._kept = store.memory
        self._names = self._kept.column_names()
        self._keys = {record.schema.name: key_names(record.schema) for record in store.tables()}
        self._batches = {record.seq for record in records if record.witness}
        self._rows: dict[str, dict[tuple[int, int], Json]] = {}

    def witness(self, record: EventRecord) -> KeptWitness:
        """The witness of an event, with the values that are kept."""
        kept: dict[str, Any] = json.loads(record.witness or "")
        rows = tuple(kept["rows"])
        table = table_of_rows(record.engine, record.table, record.text)
        known = self._rows_of(table)
        values = tuple(known.get((record.seq, row)) for row in rows)
        kept_keys = [self._names.now(table, record.seq, key) for key in kept.get("keys") or ()]
        keys = tuple(kept_keys or self._keys_in(table, values))
        return KeptWitness(rows, values, keys, sentence=kept.get("sentence", ""))

    def _rows_of(self, table: str) -> dict[tuple[int, int], Json]:
        if table not in self._rows:
            self._rows[table] = dict(self._kept.rows(table, self._batches))
        return self._rows[table]

    def _keys_in(self, table: str, values: tuple[Json | None, ...]) -> list[Json]:
        """The keys that stand among the values, where one is declared; nothing of rows that are forgotten."""
        names = self._keys.get(table, [])
        return [{name: row[name] for name in names} if row else {} for row in values] if names else []
