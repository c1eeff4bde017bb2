"""Which state owns segment files? If they lie elsewhere, the folder there has the identity of the state as its name.

A copy of such a state (`cp -r`) has the same identity, and names the files of the original. A copy is recognised by
its database file: it has another inode, while a state that was moved on one file system keeps its inode. Another file
system may give the same number; so if the path differs, the old path is checked as well.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from pathlib import Path

from holdfast.store.database import fact
from holdfast.store.layout import DATABASE
from holdfast.table import files


def new() -> str:
    """An identity that no other state has."""
    return uuid.uuid4().hex


def home(folder: Path, database: str = DATABASE) -> str:
    """Where a state lies, as text."""
    return json.dumps({"inode": inode_of(folder / database), "path": str(folder.resolve())})


def inode_of(path: Path) -> int:
    """The number of a file on its file system."""
    return path.stat().st_ino


def is_copy(folder: Path, own: str, stored: str) -> bool:
    """Whether the state in a folder was copied, given its identity and its stored home."""
    then, now = json.loads(stored), json.loads(home(folder))
    if then["inode"] != now["inode"]:
        return True
    return bool(then["path"] != now["path"] and fact(Path(then["path"]), "identity") == own)


def copy_files(names: Iterable[str], old: str, place: str) -> None:
    """Copy files from one folder of segments to another: all of them, or none."""
    copied: list[str] = []
    try:
        files.make_folder(place)
        for name in sorted(names):
            copied.append(f"{place}/{name}")
            files.copy(f"{old}/{name}", copied[-1])
        files.flush_folder(place)
    except BaseException:
        for path in copied:
            files.remove(path)
        files.remove_empty(place)
        raise
