"""The names of the files and folders of a state, and which state a path lies in."""

from __future__ import annotations

from pathlib import Path

DATABASE, SUMS = "holdfast.db", "holdfast.sums"
LOCK, SEGMENTS, STREAMS = "lock", "segments", "streams"


def state_of(path: Path) -> Path | None:
    """The folder of the state whose file a path names, whether it is there or not; None where it names none of one."""
    whole = path.resolve()
    for folder in whole.parents:
        name = whole.relative_to(folder).parts[0]
        if (name in (LOCK, SEGMENTS, STREAMS) or name.startswith((DATABASE, SUMS))) and (folder / DATABASE).exists():
            return folder
    return None
