"""The names of the files and folders of a state, which state a path lies in, and how much room it takes."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from holdfast.table import files

DATABASE, SUMS = "holdfast.db", "holdfast.sums"
LOCK, SEGMENTS, STREAMS = "lock", "segments", "streams"
TO_OPEN = 1 << 17  # SQLite shares memory in a file beside the database; without room for it, it just fails


def state_of(path: Path) -> Path | None:
    """The folder of the state whose file a path names, whether it is there or not; None where it names none of one."""
    whole = path.resolve()
    for folder in whole.parents:
        name = whole.relative_to(folder).parts[0]
        if (name in (LOCK, SEGMENTS, STREAMS) or name.startswith((DATABASE, SUMS))) and (folder / DATABASE).exists():
            return folder
    return None


def bytes_of_state(path: Path, folder: str) -> int:
    """The bytes of a state's own folder, and of that of its segments where it lies elsewhere."""
    own = [each for each in path.rglob("*") if each.is_file() and not each.name.endswith("-shm")]
    elsewhere = 0 if Path(folder).is_relative_to(path.resolve()) else files.size(folder)
    return elsewhere + sum(each.stat().st_size for each in own)


def has_room(folder: str, like: Iterable[str]) -> bool:
    """Whether a folder has room for files as large as some others; nobody knows that of storage elsewhere."""
    if "://" in folder:
        return True
    needed = sum(Path(path).stat().st_size for path in like)
    return shutil.disk_usage(folder).free > needed + TO_OPEN
