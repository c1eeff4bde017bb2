"""A local folder that files arrive in: each file is told once, and once more when its content is replaced.

The state remembers how each applied file looked (size, times, inode) and what it held (a digest). A file that looks as
it did is passed over without being opened; one that looks different is read, and passed over if it holds what it did.
Where a crash came between the commit of a batch and the memory of its file, the file is told again, and its batch id
keeps it from counting twice: `file:PATH` for the first content, `file:PATH#2-DIGEST` for the second, and so on.

Files should be moved into the folder whole; names that begin with a dot or an underscore are passed over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from os import stat_result
from pathlib import Path

from holdfast.errors import refuse_not_utf8
from holdfast.progress import Progress
from holdfast.store.records import Handled
from holdfast.store.store import Store


class Folder:
    """The files of a folder that are still to be applied."""

    def __init__(self, folder: Path, store: Store, progress: Progress) -> None:
        self._folder, self._store, self._progress = folder, store, progress
        self._handled = store.handled_files()

    def arrived(self) -> Iterator[tuple[str, str, Handled]]:
        """The path of each file that is new or replaced, the oldest first; the id of its batch; and what to `remember`
        once it is applied.
        """
        for path, facts in self._listed():
            refuse_not_utf8(path)
            known, looks = self._handled.get(path), _looks(facts)
            if known is not None and known.looks == looks:
                continue
            with suppress(FileNotFoundError):  # it went before its turn came
                file = Handled(path, looks, _digest(path), 1 if known is None else known.version)
                if known is None and not self._changed_since_applied(file, facts):
                    yield path, f"file:{path}", file
                elif known is not None and known.digest != file.digest:
                    self._progress.note(f"{path}: replaced since it was applied; what it holds now is a new batch")
                    file = Handled(path, looks, file.digest, known.version + 1)
                    yield path, f"file:{path}#{file.version}-{file.digest[:16]}", file
                else:
                    self.remember(file)

    def remember(self, file: Handled) -> None:
        """The file is applied."""
        self._store.put_handled(file)
        self._handled[file.path] = file

    def _listed(self) -> list[tuple[str, stat_result]]:
        found = []
        for each in self._folder.iterdir():
            with suppress(FileNotFoundError):
                if not each.name.startswith((".", "_")) and each.is_file():
                    found.append((str(each), each.stat()))
        return sorted(found, key=lambda file: (file[1].st_mtime_ns, file[0]))

    def _changed_since_applied(self, file: Handled, facts: stat_result) -> bool:
        """Whether a file was applied, its content was not remembered, and it is a later one: said, and passed over."""
        applied = self._store.batch(f"file:{file.path}")
        if applied is None or facts.st_mtime <= datetime.fromisoformat(applied.at).timestamp():
            return False
        self._progress.note(
            f"{file.path}: changed since it was applied as batch {applied.seq}, and passed over; "
            "to apply what it holds now, move it in under another name"
        )
        return True


def _looks(facts: stat_result) -> str:
    return f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns} {facts.st_ino}"


def _digest(path: str) -> str:
    with Path(path).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
