"""Which state owns segment files? If they lie elsewhere, the folder there has the identity of the state as its name.

A copy of such a state (`cp -r`) has the same identity, and names the files of the original. A copy is recognised by
its database file: it has another inode, while a state that was moved on one file system keeps its inode. Another file
system may give the same number; so if the path differs, the old path is checked as well.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from holdfast.errors import BadInput, Missing
from holdfast.store.database import fact
from holdfast.store.layout import DATABASE
from holdfast.table import files

FACTS = ("identity", "home", "segments")  # of a state: who it is, where it lies, and its segments, if elsewhere


def new() -> str:
    """An identity that no other state has."""
    return uuid.uuid4().hex


def home(folder: Path, database: str = DATABASE) -> str:
    """Where a state lies, as text."""
    return json.dumps({"inode": inode_of(folder / database), "path": str(folder.resolve())})


def inode_of(path: Path) -> int:
    """The number of a file on its file system."""
    return path.stat().st_ino


def _is_copy(folder: Path, known: Mapping[str, str]) -> bool:
    """Whether the state in a folder was copied from another, which owns the files that both name."""
    then, now = json.loads(known["home"]), json.loads(home(folder))
    if then["inode"] != now["inode"]:
        return True
    return bool(then["path"] != now["path"] and fact(Path(then["path"]), "identity") == known["identity"])


def explained(error: Missing, folder: Path, known: Mapping[str, str], place: str) -> BaseException:
    """Why a file of a state is missing: a copy lacks files that the original has removed since."""
    if known["segments"] and _is_copy(folder, known):
        return BadInput(
            f"{folder}: this is a copy, and the original has removed files from {place} since; open the original, and "
            "make copies with: holdfast backup"
        )
    return error


def owning(
    folder: Path, known: Mapping[str, str], place: str, named: Callable[[], set[str]], note: Callable[[str], None]
) -> dict[str, str]:
    """The facts of a state that owns the files it names, given those that are known and the place of these files. A
    copy of another state gets an identity of its own, and copies of the files where the original may use them.
    """
    old = known["identity"]
    own = new() if _is_copy(folder, known) else old
    facts = {"identity": own, "home": home(folder)}
    if own == old or not known["segments"]:
        return facts
    facts["segments"] = to = f"{place.removesuffix(f'/{old}')}/{own}"
    note(
        f"{folder}: this state is a copy, and the original may use the files in {place}; they stay there and are "
        f"copied to {to}."
    )
    _copy_files(named(), place, to)
    return facts


def _copy_files(names: Iterable[str], old: str, place: str) -> None:
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
