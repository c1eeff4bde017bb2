"""Tables come and go while a state lives. Each change is one transaction, and stands in the history like a batch."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Sequence
from typing import Any

from holdfast.api.evolving import Evolving, rules_told
from holdfast.api.rule_change import events, told
from holdfast.engines.declared import Json
from holdfast.engines.registry import ALL_TABLES
from holdfast.engines.watched import WatchedTable
from holdfast.errors import BadInput, clear_sentences, suggest
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
        if (known := self._made_before(change_id)) is not None:
            return known
        self._refresh()
        if name in self._tables or name == ALL_TABLES:
            raise BadInput(f"there is a table {name!r} already; choose another name")
        started = time.perf_counter()
        with clear_sentences(self._store.path), self._leaving_no_files():
            names, chosen = ([each] if isinstance(each, str) else list(each) for each in (key, columns))
            built = build_table(
                name,
                source,
                options or ReadOptions(),
                names,
                self._store.nulls,
                self._store.folder,
                self._spark,
                self._progress,
                chosen,
            )
            self._stale = True
            self._watched[name] = WatchedTable(built.admitted.table)
            return self._reshape_tables(name, change_id, started, built)

    def drop_table(self, name: str, *, change_id: str | None = None) -> Changed:
        """Watch a table no longer; rules that speak of it go with it. What the history tells of it stays."""
        if (known := self._made_before(change_id)) is not None:
            return known
        self._refresh()
        if name not in self._tables:
            raise BadInput(f"there is no table {name!r}; {suggest(name, self._tables)}")
        if len(self._tables) == 1:
            raise BadInput(
                f"{name} is the only table here, and a state without tables is none; remove its folder instead"
            )
        self._stale = True
        with clear_sentences(self._store.path), self._leaving_no_files():
            return self._reshape_tables(name, change_id, time.perf_counter(), None)

    def _reshape_tables(self, name: str, change_id: str | None, started: float, built: Built | None) -> Changed:
        """Let the engines see a table that came, or forget one that goes, and commit."""
        from holdfast.api.renaming import Renaming  # reads rules, which applying a batch need not load

        before, old, old_results = self._wanted(), self._states, self._results()
        table = self._watched[name].table
        if built is None:
            del self._watched[name]
        same_names = Renaming(name, {})
        wanted = same_names.wanted(before, self._schemas())
        given = self._bound(wanted.rules, tell=False)
        self._make_engines_for(wanted, given)
        fresh = {at for at in self._subjects() if at[1] in (name, ALL_TABLES)}
        self._states = {
            at: self._anew(at, Renaming(name, {}), None) if at in fresh else old[at] for at in self._subjects()
        }
        results = self._results()
        change = Reshaped(
            change_id or uuid.uuid4().hex,
            TABLES,
            name,
            time.perf_counter() - started,
            {
                "tables": [_told(table, "dropped" if built is None else "added")],
                **rules_told(told(before, wanted, old_results, results), old_results, results),
            },
            {**self._facts(wanted, given), "ways": self._ways(name, built)},
            {at: found for at, found in results.items() if at in fresh},
            [at for at in old if at not in self._states],
            [*events(old_results, results), *same_names.gone(self._store.remembered.texts(), self._schemas())],
            [] if built is None else [_record(built)],
            {name: () if table.where is None or built is None else table.where.segments},
            table.next_id,
            gone=[name] if built is None else [],
        )
        return Changed(self._commit(change, {at for at in self._states if at not in fresh}), change.about)

    def _ways(self, name: str, built: Built | None) -> str:
        """In which way each table was read."""
        ways = json.loads(self._store.meta("ways") or "{}")
        others = {table: way for table, way in ways.items() if table != name}
        return json.dumps(others if built is None else {**others, name: built.way})


def _told(table: Table, done: str) -> Json:
    return {"table": table.schema.name, "done": done, "rows": table.rows, "columns": len(table.schema.columns)}


def _record(built: Built) -> TableRecord:
    table = built.admitted.table
    assert table.where is not None
    return TableRecord(table.schema, built.options.to_dict(), built.left_out, table.rows, table.where)
