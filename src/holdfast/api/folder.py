"""Following a folder that files arrive in: each is applied once, and a bad one may be moved aside."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.api.batch import Batches, BatchOptions, sources_by_table
from holdfast.errors import BadInput, BadSurroundings, Damaged, Missing
from holdfast.intake.folder import Folder
from holdfast.intake.paths import refuse_lake_elsewhere, refuse_lake_here
from holdfast.intake.quarantine import move_aside
from holdfast.intake.tables import Sources
from holdfast.progress import Progress
from holdfast.results.outcome import Outcome
from holdfast.store.layout import STREAMS
from holdfast.store.store import Store
from holdfast.table.resolve import needs_key

Handle = Callable[[str, str], bool]  # gets the path of a file and the id of its batch, gives whether it was applied
Applied = Callable[[str, Outcome], None]  # gets the path of a file, and what it did
Refused = Callable[[str, str, str | None], None]  # gets its path, why it can't be applied, and where it is now
_SECONDS_BETWEEN_LOOKS = 1.0


def watch_folder(
    batches: Batches,
    folder: str | Path,
    how: str,
    options: BatchOptions,
    once: bool,
    applied: Applied,
    refused: Refused,
) -> None:
    """Apply every file that arrives in a folder, until stopped, or once all that are there now are applied."""
    state = batches.state
    state.refuse_closed()
    part = {"insert": "inserts", "delete": "deletes", "upsert": "upserts"}.get(how, how)
    sources_by_table(Sources(**{part: folder}), options)  # refuses what no file could mean
    watched = None if options.table_column is not None else state.tables[state.table_name(options.table)]
    if how == "upsert" and watched is not None and not watched.schema.key:
        raise needs_key(watched)
    own = replace(options, quarantine=None) if how == "snapshot" else options

    def handle(path: str, batch_id: str) -> bool:
        applied(path, batches.apply(Sources(**{part: path}), own, batch_id))
        return True

    each = handle if options.quarantine is None else _moving_aside(handle, folder, options.quarantine, refused)
    whose = options.table if options.table_column is None else f"by {options.table_column}"
    subject = f"{whose}\n{how}"  # other watchers of the same folder have another
    place = str(folder).removeprefix("file://")
    if "://" in place:
        _follow_far(state.store, state.spark, place, f"{place}\n{subject}", each, once)
    else:
        _follow_here(state.store, state.progress, Path(place), each, once)


def _moving_aside(handle: Handle, folder: str | Path, quarantine: str | Path, refused: Refused) -> Handle:
    """The same handle for files of a folder, but one that is bad is moved into another folder. What is wrong with a
    disk or with the state is no fault of the file, and raised as ever.
    """
    if Path(quarantine).resolve() == Path(str(folder).removeprefix("file://")).resolve():
        raise BadInput(f"{quarantine}: what is set aside here would arrive again; name another folder for it")

    def apply(path: str, batch_id: str) -> bool:
        try:
            return handle(path, batch_id)
        except (BadSurroundings, Damaged, Missing):
            raise
        except BadInput as error:
            moved = move_aside(path, Path(quarantine), str(error))
            refused(path, str(error), None if moved is None else str(moved))
            return False

    return apply


def _follow_here(store: Store, progress: Progress, folder: Path, handle: Handle, once: bool) -> None:
    """A local folder: look at it now and then, and remember in the state which files were applied."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder to watch")
    refuse_lake_here(str(folder), inside=False)
    arriving = Folder(folder.resolve(), store, progress)
    while True:
        for path, batch_id, file in arriving.arrived():
            if handle(path, batch_id):
                arriving.remember(file)
        if once:
            return
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _follow_far(store: Store, spark: Any, folder: str, subject: str, handle: Handle, once: bool) -> None:
    """A folder elsewhere: Spark's Structured Streaming gives each file once."""
    from holdfast.spark.session import session
    from holdfast.spark.stream import follow_folder

    name = hashlib.sha256(subject.encode()).hexdigest()[:16]
    checkpoint = store.path.resolve() / STREAMS / name

    def each(path: str) -> None:
        handle(path, f"file:{path}")

    running = session(spark)
    refuse_lake_elsewhere(running, folder)
    follow_folder(running, folder, str(checkpoint), each, once)
