"""The names of the files and folders of a state."""

from __future__ import annotations

from pathlib import Path

DATABASE, SUMS = "holdfast.db", "holdfast.sums"
LOCK, SEGMENTS, STREAMS, OUTBOX = "lock", "segments", "streams", "outbox"
TO_OPEN = 1 << 17  # bytes of a file in which SQLite shares memory; without room for it, SQLite just fails


def state_of(path: Path) -> Path | None:
    """The folder of the state that a path lies in, whether the file exists or not; None if it lies in no state."""
    whole = path.resolve()
    for folder in whole.parents:
        name = whole.relative_to(folder).parts[0]
        is_ours = name in (LOCK, SEGMENTS, STREAMS, OUTBOX) or name.startswith((DATABASE, SUMS))
        if is_ours and (folder / DATABASE).exists():
            return folder
    return None
