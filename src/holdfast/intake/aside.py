"""Files that can't be applied, moved out of the way: into a folder, with a file beside each that says why.

The reason is on the disk before the file is moved, and a file that a crash left in both places is moved again to where
it was going: at any moment the file is in one place at least, and in the end in one.
"""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Iterable
from itertools import count
from pathlib import Path

from holdfast.errors import clear_sentences
from holdfast.table import files


def move_aside(path: str, folder: Path, reason: str) -> Path | None:
    """Move a file into a folder, with the reason in `NAME.reason` beside it; gives where it is now. Of a file elsewhere
    (`s3://…`), which stays where it is, and of one that has gone only the reason is written.
    """
    said = [f"{path}\n", f"{reason}\n"]
    with clear_sentences(folder):
        folder.mkdir(parents=True, exist_ok=True)
        source = None if "://" in path else Path(path)
        if source is None or not source.exists():
            write_durably(folder / f"{path.rpartition('/')[2]}.reason", said)
            return None
        target = _target(source, folder)
        write_durably(_reason(target), said)
        _move(source, target)
    return target


def write_durably(path: Path, lines: Iterable[str]) -> None:
    """Write a file whole, or not at all, and wait until it and its name are on the disk."""
    draft = path.with_name(f".{path.name}")
    with draft.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines)
    _put(draft, path)


def _target(source: Path, folder: Path) -> Path:
    """Where a file goes: under its own name, or, where another file has it, with a number."""
    stem, dot, suffix = source.name.partition(".")
    names = (source.name if n == 1 else f"{stem}-{n}{dot}{suffix}" for n in count(1))
    return next(to for to in map(folder.joinpath, names) if _is_free(to, source))


def _is_free(target: Path, source: Path) -> bool:
    """Whether a file may go there: no other one has the name, or that of the reason."""
    reason = _reason(target)
    if reason.exists() and not reason.read_bytes().startswith(f"{source}\n".encode()):
        return False
    return not target.exists() or filecmp.cmp(source, target, shallow=False)


def _reason(target: Path) -> Path:
    return target.with_name(f"{target.name}.reason")


def _move(source: Path, target: Path) -> None:
    if source.parent.stat().st_dev == target.parent.stat().st_dev:
        source.replace(target)
    else:
        draft = target.with_name(f".{target.name}")
        shutil.copyfile(source, draft)
        _put(draft, target)
        source.unlink()
    files.flush(target.parent)
    files.flush(source.parent)


def _put(draft: Path, path: Path) -> None:
    files.flush(draft)
    draft.replace(path)
    files.flush(path.parent)
