"""Quarantine: rows of a batch that can't be read or applied go to a file, each with the reason; the rest is applied.

A file is named after its batch, table and part: `monday.orders.inserts.csv`. `monday.changes.csv` has the rows of no
table, where a column names the table. The file is on the disk before the batch is committed, so no row is ever lost.
The same batch, tried again after a crash, writes the same file again. It has the columns of the source,
`holdfast_line` and `holdfast_reason`; JSON lines stay JSON lines. Once its rows are mended, it can be applied as it
is: these two columns are skipped. What doesn't split into columns is in a column `holdfast_text`, and is refused as
long as it is there.

Files that can't be applied at all are moved to a folder, each with a file that gives the reason. The reason is on the
disk before the file is moved. A file that a crash left in both places is moved again to the same target: at any moment
the file is in at least one place, and in the end in exactly one.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from holdfast.changes.operations import NAMES
from holdfast.errors import BadInput, clear_sentences
from holdfast.intake.opened import NOTED, UNSPLIT, OpenSource
from holdfast.intake.originals import Original, as_texts, originals
from holdfast.intake.staged_rows import NO_ROWS, Plan, StagedRows
from holdfast.sources.bad_records import NOTHING, Rejected
from holdfast.sources.dialect import Dialect
from holdfast.sources.jsonlines import BadLine, row_of
from holdfast.table import files
from holdfast.table.admit import Admitted
from holdfast.table.refused_rows import WrongRows
from holdfast.visible import visible

_FIRST = 5  # reasons that an outcome shows
_LONGEST_NAME = 80
_LONGEST_HEADER = 1 << 20


@dataclass(frozen=True)
class StagedSource:
    """A source of a batch, staged, and its records that are no rows of the table; without a plan it has no rows."""

    name: str
    opened: OpenSource
    plan: Plan | None = None
    staged: StagedRows = NO_ROWS
    rejected: Rejected = NOTHING


@dataclass(frozen=True)
class Quarantined:
    """The bad rows of a batch: how many, in which files, the first reasons; and how many rows were good."""

    rows: int = 0
    files: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    good: int = 0

    @property
    def of(self) -> int:
        """How many rows the batch has, bad and good ones."""
        return self.rows + self.good

    @property
    def share(self) -> float:
        """The share of bad rows, from 0 to 1."""
        return self.rows / self.of if self.of else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        return {"rows": self.rows, "of": self.of, "files": list(self.files), "reasons": list(self.reasons)}


class Quarantine:
    """The folder for the bad rows of one batch, and what is in it."""

    def __init__(self, folder: str | Path, batch_id: str) -> None:
        self._folder, self._batch = Path(folder), _file_name(batch_id)
        self.contents = Quarantined()
        if self._folder.exists() and not self._folder.is_dir():
            raise BadInput(f"{folder}: this is no folder; name one for the bad rows")

    def put(self, table: str, parts: Sequence[StagedSource], admitted: Admitted) -> None:
        """Write the bad rows of each part of a batch on a table, before it is committed."""
        first = 0
        for part in parts:
            staged = part.staged
            wrong = admitted.wrong.between(first, first + staged.rows)
            rows = wrong.places if staged.order is None else staged.order[wrong.places]
            bad = part.rejected.and_rows(rows, wrong.reasons(admitted.table))
            name = f"{_file_name(table)}.{part.name}"
            if staged.traceable:
                self.put_records(name, part.opened, bad)
            else:
                self._write(name, part.opened, False, bad.reasons, partial(_from_codes, part, wrong, admitted))
            first += staged.rows
            self.contents = replace(self.contents, good=self.contents.good + staged.rows - len(wrong))

    def put_records(self, name: str, opened: OpenSource, rejected: Rejected) -> None:
        """Write records of a source that are no rows of its table, or of any of its tables."""
        found = partial(originals, opened, rejected.records)
        self._write(name, opened, opened.json, rejected.reasons, lambda: (opened.names, found()))

    def _write(
        self,
        name: str,
        opened: OpenSource,
        as_json: bool,
        reasons: Sequence[str],
        find: Callable[[], tuple[list[str], Iterable[Original]]],
    ) -> None:
        """Write the records that `find` gives, with their columns; without bad records, remove what an earlier try
        left.
        """
        path = self._folder / f"{self._batch}.{name}.{'jsonl' if as_json else 'csv'}"
        if not reasons:
            if path.exists() and self._is_leftover(path, opened):
                path.unlink()
            return
        if path.exists() and not self._is_leftover(path, opened):
            raise BadInput(
                f"{path}: this file is already there, where bad rows would go; name another folder, or another batch id"
            )
        columns, some = find()
        found = list(some)
        noted = _with_files(found, reasons) if len(opened.files) > 1 else reasons
        lines = _json_lines(found, noted) if as_json else _csv_lines(columns, found, noted, opened.dialect)
        with clear_sentences(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            write_durably(path, lines)
        self._count(path, opened, found, reasons)

    def _is_leftover(self, path: Path, opened: OpenSource) -> bool:
        """Whether a file was written by an earlier try, and is not the source itself."""
        if any(path.samefile(file) for file in opened.files if Path(file).exists()):
            return False
        with path.open("rb") as file:
            return NOTED[1].encode() in file.readline(_LONGEST_HEADER)

    def _count(self, path: Path, opened: OpenSource, found: Sequence[Original], reasons: Sequence[str]) -> None:
        """Count the records that go to a file, and note the first reasons with their places in the source."""
        before = self.contents
        some = zip(found[:_FIRST], reasons, strict=False)
        first = [f"{_place(each, opened)}: {visible(reason)}" for each, reason in some]
        self.contents = replace(
            before,
            rows=before.rows + len(found),
            files=(*before.files, str(path)),
            reasons=(*before.reasons, *first)[:_FIRST],
        )

    def withdraw(self) -> None:
        """Remove the files: the batch was not applied, so all its rows are still in its sources."""
        for path in self.contents.files:
            with suppress(OSError):
                Path(path).unlink()


def _with_files(found: Sequence[Original], reasons: Sequence[str]) -> list[str]:
    """Reasons with the file of each record, where a source has several."""
    both = zip(found, reasons, strict=True)
    return [f"{Path(each.file).name}: {reason}" if each.file else reason for each, reason in both]


def _place(record: Original, opened: OpenSource) -> str:
    """`orders.csv, line 63`; `table, row 4` for a table in memory."""
    name = Path(record.file or opened.name).name
    word = "line" if opened.json or opened.dialect else "row"
    return f"{name}, {word} {record.line}" if record.line else name


def _file_name(given: str) -> str:
    """A file name that resembles a given name and differs from all others."""
    plain = re.sub(r"[^\w.-]+", "_", given.rpartition("/")[2], flags=re.ASCII)[-_LONGEST_NAME:].lstrip("._")
    return plain if plain == given else f"{plain}-{hashlib.sha256(given.encode()).hexdigest()[:8]}"


def _from_codes(part: StagedSource, wrong: WrongRows, admitted: Admitted) -> tuple[list[str], list[Original]]:
    """Columns and rows that Spark put in an order: with their values, and with the operations that a column had."""
    columns, rows = list(admitted.table.schema.names), as_texts(admitted.table.decode(wrong.codes))
    if part.plan is not None and part.plan.operation_place >= 0:
        columns.append(part.opened.columns[part.plan.operation_place][0])
        rows = [[*row, NAMES[kind]] for row, kind in zip(rows, wrong.operations.tolist(), strict=True)]
    return columns, [Original(None, row) for row in rows]


# ---- files ----------------------------------------------------------------------------------------------------------


def _csv_lines(
    columns: Sequence[str], found: Sequence[Original], reasons: Sequence[str], dialect: Dialect | None
) -> Iterator[str]:
    """CSV, in the dialect of the source if it has one."""
    separator, quote = (dialect.separator, dialect.quote or '"') if dialect else (",", '"')
    places = [place for place, name in enumerate(columns) if name not in NOTED]
    texts = any(each.fields is None for each in found)
    yield _csv_line([*(columns[place] for place in places), *NOTED, *([UNSPLIT] * texts)], separator, quote)
    for each, reason in zip(found, reasons, strict=True):
        fields = [""] * len(places) if each.fields is None else [each.fields[place] or "" for place in places]
        line = "" if each.line is None else str(each.line)
        yield _csv_line([*fields, line, reason, *([each.text] * texts)], separator, quote)


def _csv_line(fields: Sequence[str], separator: str, quote: str) -> str:
    special = (separator, quote, "\r", "\n", "\ufeff")
    quoted = [
        quote + field.replace(quote, quote * 2) + quote if any(mark in field for mark in special) else field
        for field in fields
    ]
    return separator.join(quoted) + "\n"


def _json_lines(found: Sequence[Original], reasons: Sequence[str]) -> Iterator[str]:
    """The lines as they were, with two keys added; what is no object becomes a text."""
    for each, reason in zip(found, reasons, strict=True):
        noted, known = dict(zip(NOTED, (each.line, reason), strict=True)), _keys(each.text)
        if known is None:
            yield json.dumps({**noted, UNSPLIT: each.text}, ensure_ascii=False) + "\n"
        elif known & set(NOTED):
            yield json.dumps({**json.loads(each.text), **noted}, ensure_ascii=False) + "\n"
        else:
            added = json.dumps(noted, ensure_ascii=False)[1:]
            yield each.text[:-1].rstrip() + (", " if known else "") + added + "\n"


def _keys(text: str) -> set[str] | None:
    try:
        return set(row_of(text) or ())
    except BadLine:
        return None


# ---- whole files -----------------------------------------------------------------------------------------------------


def move_aside(path: str, folder: Path, reason: str) -> Path | None:
    """Move a file into a folder, with the reason in `NAME.reason`; gives its new path. For a file elsewhere (`s3://…`),
    which stays where it is, and for one that is gone, only the reason is written.
    """
    lines = [f"{path}\n", f"{reason}\n"]
    with clear_sentences(folder):
        folder.mkdir(parents=True, exist_ok=True)
        source = None if "://" in path else Path(path)
        if source is None or not source.exists():
            write_durably(folder / f"{path.rpartition('/')[2]}.reason", lines)
            return None
        target = _target(source, folder)
        write_durably(_reason(target), lines)
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
