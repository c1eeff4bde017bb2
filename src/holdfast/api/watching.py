"""Following a folder that files arrive in: each is applied once, and a bad one may be moved aside."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.errors import BadInput, BadSurroundings, Damaged, Missing
from holdfast.intake.aside import move_aside
from holdfast.intake.folder import Folder
from holdfast.intake.lakes import refuse_lake_elsewhere, refuse_lake_here
from holdfast.progress import Progress
from holdfast.store.layout import STREAMS
from holdfast.store.store import Store

Handle = Callable[[str, str], bool]  # gets the path of a file and the id of its batch, gives whether it was applied
Refused = Callable[[str, str, str | None], None]  # gets its path, why it can't be applied, and where it is now
_SECONDS_BETWEEN_LOOKS = 1.0


def moving_aside(handle: Handle, folder: str | Path, quarantine: str | Path, refused: Refused) -> Handle:
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


def follow(
    store: Store, spark: Any, progress: Progress, folder: str | Path, subject: str, handle: Handle, once: bool
) -> None:
    """Handle every file that arrives in a folder, until stopped, or once all that are there now are handled. `subject`
    tells apart what else follows the same folder.
    """
    place = str(folder).removeprefix("file://")
    if "://" in place:
        _follow_far(store, spark, place, f"{place}\n{subject}", handle, once)
    else:
        _follow_here(store, progress, Path(place), handle, once)


def _follow_here(store: Store, progress: Progress, folder: Path, handle: Handle, once: bool) -> None:
    """A local folder: look at it now and then, and remember in the state which files were applied."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder to watch")
    refuse_lake_here(str(folder), inside=False)
    arriving = Folder(folder.resolve(), store.handled_files(), store.batch, progress)
    while True:
        for path, batch_id, file in arriving.arrived():
            if handle(path, batch_id):
                arriving.remember(file)
        if once:
            return
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _follow_far(store: Store, spark: Any, folder: str, subject: str, handle: Handle, once: bool) -> None:
    """A folder elsewhere: Spark's Structured Streaming tells each file once."""
    from holdfast.spark.session import session
    from holdfast.spark.stream import follow_folder

    name = hashlib.sha256(subject.encode()).hexdigest()[:16]
    checkpoint = store.path.resolve() / STREAMS / name

    def each(path: str) -> None:
        handle(path, f"file:{path}")

    running = session(spark)
    refuse_lake_elsewhere(running, folder)
    follow_folder(running, folder, str(checkpoint), each, once)
