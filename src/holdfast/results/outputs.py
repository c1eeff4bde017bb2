"""The files that commands write, and the files that they never overwrite.

An output may replace an empty file, or an earlier output of the same kind. Any other file is refused (it may be a
source, a file of a state, a page of another program): before the work, and again when the output is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import BadInput, clear_sentences
from holdfast.store.layout import state_of

_HEAD = 1 << 18  # bytes that identify an output; the style of a page comes first


def contains(*marks: bytes) -> Callable[[Path], bool]:
    """Whether the head of a file contains one of some texts."""

    def is_one(path: Path) -> bool:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        return any(mark in head for mark in marks)

    return is_one


@dataclass(frozen=True)
class FileKind:
    """A kind of output: its name, a test whether a file is one, and the endings that file names may have."""

    name: str
    is_one: Callable[[Path], bool]
    endings: tuple[str, ...] = ()


PAGE = FileKind("a page", contains(b'class="brand">Holdfast</a>'))
PICTURE = FileKind("a picture", contains(b"digraph foreign_keys {", b"%% foreign_keys", b"<title>foreign_keys</title>"))


def refuse_unwritable(path: Path, kind: FileKind) -> None:
    """Refuse an output that can't be written, would overwrite another file, or has an unknown ending."""
    if kind.endings and path.suffix not in kind.endings:
        raise BadInput(f"{path}: unknown ending; use {', '.join(kind.endings[:-1])} or {kind.endings[-1]}")
    with clear_sentences(path):
        folder = path.parent
        if path.is_dir():
            raise BadInput(f"{path}: this is a folder; give the name of a file")
        if not folder.is_dir():
            raise BadInput(f"{path}: there is no folder {folder}; make it, or choose another place")
        if state := state_of(path):
            raise BadInput(f"{path}: this place belongs to the state {state}; choose another one")
        if not os.access(path if path.exists() else folder, os.W_OK):
            raise BadInput(f"{path}: can't be written: the disk or the folder is read-only; choose another place")
        if path.is_file() and path.stat().st_size and not kind.is_one(path):
            raise BadInput(
                f"{path}: already there, and not {kind.name} of ours; choose another name, or remove it first"
            )


@contextmanager
def writing(path: Path, kind: FileKind) -> Iterator[None]:
    """Turn errors of writing a file into one sentence."""
    refuse_unwritable(path, kind)
    with clear_sentences(path):
        yield


def write_text(path: Path, text: str, kind: FileKind) -> int:
    """Write a text, such as a page; returns its size in bytes."""
    written = text.encode("utf-8", "backslashreplace")
    with writing(path, kind):
        path.write_bytes(written)
    return len(written)
