"""What has arrived in a local folder, batch by batch: each content of a file once.

The state remembers how each applied file looked (size, times, inode) and what it held (a digest), in the transaction of
its batch. A file that looks the same is skipped without being opened; one that looks different is read, and skipped if
it holds the same. The ids of batches are `file:PATH` for the first content of a file, `file:PATH#2-DIGEST` for the
second, and so on; and `batch:FOLDER/NAME` for the files whose names say that they are one batch.

When is a batch of several files complete? As soon as each watched table has a file, or as soon as its newest file is
some seconds old. Batches are applied in their order: one that is not complete holds up later ones until then. A file
that comes after its batch was applied is a batch of its own, and a note says so.

In memory are only files that are in the folder now.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from holdfast.api.file_pattern import FilePattern, Named, batch_order
from holdfast.errors import refuse_not_utf8
from holdfast.progress import Progress
from holdfast.store.records import HandledFile
from holdfast.store.store import Store
from holdfast.visible import counted, first_of

_NAMED = 3  # files that don't match, by name


@dataclass(frozen=True)
class Arrival:
    """Files to apply as one batch, with their tables where their names say them, and what to remember of them. Without
    an id they hold nothing new.
    """

    batch_id: str | None
    paths: tuple[str, ...]
    tables: tuple[str | None, ...]
    handled: tuple[HandledFile, ...] = ()


@dataclass(frozen=True)
class _File:
    """A file in the folder."""

    path: str
    facts: os.stat_result
    named: Named

    @property
    def looks(self) -> str:
        return looks_of(self.facts)

    @property
    def place(self) -> tuple[bool, list[tuple[int, str]], int, str]:
        """Sorts files by batch and name, and those of no batch by age."""
        batch = self.named.batch
        return batch is None, batch_order(batch or ""), 0 if batch else self.facts.st_mtime_ns, self.path


class Inbox:
    """A local folder that files arrive in. `settle` is how many seconds a batch waits for more files; `wait` is how
    many seconds the first one that waits still does.
    """

    def __init__(
        self,
        store: Store,
        progress: Progress,
        folder: Path,
        pattern: FilePattern,
        tables: Collection[str],
        settle: float,
    ) -> None:
        self._store, self._progress, self._pattern = store, progress, pattern
        self._folder, self._tables, self._settle = folder, frozenset(tables), settle
        self._handled: dict[str, HandledFile] = {}  # of the files that are there
        self._others: set[str] = set()  # files there that don't match the pattern
        self.wait: float | None = None

    def arrivals(self) -> Iterator[Arrival]:
        """What has arrived by now and is complete, in order. Call `remember` for each before taking the next."""
        self.wait = None
        for group in self._groups():
            wait = self._seconds_to_wait(group)
            if wait > 0:
                self.wait = wait
                self._progress.step(f"Waiting for more files of batch {group[0].named.batch}")
                return
            with suppress(FileNotFoundError):  # a file is gone again
                yield from self._arrivals_of(group)

    def remember(self, files: Iterable[HandledFile]) -> None:
        """The state has stored that files were applied."""
        self._handled |= {file.path: file for file in files}

    def _groups(self) -> list[list[_File]]:
        """The files that look new or different, by batch; those that were applied before are alone."""
        groups: dict[str, list[_File]] = {}
        for file in sorted(self._look(), key=lambda each: each.place):
            is_alone = file.path in self._handled or file.named.batch is None
            groups.setdefault(file.path if is_alone else self._batch_id(file), []).append(file)
        return list(groups.values())

    def _look(self) -> list[_File]:
        """The files in the folder that look new or different and whose names match; a note names the others once. Most
        files look the same, and cost no more than that.
        """
        found, others, handled = [], set(), {}
        for path, name, facts in _listed(self._folder):
            if (known := self._handled.get(path)) is not None:
                handled[path] = known
                if known.looks == looks_of(facts):
                    continue
            if (named := self._pattern.read(name)) is None:
                others.add(name)
            else:
                refuse_not_utf8(path)
                found.append(_File(path, facts, named))
        stored = self._store.handled_files([file.path for file in found if file.path not in handled])
        self._handled = handled | stored
        self._name_once(others)
        return [file for file in found if file.path not in stored or stored[file.path].looks != file.looks]

    def _name_once(self, others: set[str]) -> None:
        if new := sorted(others - self._others):
            words = "doesn't match --files, and is" if len(new) == 1 else "don't match --files, and are"
            self._progress.note(f"{self._folder}: {counted(len(new), 'file')} {words} left: {first_of(new, _NAMED)}")
        self._others = others

    def _batch_id(self, file: _File) -> str:
        return f"batch:{self._folder}/{file.named.batch}"

    def _seconds_to_wait(self, group: Sequence[_File]) -> float:
        """How long a batch waits for more files; 0 if it is complete, and if it was applied before."""
        first = group[0]
        alone = first.named.batch is None or first.path in self._handled or not self._pattern.names_tables
        if alone or self._tables <= {file.named.table for file in group}:
            return 0.0
        newest = max(file.facts.st_ctime for file in group)  # moving a file changes this time
        left = newest + self._settle - time.time()
        return 0.0 if left <= 0 or self._store.batch(self._batch_id(first)) is not None else left

    def _arrivals_of(self, group: Sequence[_File]) -> Iterator[Arrival]:
        """A batch of the files whose names say so; or a batch of each file."""
        first = group[0]
        if first.named.batch is not None and first.path not in self._handled:
            batch_id = self._batch_id(first)
            if self._store.batch(batch_id) is None:
                yield _arrival(
                    batch_id, group, [HandledFile(file.path, file.looks, _digest(file), 1) for file in group]
                )
                return
            for file in group:
                self._progress.note(
                    f"{file.path}: came after batch {first.named.batch} was applied; it is a batch of its own"
                )
        for file in group:
            own_id, memory = self._alone(file)
            yield _arrival(own_id, [file], [memory])

    def _alone(self, file: _File) -> tuple[str | None, HandledFile]:
        """The id of the batch of one file, or None where it needs none, and what is to be remembered of it."""
        path, looks, digest = file.path, file.looks, _digest(file)
        known = self._handled.get(path)
        if known is None:
            return None if self._changed_since_applied(file) else f"file:{path}", HandledFile(path, looks, digest, 1)
        if known.digest == digest:
            return None, HandledFile(path, looks, digest, known.version)
        self._progress.note(f"{path}: replaced since it was applied; its new content is a new batch")
        version = known.version + 1
        return f"file:{path}#{version}-{digest[:16]}", HandledFile(path, looks, digest, version)

    def _changed_since_applied(self, file: _File) -> bool:
        """Whether a file was applied, its content was not remembered, and it changed since: then it is skipped, with a
        note.
        """
        applied = self._store.batch(f"file:{file.path}")
        if applied is None or file.facts.st_mtime <= datetime.fromisoformat(applied.at).timestamp():
            return False
        self._progress.note(
            f"{file.path}: changed since it was applied as batch {applied.number}, and skipped; "
            "to apply its new content, move it in under another name"
        )
        return True


def _listed(folder: Path) -> Iterator[tuple[str, str, os.stat_result]]:
    """The files in a folder: path, name and what the system says of each."""
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # it is gone again
                if not entry.name.startswith((".", "_")) and entry.is_file():
                    yield entry.path, entry.name, entry.stat()


def looks_of(facts: os.stat_result) -> str:
    """How a file looks: another text whenever it is written to, replaced or moved."""
    return f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns} {facts.st_ino}"


def _arrival(batch_id: str | None, files: Sequence[_File], handled: Sequence[HandledFile]) -> Arrival:
    paths, tables = tuple(file.path for file in files), tuple(file.named.table for file in files)
    return Arrival(batch_id, paths, tables, tuple(handled))


def _digest(file: _File) -> str:
    with Path(file.path).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
