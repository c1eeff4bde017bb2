"""New tables from sources, and batches of rows for tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.changes.operations import DELETE, INSERT, UPSERT
from holdfast.errors import BadInput, refuse_not_utf8
from holdfast.intake.bad_rows import stage_good_rows, without_bad_rows
from holdfast.intake.in_memory import lasting
from holdfast.intake.paths import file_name
from holdfast.intake.quarantine import Quarantine, StagedSource
from holdfast.intake.readers import READERS, Reader, runner_for
from holdfast.intake.source import OpenSource, ReadOptions, open_source
from holdfast.intake.staged_rows import Plan, StagedRows, plan_batch, plan_init, stage_rows
from holdfast.progress import Progress
from holdfast.sources.bad_records import NOTHING
from holdfast.sources.caster import TextCaster
from holdfast.sources.dialect import CsvOptions
from holdfast.sources.inference import decide, type_notes
from holdfast.sources.secrets import redacted
from holdfast.table import admit
from holdfast.table.admit import Admitted, Incoming
from holdfast.table.bulk import write_staged
from holdfast.table.nulls import GivenNulls, Nulls
from holdfast.table.resolve import Mode, OnMissing, needs_key
from holdfast.table.runner import Runner
from holdfast.table.table import Schema, Table
from holdfast.table.types import Column


@dataclass(frozen=True)
class BuiltTable:
    """A new table, the columns left out, the options for later files of it, who read it, and who runs its tasks."""

    admitted: Admitted
    left_out: tuple[str, ...]
    options: CsvOptions
    runner: Runner
    reader: Reader


def by_table(
    given: str | Sequence[str] | Mapping[str, str | Sequence[str]], tables: Iterable[str], what: str
) -> dict[str, list[str]]:
    """Column names for the one table, or for each table by its name."""
    named = given if isinstance(given, Mapping) else dict.fromkeys(tables, given)
    if unknown := set(named) - set(tables):
        raise BadInput(f"{what} declared for {sorted(unknown)[0]!r}, which is no table here")
    return {table: [names] if isinstance(names, str) else list(names) for table, names in named.items()}


def build_table(
    name: str,
    source: Any,
    options: ReadOptions,
    key: Sequence[str],
    nulls: GivenNulls,
    folder: str,
    spark: Any,
    progress: Progress,
    wanted: Sequence[str] = (),
) -> BuiltTable:
    """Read a source whole and encode it; all of its columns, or those that are named."""
    if not name.strip():
        where = f"{redacted(str(source))}: " if isinstance(source, str | Path) else ""
        raise BadInput(f"{where}the table has no name; give it one: name=path")
    refuse_not_utf8(name)
    progress.step(f"Opening {name}")
    opened = _opened(name, open_source(source, options, spark), progress)
    runner = runner_for(opened.session)
    plan, left_out = plan_init(opened, name, wanted)
    rows = stage_rows(opened, plan, folder, admit.SMALL)
    try:
        columns, casters, markers = _types(opened, plan, rows, progress)
        schema = Schema(name, columns, _key_columns(columns, key, name), Nulls.given(nulls))
        incoming = Incoming("changes", rows.chunks, rows.paths, rows.rows, casters)
        try:
            admitted = admit.admit(Table.empty(schema), incoming, folder, runner, progress.step)
        except BadInput as error:
            raise BadInput(f"{opened.name}: {error}") from None
    finally:
        rows.remove()
    written = replace(options.csv, nulls=markers)
    if opened.dialect is not None:  # later files need not guess it again
        written = replace(written, separator=opened.dialect.separator, quote=opened.dialect.quote)
    return BuiltTable(admitted, left_out, written, runner, opened.reader)


def _opened(name: str, opened: OpenSource, progress: Progress) -> OpenSource:
    """Say how a source is read."""
    for sentence in opened.notes:
        progress.note(f"{opened.name}: {sentence}")
    progress.step(f"Reading {name} {READERS[opened.reader]}")
    return opened


def _types(
    opened: OpenSource, plan: Plan, rows: StagedRows, progress: Progress
) -> tuple[tuple[Column, ...], tuple[TextCaster, ...] | None, tuple[str, ...] | None]:
    """The columns with their types, how to cast them if that is still to do, and the null markers."""
    if not opened.infer:
        return plan.columns, None, opened.nulls
    types, markers = decide(rows.traits, opened.nulls)
    for sentence in type_notes([column.name for column in plan.columns], rows.traits, opened.nulls, markers):
        progress.note(f"{opened.name}: {sentence}")
    columns = tuple(replace(column, type=found) for column, found in zip(plan.columns, types, strict=True))
    casters = tuple(TextCaster(opened.name, c.name, c.type, markers) for c in columns)
    return columns, casters, markers


def _key_columns(columns: Sequence[Column], key: Sequence[str], table: str) -> tuple[int, ...]:
    names = [column.name for column in columns]
    for name in key:
        if name not in names:
            raise BadInput(f"table {table} has no column {name!r} for its key; its columns are {', '.join(names)}")
        if list(key).count(name) > 1:
            raise BadInput(f"table {table}: the key names the column {name!r} twice; leave one out")
    return tuple(names.index(name) for name in key)


@dataclass(frozen=True)
class Sources:
    """What a batch is made of: files or tables of inserts, of deletes, of operations, one new snapshot, or upserts."""

    inserts: Any = None
    deletes: Any = None
    changes: Any = None
    snapshot: Any = None
    upserts: Any = None

    def given(self) -> dict[str, Any]:
        """The sources that there are, by their names."""
        return {each.name: source for each in fields(self) if (source := getattr(self, each.name)) is not None}

    @property
    def of_rows(self) -> Any:
        """The source with whole rows, if there is one."""
        return next((source for name, source in self.given().items() if name != "deletes"), None)

    @property
    def file(self) -> str:
        """The files that it is read from, by their names; empty where it lies in memory."""
        paths = (file_name(str(each)) for each in self.given().values() if isinstance(each, str | Path))
        return ", ".join(dict.fromkeys(paths))

    def lasting(self) -> Sources:
        """The same, which can be read more than once."""
        return Sources(**{name: lasting(source) for name, source in self.given().items()})

    @property
    def kind(self) -> str:
        """What the batch is made of, in a word."""
        given = [name for name in ("inserts", "upserts", "deletes", "changes", "snapshot") if name in self.given()]
        if not given:
            raise BadInput("nothing to apply: give inserts, upserts, deletes, changes or a snapshot")
        if len(given) > 1 and given not in (["inserts", "deletes"], ["upserts", "deletes"]):
            raise BadInput(f"{' and '.join(given)} can't be one batch; inserts and deletes can, or upserts and deletes")
        return "+".join(given)

    @property
    def mode(self) -> Mode:
        """How its rows are resolved."""
        return "snapshot" if self.snapshot is not None else "upserts" if self.upserts is not None else "changes"

    @property
    def parts(self) -> list[tuple[str, int | None]]:
        """The names of the sources in the order in which they apply, each with the operation of all its rows, if they
        have one.
        """
        kinds = {"deletes": DELETE, "inserts": INSERT, "upserts": UPSERT, "changes": None, "snapshot": INSERT}
        return [(name, kind) for name, kind in kinds.items() if name in self.given()]


@dataclass(frozen=True)
class BatchReader:
    """Reads batches for a table. With a quarantine, rows that can't be read or applied go there: a source that has
    some is read again without them.
    """

    table: Table
    left_out: Sequence[str]
    options: ReadOptions
    operation_column: str | None
    on_missing: OnMissing
    folder: str
    spark: Any
    progress: Progress
    quarantine: Quarantine | None = None

    def admit(self, sources: Sources) -> Admitted:
        """Read a batch and resolve it against the table. Deletes come before inserts and upserts."""
        self._refuse_impossible(sources)
        table, folder = self.table, self.folder
        parts: list[StagedSource] = []
        staged: list[StagedRows] = []
        try:
            for name, constant in sources.parts:
                parts.append(self._part(name, getattr(sources, name), constant))
                staged.append(parts[-1].staged)
            before = sum(part.staged.rows for part in parts if part.name == "deletes")
            together = _together(sources.mode, staged, folder, self.on_missing)
            incoming = replace(together, tolerant=self.quarantine is not None, before=before)
            sessions = [part.opened.session for part in parts if part.plan and part.opened.session is not None]
            runner = runner_for(sessions[-1] if sessions else None)
            admitted = admit.admit(table, incoming, folder, runner, self.progress.step)
            if self.quarantine is not None:
                self.quarantine.put(table.schema.name, parts, admitted)
            return admitted
        finally:
            for rows in staged:
                rows.remove()

    def _refuse_impossible(self, sources: Sources) -> None:
        if sources.upserts is not None and not self.table.schema.key:
            raise needs_key(self.table)
        if sources.snapshot is not None and self.quarantine is not None:
            raise BadInput(
                "a snapshot can't leave out bad rows: they would count as deleted; mend them, and leave out "
                "--quarantine"
            )

    def _part(self, name: str, source: Any, constant: int | None) -> StagedSource:
        """The rows of a source, staged."""
        if self.quarantine is None:
            return self._staged(name, constant, self._open(source, False))
        staged, sifted = partial(self._staged, name, constant), partial(self._without_bad, name, constant)
        return without_bad_rows(source, self._open, staged, sifted)

    def _open(self, source: Any, tolerant: bool) -> OpenSource:
        if tolerant:
            self.progress.step(f"Setting bad rows of {self.table.schema.name} aside")
            return open_source(source, self.options, self.spark, tolerant=True)
        opened = open_source(source, self.options, self.spark, self.table.schema.arrow())
        return _opened(self.table.schema.name, opened, self.progress)

    def _staged(self, name: str, constant: int | None, opened: OpenSource) -> StagedSource:
        if not opened.columns:  # and so no rows
            if name == "snapshot" and not opened.json:
                raise BadInput(f"{opened.name}: a snapshot without any column would empty the table; give its columns")
            return StagedSource(name, opened)
        plan = self._plan(opened, constant)
        return StagedSource(name, opened, plan, stage_rows(opened, plan, self.folder, admit.SMALL))

    def _without_bad(self, name: str, constant: int | None, opened: OpenSource) -> StagedSource:
        if not opened.columns:  # no line is a row
            return StagedSource(name, opened, rejected=opened.sifted.bad if opened.sifted else NOTHING)
        plan = self._plan(opened, constant)
        return StagedSource(name, opened, plan, *stage_good_rows(opened, plan, self.folder, admit.SMALL))

    def _plan(self, opened: OpenSource, constant: int | None) -> Plan:
        nulls = self.options.csv.nulls
        return plan_batch(opened, self.table.schema, self.left_out, nulls, constant, self.operation_column)


def _together(mode: Mode, staged: list[StagedRows], folder: str, on_missing: OnMissing) -> Incoming:
    """All parts as one list of operations; in files as soon as one part is."""
    total = sum(rows.rows for rows in staged)
    if total <= admit.SMALL and not any(rows.paths for rows in staged):
        return Incoming(mode, [chunk for rows in staged for chunk in rows.chunks], (), total, None, on_missing)
    paths: list[str] = []
    for i, rows in enumerate(staged):
        spooled = [write_staged(folder, *chunk) for chunk in rows.chunks]
        staged[i] = StagedRows(rows.rows, (), (*spooled, *rows.paths))
        paths += staged[i].paths
    return Incoming(mode, (), paths, total, None, on_missing)
