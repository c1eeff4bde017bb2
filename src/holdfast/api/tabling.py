"""Tables come and go while a state lives. Each change is one transaction, and stands in the history like a batch."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from holdfast.api.evolving import Evolving
from holdfast.engines.contract import Json
from holdfast.engines.registry import ALL_TABLES
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput, suggest
from holdfast.intake.build import Built, build_table
from holdfast.intake.reading import ReadOptions
from holdfast.results.changed import Changed
from holdfast.store.records import TABLES, TableRecord
from holdfast.store.reshape import Reshaped
from holdfast.table.table import Table


class Tabling(Evolving):
    """A state whose tables can be changed."""

    def add_table(
        self,
        name: str,
        source: Any,
        *,
        key: str | Sequence[str] = (),
        columns: str | Sequence[str] = (),
        options: ReadOptions | None = None,
        change_id: str | None = None,
    ) -> Changed:
        """Watch one more table: it is read whole, and the rules of all watched classes are found in it."""

        def make(change_id: str) -> Changed:
            if name in self._tables or name == ALL_TABLES:
                raise BadInput(f"there is a table {name!r} already; choose another name")
            started = time.perf_counter()
            names, chosen = ([each] if isinstance(each, str) else list(each) for each in (key, columns))
            built = self._built(name, source, options, names, chosen)
            self._stale = True
            before, old_results, record = self._wanted(), self._results(), record_of(built)
            self._watched[name] = WatchedTable(built.admitted.table)
            change = Reshaped(
                change_id,
                TABLES,
                name,
                started,
                {"tables": [_told(built.admitted.table, "added")]},
                {"ways": self._ways(name, built)},
                tables=[record],
                replaced={name: record.where.segments},
                next_id=record.where.next_id,
            )
            return self._reshape_table(change, before, old_results, {}, {})

        return self._made(change_id, make)

    def drop_table(self, name: str, *, change_id: str | None = None) -> Changed:
        """Watch a table no longer; rules that speak of it go with it. What the history tells of it stays."""

        def make(change_id: str) -> Changed:
            if name not in self._tables:
                raise BadInput(f"there is no table {name!r}; {suggest(name, self._tables)}")
            if len(self._tables) == 1:
                raise BadInput(
                    f"{name} is the only table here, and a state without tables is none; remove its folder instead"
                )
            started, self._stale = time.perf_counter(), True
            before, old_results = self._wanted(), self._results()
            table = self._watched.pop(name).table
            about, facts = {"tables": [_told(table, "dropped")]}, {"ways": self._ways(name, None)}
            change = Reshaped(
                change_id, TABLES, name, started, about, facts, replaced={name: ()}, next_id=table.next_id, gone=[name]
            )
            return self._reshape_table(change, before, old_results, {}, {})

        return self._made(change_id, make)

    def _built(
        self, name: str, source: Any, options: ReadOptions | None, key: Sequence[str], columns: Sequence[str]
    ) -> Built:
        """A table, read whole."""
        nulls, folder, read = self._store.nulls, self._store.folder, options or ReadOptions()
        return build_table(name, source, read, key, nulls, folder, self._spark, self._progress, columns)

    def _ways(self, name: str, built: Built | None) -> str:
        """In which way each table was read."""
        ways = json.loads(self._store.meta("ways") or "{}")
        others = {table: way for table, way in ways.items() if table != name}
        return json.dumps(others if built is None else {**others, name: built.way})


def _told(table: Table, done: str) -> Json:
    return {"table": table.schema.name, "done": done, "rows": table.rows, "columns": len(table.schema.columns)}


def record_of(built: Built) -> TableRecord:
    """A new table as a state keeps it."""
    table = built.admitted.table
    assert table.where is not None
    return TableRecord(table.schema, built.options.to_dict(), built.left_out, table.rows, table.where)
