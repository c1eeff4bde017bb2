"""Whose are the files? A state whose segments lie elsewhere owns a folder there that has the state's identity as name.

A copy of such a state (`cp -r`) has the same identity, and names the files of the other. It is told by where its
database lies: a copy has another inode, and a state that was moved on one file system has the one it had. Another file
system may give the same number, so if the path is another, too, a look at the old one tells.
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
    """Where a state lies, as it keeps it."""
    return json.dumps({"inode": inode_of(folder / database), "path": str(folder.resolve())})


def inode_of(path: Path) -> int:
    """The number of a file on its file system."""
    return path.stat().st_ino


def is_copy(folder: Path, own: str, kept: str) -> bool:
    """Whether the state in a folder, with its identity and the home that it keeps, was copied from there."""
    then, now = json.loads(kept), json.loads(home(folder))
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
