"""Folders that files arrive in: each file is applied once, and once more when its content is replaced.

Files should be moved into the folder whole. Names that begin with a dot or an underscore are skipped. A bad file may be
moved to a quarantine.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from os import stat_result
from pathlib import Path
from typing import Any

from holdfast.api.apply_batch import Batches, BatchOptions, sources_by_table
from holdfast.errors import BadInput, BadSurroundings, Damaged, Missing, refuse_not_utf8
from holdfast.intake.paths import refuse_lake_elsewhere, refuse_lake_here
from holdfast.intake.quarantine import move_aside
from holdfast.intake.tables import Sources
from holdfast.progress import Progress
from holdfast.results.outcome import Outcome
from holdfast.store.layout import STREAMS
from holdfast.store.records import HandledFile
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
    """The same handle, which moves a bad file into another folder. Errors of the disk or the state are raised."""
    if Path(quarantine).resolve() == Path(str(folder).removeprefix("file://")).resolve():
        raise BadInput(f"{quarantine}: this is the watched folder, where bad files would arrive again; name another")

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
    """Follow a local folder: look at it once a second, and store in the state which files were applied."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder to watch")
    refuse_lake_here(str(folder), inside=False)
    handled = store.handled_files()
    while True:
        for batch_id, file in _arrived(folder.resolve(), store, progress, handled):
            if batch_id is None or handle(file.path, batch_id):
                store.put_handled(file)
                handled[file.path] = file
        if once:
            return
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _follow_far(store: Store, spark: Any, folder: str, subject: str, handle: Handle, once: bool) -> None:
    """Follow a folder elsewhere, with Spark's Structured Streaming, which reports each file once."""
    from holdfast.spark.session import session
    from holdfast.spark.stream import follow_folder

    name = hashlib.sha256(subject.encode()).hexdigest()[:16]
    checkpoint = store.path.resolve() / STREAMS / name

    def each(path: str) -> None:
        handle(path, f"file:{path}")

    running = session(spark)
    refuse_lake_elsewhere(running, folder)
    follow_folder(running, folder, str(checkpoint), each, once)


# ---- the files of a local folder -----------------------------------------------------------------------------------


def _arrived(
    folder: Path, store: Store, progress: Progress, handled: Mapping[str, HandledFile]
) -> Iterator[tuple[str | None, HandledFile]]:
    """The files that look new or different, the oldest first, each with the id of its batch, or None where it needs
    none.

    The state remembers how each applied file looked (size, times, inode) and what it held (a digest). A file that looks
    the same is skipped without being opened; one that looks different is read, and skipped if it holds the same. If a
    crash comes between the commit of a batch and the memory of its file, the file is applied again, and its batch id
    keeps it from counting twice: `file:PATH` for the first content, `file:PATH#2-DIGEST` for the second, and so on.
    """
    for path, facts in _listed(folder):
        refuse_not_utf8(path)
        known, looks = handled.get(path), f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns} {facts.st_ino}"
        if known is not None and known.looks == looks:
            continue
        with suppress(FileNotFoundError):  # it is gone again
            with Path(path).open("rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
            if known is None:
                skipped = _changed_since_applied(path, facts, store, progress)
                yield None if skipped else f"file:{path}", HandledFile(path, looks, digest, 1)
            elif known.digest == digest:
                yield None, HandledFile(path, looks, digest, known.version)
            else:
                progress.note(f"{path}: replaced since it was applied; its new content is a new batch")
                version = known.version + 1
                yield f"file:{path}#{version}-{digest[:16]}", HandledFile(path, looks, digest, version)


def _listed(folder: Path) -> list[tuple[str, stat_result]]:
    found = []
    for each in folder.iterdir():
        with suppress(FileNotFoundError):
            if not each.name.startswith((".", "_")) and each.is_file():
                found.append((str(each), each.stat()))
    return sorted(found, key=lambda file: (file[1].st_mtime_ns, file[0]))


def _changed_since_applied(path: str, facts: stat_result, store: Store, progress: Progress) -> bool:
    """Whether a file was applied, its content was not remembered, and it changed since: then it is skipped, with a
    note.
    """
    applied = store.batch(f"file:{path}")
    if applied is None or facts.st_mtime <= datetime.fromisoformat(applied.at).timestamp():
        return False
    progress.note(
        f"{path}: changed since it was applied as batch {applied.number}, and skipped; "
        "to apply its new content, move it in under another name"
    )
    return True
