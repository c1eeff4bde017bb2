"""The files that commands are asked to write, and what they never write over.

An output may take the place of a file that was written as the same kind of output before, or of one without a byte. Any
other file is somebody's: a source, a file of a state, a page of another program. It is refused, before the work and
once more when the file is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import BadInput, clear_sentences
from holdfast.store.layout import state_of

_HEAD = 1 << 18  # bytes in which an output tells what it is: the style of a page comes first


@dataclass(frozen=True)
class Kind:
    """A kind of output: its name, how to tell one that is there, and the endings that its name may have."""

    name: str
    is_one: Callable[[Path], bool]
    endings: tuple[str, ...] = ()


def refuse_unwritable(path: Path, kind: Kind) -> None:
    """Say so where an output can't be written, would destroy something else, or its name has an ending that means
    nothing.
    """
    if kind.endings and path.suffix not in kind.endings:
        raise BadInput(f"{path}: unknown ending; use {', '.join(kind.endings[:-1])} or {kind.endings[-1]}")
    with clear_sentences(path):
        folder = path.parent
        if path.is_dir():
            raise BadInput(f"{path}: this is a folder; give the name of a file")
        if not folder.is_dir():
            raise BadInput(f"{path}: there is no folder {folder}; make it, or choose another place")
        if state := state_of(path):
            raise BadInput(f"{path}: this is for files of the state {state}; choose another place")
        if not os.access(path if path.exists() else folder, os.W_OK):
            raise BadInput(
                f"{path}: can't be written, as the disk or the folder is read-only for you; choose another place"
            )
        if path.is_file() and path.stat().st_size and not kind.is_one(path):
            raise BadInput(
                f"{path}: already there, and not {kind.name} of ours; choose another name, or remove it first"
            )


@contextmanager
def writing(path: Path, kind: Kind) -> Iterator[None]:
    """Turn what may happen while a file is written into one sentence."""
    refuse_unwritable(path, kind)
    try:
        yield
    except OSError as error:
        raise BadInput(f"{path}: can't be written: {error.strerror or error}; choose another place") from None


def write_text(path: Path, text: str, kind: Kind) -> int:
    """Write a text, such as a page; gives its size in bytes."""
    written = text.encode("utf-8", "backslashreplace")
    with writing(path, kind):
        path.write_bytes(written)
    return len(written)


def holds(*marks: bytes) -> Callable[[Path], bool]:
    """Whether one of some marks is in the head of a file."""

    def is_one(path: Path) -> bool:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        return any(mark in head for mark in marks)

    return is_one


PAGE = Kind("a page", holds(b'class="brand">Holdfast</a>'))
PICTURE = Kind("a picture", holds(b"digraph foreign_keys {", b"%% foreign_keys", b"<title>foreign_keys</title>"))
