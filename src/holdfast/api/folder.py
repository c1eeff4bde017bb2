"""Folders that files arrive in: each file is applied once, and once more when its content is replaced. Files may be one
batch by their names (`inbox`).

Files should be moved into the folder whole. Names that begin with a dot or an underscore are skipped. A bad file may be
moved to a quarantine, together with the other files of its batch, so that they can come again together.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.api.apply_batch import Batches, BatchOptions, sources_by_table
from holdfast.api.file_pattern import ANY, FilePattern
from holdfast.api.inbox import Arrival, Inbox, looks_of
from holdfast.errors import BadInput, BadSurroundings, Damaged, Missing, suggest
from holdfast.intake.paths import refuse_lake_elsewhere, refuse_lake_here
from holdfast.intake.quarantine import move_aside
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import Sources
from holdfast.results.outcome import Outcome
from holdfast.store.layout import STREAMS
from holdfast.table.resolve import needs_key

Applied = Callable[[Sequence[str], Outcome], None]  # gets the paths of a batch's files, and what it did
Refused = Callable[[str, str, str | None], None]  # gets its path, why it can't be applied, and where it is now
SETTLE, EVERY = 5.0, 1.0  # seconds
PARTS = {"insert": "inserts", "delete": "deletes", "upsert": "upserts"}  # others are called alike
_MOVING = "moving"  # the fact with the files of a batch that are on their way to the quarantine
_SECONDS_BETWEEN_QUESTIONS = 0.2  # whether to stop


@dataclass(frozen=True)
class Watching:
    """How a folder is watched, as `Monitor.watch_folder` describes it."""

    how: str
    pattern: FilePattern = ANY
    once: bool = False
    every: float = EVERY
    settle: float = SETTLE
    stop: Callable[[], bool] = lambda: False
    applied: Applied = lambda _paths, _outcome: None
    refused: Refused = lambda _path, _reason, _moved: None

    @property
    def part(self) -> str:
        """What files hold, as `Sources` calls it."""
        return PARTS.get(self.how, self.how)

    def pause(self, seconds: float) -> None:
        """Wait, but not longer than nobody asks to stop."""
        until = time.monotonic() + seconds
        while not self.stop() and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _SECONDS_BETWEEN_QUESTIONS))


def watch_folder(batches: Batches, folder: str | Path, watching: Watching, options: BatchOptions) -> None:
    """Apply every file that arrives in a folder, until stopped, or once all that are there now are applied."""
    batches.state.refuse_closed()
    _refuse_what_no_file_could_mean(batches, folder, watching, options)
    handler = _Handler(batches, folder, watching, options)
    place = str(folder).removeprefix("file://")
    if "://" in place:
        _follow_far(handler, place)
    else:
        _follow_here(handler, Path(place))


def _refuse_what_no_file_could_mean(
    batches: Batches, folder: str | Path, watching: Watching, options: BatchOptions
) -> None:
    state, pattern = batches.state, watching.pattern
    if pattern.names_tables:
        if options.table is not None or options.table_column is not None:
            other = f"the table {options.table!r}" if options.table is not None else "the column of tables"
            raise BadInput(f"the names of the files say their table (--files); leave out {other}")
        return
    sources_by_table(Sources(**{watching.part: folder}), options)
    watched = None if options.table_column is not None else state.tables[state.table_name(options.table)]
    if watching.how == "upsert" and watched is not None and not watched.schema.key:
        raise needs_key(watched)


class _Handler:
    """Applies batches of files. With a quarantine, it moves those aside that can't be applied."""

    def __init__(self, batches: Batches, folder: str | Path, watching: Watching, options: BatchOptions) -> None:
        self.batches, self.watching, self.state = batches, watching, batches.state
        self.options = options
        self._own = replace(options, quarantine=None) if watching.how == "snapshot" else options
        aside = options.quarantine
        if aside is not None and Path(aside).resolve() == Path(str(folder).removeprefix("file://")).resolve():
            raise BadInput(f"{aside}: this is the watched folder, where bad files would arrive again; name another")

    def apply(self, arrival: Arrival) -> bool:
        """Apply a batch of files; gives whether it is applied, and not in the quarantine. Errors of the disk or the
        state are raised in any case.
        """
        try:
            self._apply(arrival)
            return True
        except (BadSurroundings, Damaged, Missing):
            raise
        except BadInput as error:
            if self.options.quarantine is None:
                raise
            self._move_aside(arrival, Path(self.options.quarantine), str(error))
            return False

    def _apply(self, arrival: Arrival) -> None:
        outcome = self.batches.apply(self._sources(arrival), self._own, arrival.batch_id, arrival.handled)
        if outcome.already_applied:
            self.state.store.put_handled(arrival.handled)
        self.watching.applied(arrival.paths, outcome)

    def _sources(self, arrival: Arrival) -> Sources:
        """What a batch consists of: one file, or one a table."""
        by_table: dict[str | None, str] = {}
        for table, path in zip(arrival.tables, arrival.paths, strict=True):
            if table is not None and table not in self.state.records:
                known = suggest(table, self.state.records)
                raise BadInput(f"{path}: its name says the table {table!r}, which is not watched; {known}")
            name = self.state.table_name(table) if self.watching.pattern.names_tables else None
            if name in by_table:
                what = "batch" if name is None else f"batch and table ({name})"
                raise BadInput(f"{path}: of the same {what} as {by_table[name]}; give a batch one file a table")
            by_table[name] = path
        return Sources(**{self.watching.part: by_table.get(None, by_table)})

    def _move_aside(self, arrival: Arrival, quarantine: Path, reason: str) -> None:
        """Move the files of a batch to the quarantine: all of them, also if this process is killed meanwhile."""
        if len(arrival.paths) > 1:
            looks = {file.path: file.looks for file in arrival.handled}
            self.state.store.put_meta(_MOVING, json.dumps([looks, str(quarantine.resolve()), reason]))
        self._move(arrival.paths, quarantine, reason)
        if len(arrival.paths) > 1:
            self.state.store.put_meta(_MOVING, "")

    def _move(self, paths: Iterable[str], quarantine: Path, reason: str) -> None:
        for path in paths:
            moved = move_aside(path, quarantine, reason)
            self.watching.refused(path, reason, None if moved is None else str(moved))

    def finish_moving(self) -> None:
        """Move the rest of a batch whose other files are in the quarantine already."""
        if unfinished := self.state.store.meta(_MOVING):
            looks, quarantine, reason = json.loads(unfinished)
            rest = [path for path in looks if Path(path).exists() and looks_of(Path(path).stat()) == looks[path]]
            self._move(rest, Path(quarantine), reason)
            self.state.store.put_meta(_MOVING, "")


