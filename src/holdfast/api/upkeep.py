"""The upkeep of a state: checkpoints, which keep the engines' states and hold the files small, and vacuum.

Files are written first, then one transaction names them and all that goes with them, then the old ones are removed: a
crash leaves the state before or the state after. Engines' states are those of the last batch at that moment, so no
batch waits for its replay when a table is written anew.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from holdfast.api.kept import PARTS
from holdfast.api.view import View
from holdfast.engines.registry import ALL_TABLES
from holdfast.engines.watched import FILES
from holdfast.errors import clear_sentences
from holdfast.progress import Progress
from holdfast.results.upkeep import Vacuumed
from holdfast.store.records import KeptStates
from holdfast.store.store import Store
from holdfast.table import files
from holdfast.table.compact import compacted
from holdfast.table.load import load_table
from holdfast.table.rewrite import Kept, bytes_a_row, is_overweight, needed_bytes, rewritten
from holdfast.table.table import Segment, TableFiles

_NEEDED = "needed"  # the fact of a state that tells how many bytes a row of each table needs


class Upkeep(View):
    """A state that can be kept small."""

    def __init__(self, store: Store, spark: Any, progress: Progress | None) -> None:
        super().__init__(store, spark, progress)
        self._needed: dict[str, float] = json.loads(store.meta(_NEEDED) or "{}")

    def checkpoint(self) -> None:
        """Keep the engines' states as of now, merge small segments, and write tables anew that hold more than twice
        what they need. Happens by itself when it is due.
        """
        self._refresh()
        with clear_sentences(self._store.path), self._leaving_no_files():
            self._keep([name for name in self._tables if self._has_outgrown(name) and self._is_overweight(name)])

    def vacuum(self, *, keep_events: bool = False) -> Vacuumed:
        """Write all tables anew, and remove what is left of deleted rows from the whole state folder.

        Events keep the ids of rows that broke a rule, and the values of those that live; with `keep_events` the values
        of those that died, too. Costs what reading and writing the tables costs, and what making the engines' indexes
        costs.
        """
        self._refresh()
        before = self._store.size()
        with clear_sentences(self._store.path), self._leaving_no_files():
            dropped = self._keep(self._tables)
            living = {name: table.living_ids() for name, table in self._tables.items()}
            events = self._store.forget(None if keep_events else living)
        return Vacuumed(before, self._store.size(), dropped, events)

    def _keep(self, anew: Iterable[str]) -> int:
        """Keep states and tables as of now, some of them written anew; gives how many values that dropped."""
        self._stale = True
        replaced: dict[str, tuple[Segment, ...]] = {}
        kept: dict[str, Kept] = {}
        dropped = 0
        for name in anew:
            self._progress.step(f"Writing {name} anew")
            made = rewritten(self._tables[name], self._store.folder)
            replaced[name], kept[name] = made.segments, made.kept
            dropped += made.dropped
        for name, table in self._tables.items():
            segments = replaced.get(name) or compacted(table, self._store.folder)
            if segments is not None:
                replaced[name] = segments
                now = load_table(TableFiles(table.schema, segments, table.next_id))
                if name in kept:
                    self._watched[name].rewritten(now, kept[name])
                else:
                    self._watched[name].moved(now.following(table))
        self._follow(kept)
        self._store.keep_states(self._last_batch(), self._dump_states(), replaced)
        self._remember_needed({name: needed_bytes(self._tables[name]) for name in kept})
        self._replay_seconds, self._replay_batches = 0.0, 0
        self._stale = False
        return dropped

    def _follow(self, kept: dict[str, Kept]) -> None:
        """Let the engines go on with tables that were written anew."""
        for (rules, name), state in self._states.items():
            if name in kept or (name == ALL_TABLES and kept):
                self._states[rules, name] = self._engines[rules].rewritten(state, self._subject(name), kept)

    def _has_outgrown(self, name: str) -> bool:
        """Whether a table holds more than twice the bytes that its rows needed when they were last counted."""
        table = self._tables[name]
        return is_overweight(table, self._needed.setdefault(name, bytes_a_row(table)))

    def _is_overweight(self, name: str) -> bool:
        """Whether a table does hold more than twice the bytes that its rows need."""
        self._needed[name] = needed_bytes(self._tables[name])
        return self._has_outgrown(name)

    def _remember_needed(self, needed: Mapping[str, float]) -> None:
        """Keep how many bytes a row needs, for the next process that opens the state."""
        self._needed |= needed
        text = json.dumps(self._needed)
        if text != self._store.meta(_NEEDED):
            self._store.put_meta(_NEEDED, text)

    @contextmanager
    def _leaving_no_files(self) -> Iterator[None]:
        """Where a batch or a checkpoint fails, the files that it wrote go: on a full disk they are in the way."""
        try:
            yield
        except BaseException:
            with suppress(Exception):
                self._store.remove_orphans()
            raise

    def _dump_states(self, unchanged: Collection[tuple[str, str]] = ()) -> KeptStates:
        """Write the engines' states, and what they share of each table, to files: one each, where there is anything.
        Gives these, and the names of the files that go with them, as the states say. Of states that are those of the
        last checkpoint, where no batch has come since, the files stay.
        """
        known = self._store.kept_states() if self._replay_batches == 0 else {}
        kept = {at: known[at] for at in unchanged if at in known}
        beside = self._store.beside() if kept else set()
        for subject, (arrays, facts) in self._dumps(kept):
            if arrays or facts:
                kept[subject] = files.new_path(self._store.folder)
                files.write(kept[subject], arrays, facts)
                beside |= set(facts.get(FILES, ()))
        return KeptStates(kept, beside)

    def _dumps(
        self, kept: Collection[tuple[str, str]]
    ) -> Iterator[tuple[tuple[str, str], tuple[Mapping[str, Any], Mapping[str, Any]]]]:
        for (rules, name), state in self._states.items():
            if (rules, name) not in kept:
                yield (rules, name), self._engines[rules].dump(state)
        for name, watched in self._watched.items():
            yield (PARTS, name), watched.dump()
