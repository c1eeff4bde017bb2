"""The upkeep of a state: checkpoints, which store the engines' states and keep the files small, and vacuum.

Files are written first, then one transaction names them and all that goes with them, then the old ones are removed: a
crash leaves the state before or the state after. Engines' states are those of the last batch at that moment, so no
batch waits for its replay when a table is rewritten.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from holdfast.api.expectations import without_gone_values
from holdfast.api.open_state import OpenState
from holdfast.engines.registry import ALL_TABLES
from holdfast.errors import BadInput, Damaged, Missing, clear_sentences, no_space
from holdfast.results.upkeep import Vacuumed
from holdfast.store.store import KEEP_ROWS
from holdfast.table.load import load_table
from holdfast.table.rewrite import UsedCodes, bytes_a_row, compacted, is_overweight, needed_bytes, rewritten
from holdfast.table.table import Segment, TableFiles
from holdfast.text.durations import duration

_NEEDED = "needed"  # the fact of a state: how many bytes a row of each table needs

# A checkpoint is due when replaying the batches since the last one would take this long, or they are this many; or when
# a table holds much more than it needs.
_REPLAY_SECONDS = 0.5
_REPLAY_BATCHES = 64
_MOST_BATCHES = 1024  # after a checkpoint that failed, the next is tried after this many batches at the latest


def kept_for(how_long: str | None) -> str:
    """How long rows are kept, as a state stores it: `30d`; empty: for ever."""
    if how_long is None:
        return ""
    duration(how_long)  # refuses a text that is no duration
    return how_long


class Upkeep:
    """Keeps a state small."""

    def __init__(self, state: OpenState) -> None:
        self._state, self._store = state, state.store
        self._needed: dict[str, float] = self._store.facts(_NEEDED)

    def checkpoint(self) -> None:
        """Store the engines' states as of now, merge small segments, and rewrite tables that hold more than twice what
        they need.
        """
        tables = self._state.now().tables
        with self._state.writing():
            self._write([name for name in tables if self._has_outgrown(name) and self._is_overweight(name)])

    def checkpoint_if_due(self, changed: Iterable[str]) -> None:
        """A checkpoint after a batch of some tables, if it is due. The batch is stored already. Where the disk is too
        full for a checkpoint, the next one waits until there are twice as many batches, so that not every batch tries
        in vain.
        """
        state = self._state
        long = state.replay_seconds > _REPLAY_SECONDS or state.replay_batches >= _REPLAY_BATCHES
        if not long and not any(self._has_outgrown(name) for name in changed):
            return
        seq = state.last_seq()
        if seq < self._store.next_checkpoint:
            return
        try:
            with clear_sentences(self._store.path):
                if not self._store.room_for_checkpoint():
                    raise no_space(self._store.path)
                self.checkpoint()
        except (Damaged, Missing) as error:
            state.progress.note(f"The batch is stored, but its files can't be merged: {error}.")
        except BadInput:
            state.progress.note("The batch is stored; its files will be merged when the disk has room.")
        else:
            return
        self._store.postpone_checkpoint(seq + min(max(state.replay_batches, 1), _MOST_BATCHES))

    def keep_rows(self, how_long: str | None) -> None:
        """From now on, keep rows that broke rules for this long, or for ever."""
        self._store.put_meta(KEEP_ROWS, kept_for(how_long))

    def expire_rows(self) -> int:
        """Remove the values of rows that broke rules too long ago, where that is wanted; gives the number of events
        that this concerned. The batch is stored already.
        """
        if not (how_long := self._store.meta(KEEP_ROWS)):
            return 0
        from holdfast.alerts.outbox import Outbox  # what most states need not load

        before = datetime.now(UTC) - duration(how_long)
        Outbox(self._store.path).forget(before.timestamp())
        try:
            with clear_sentences(self._store.path):
                return self._store.expire(before)
        except BadInput as error:
            self._state.progress.note(f"Rows that are older than {how_long} will be removed later: {error}.")
            return 0

    def vacuum(self, keep_events: bool) -> Vacuumed:
        """Rewrite all tables, and remove what is left of deleted rows from the whole state folder."""
        state = self._state
        tables = state.now().tables
        expired = self.expire_rows()
        before = self._store.bulk.size()
        with state.writing():
            dropped = self._write(tables)
            living = {name: watched.table.living_ids() for name, watched in tables.items()}
            layouts = {} if keep_events else without_gone_values(self._store.expectations.layouts(), state.tables)
            events = self._store.forget(None if keep_events else living, layouts)
        return Vacuumed(before, self._store.bulk.size(), dropped, events, expired)

    def remember_needed(self, needed: Mapping[str, float]) -> None:
        """Store how many bytes a row needs, for the next process that opens the state."""
        self._needed |= needed
        text = json.dumps(self._needed)
        if text != self._store.meta(_NEEDED):
            self._store.put_meta(_NEEDED, text)

    def _write(self, outgrown: Iterable[str]) -> int:
        """Store states and tables as of now, some tables rewritten; gives how many values that dropped."""
        state, store = self._state, self._store
        state.stale = True
        replaced: dict[str, tuple[Segment, ...]] = {}
        kept: dict[str, UsedCodes] = {}  # what of each table that is rewritten stays
        dropped = 0
        for name in outgrown:
            state.progress.step(f"Writing {name} again")
            made = rewritten(state.tables[name], store.folder)
            replaced[name], kept[name] = made.segments, made.kept
            dropped += made.dropped
        for name, shared in state.workspace.tables.items():
            table = shared.table
            segments = replaced.get(name) or compacted(table, store.folder)
            if segments is not None:
                replaced[name] = segments
                now = load_table(TableFiles(table.schema, segments, table.next_id))
                if name in kept:
                    shared.rewritten(now, kept[name])
                else:
                    shared.table = now.following(table)  # the same in other files
        watched = state.workspace
        for (rules, name), known in watched.states.items():
            if name in kept or (name == ALL_TABLES and kept):
                watched.states[rules, name] = watched.engines[rules].rewritten(known, watched.subject(name), kept)
        store.write_checkpoint(state.last_seq(), state.write_states(watched, {}), replaced)
        self.remember_needed({name: needed_bytes(state.tables[name]) for name in kept})
        state.replay_seconds, state.replay_batches = 0.0, 0
        state.stale = False
        return dropped

    def _has_outgrown(self, name: str) -> bool:
        """Whether a table holds more than twice the bytes that its rows needed when they were last counted."""
        table = self._state.tables[name]
        return is_overweight(table, self._needed.setdefault(name, bytes_a_row(table)))

    def _is_overweight(self, name: str) -> bool:
        """Whether a table does hold more than twice the bytes that its rows need."""
        self._needed[name] = needed_bytes(self._state.tables[name])
        return self._has_outgrown(name)