def _follow_here(handler: _Handler, folder: Path) -> None:
    """Follow a local folder: look at it now and then."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder to watch")
    refuse_lake_here(str(folder), inside=False)
    state, watching = handler.state, handler.watching
    handler.finish_moving()
    inbox = Inbox(state.store, state.progress, folder.resolve(), watching.pattern, state.records, watching.settle)
    while not watching.stop():
        for arrival in inbox.arrivals():
            if arrival.batch_id is None:
                state.store.put_handled(arrival.handled)
            if arrival.batch_id is None or handler.apply(arrival):
                inbox.remember(arrival.handled)
            if watching.stop():
                return
        if watching.once and inbox.wait is None:
            return
        watching.pause(watching.every if inbox.wait is None else min(watching.every, inbox.wait))


def _follow_far(handler: _Handler, folder: str) -> None:
    """Follow a folder elsewhere, with Spark's Structured Streaming, which reports each file once."""
    from holdfast.spark.session import is_of_connect, session

    state, watching, options = handler.state, handler.watching, handler.options
    if watching.pattern.names_batches:
        raise BadInput(f"{folder}: only files of a local folder can be one batch; leave the group batch out of --files")
    whose = options.table if options.table_column is None else f"by {options.table_column}"
    others = "" if watching.pattern is ANY else f"\n{watching.pattern.regex.pattern}"
    subject = f"{folder}\n{whose}\n{watching.how}{others}"  # other watchers of the same folder have another
    checkpoint = state.store.path.resolve() / STREAMS / hashlib.sha256(subject.encode()).hexdigest()[:16]

    def each(path: str) -> None:
        named = watching.pattern.read(path.rpartition("/")[2])
        if named is not None:
            handler.apply(Arrival(f"file:{path}", (path,), (named.table,)))

    running = session(state.spark, f"Watching {folder}", (options.options or ReadOptions()).master)
    if is_of_connect(running):
        raise BadInput(
            f"{folder}: over Spark Connect what arrives is handled at the server, where this state is not open; use "
            "a classic session (--master spark://… or local[2])"
        )
    from holdfast.spark.stream import follow_folder

    refuse_lake_elsewhere(running, folder)
    follow_folder(running, folder, str(checkpoint), each, watching.once, watching.every, watching.stop)
