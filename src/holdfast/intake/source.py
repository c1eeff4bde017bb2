"""Open sources: what columns they have, and how their rows are read.

Local files are read in this process as long as they fit in memory, so that a small batch needs no JVM; Spark reads
everything else (see `readers.py`). Both read the same rows (tests/intake).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from holdfast.changes.operations import FEED_COLUMNS, OPERATION_COLUMNS
from holdfast.errors import BadInput
from holdfast.intake.databases import open_database, open_jdbc
from holdfast.intake.in_memory import arrow_table, is_spark_frame
from holdfast.intake.opened import NOTED, from_arrow, from_frame
from holdfast.intake.opened import OpenSource as OpenSource  # for those who open sources
from holdfast.intake.opened import ReadOptions as ReadOptions
from holdfast.intake.paths import (
    STANDARD_INPUT,
    base_of,
    files_of,
    is_pattern,
    is_store,
    is_web,
    kind_of,
    refuse_lake_elsewhere,
    refuse_lake_here,
    refuse_other_format,
)
from holdfast.intake.readers import Reader, choose_reader, fits, partitioned, refuse_other_reader, text_bytes
from holdfast.sources import jsonlines, local, pieces
from holdfast.sources.bad_records import sift_json
from holdfast.sources.databases.address import is_database
from holdfast.sources.ddl import parse_plain_ddl
from holdfast.sources.dialect import Dialect
from holdfast.sources.file_errors import refuse_long_lines
from holdfast.sources.secrets import redacted
from holdfast.spark.session import is_here, session

if TYPE_CHECKING:
    from holdfast.spark import SparkSession

# Up to this many bytes of text are cast at once, so that a sentence about a value can name its record.
_AT_ONCE = 8 << 20
_FEW_ROWS = 200_000


def open_source(
    source: Any,
    options: ReadOptions,
    spark: SparkSession | None,
    expected: pa.Schema | None = None,
    tolerant: bool = False,
) -> OpenSource:
    """Open a path, an address, or a table of pandas, Polars, Arrow or Spark; an open source stays as it is.

    `expected` has the types of known columns, for text that is read here and cast at once. If tolerant, local text is
    not cast yet, and may have records that are no rows.
    """
    if isinstance(source, OpenSource):
        return source
    if isinstance(source, str | Path):
        try:
            if _is_copied(str(source), options, spark):
                return _open_copy(str(source), options, spark, expected, tolerant)
            return _open_path(str(source), options, spark, expected, tolerant)
        except BadInput as error:  # an address that is mistyped holds its password, too
            raise BadInput(redacted(str(error))) from None
    if is_spark_frame(source):
        return from_frame(source, "DataFrame")
    return from_arrow(arrow_table(source))


# ---- copies ---------------------------------------------------------------------------------------------------------


def _is_copied(path: str, options: ReadOptions, spark: SparkSession | None) -> bool:
    """Whether a source is copied here to be read; with a session of the user's, Spark reads object stores in place."""
    in_place = spark is not None or options.reader == "spark"
    return path == STANDARD_INPUT or is_web(path) or (is_store(path) and not in_place)


def _open_copy(
    path: str, options: ReadOptions, spark: SparkSession | None, expected: pa.Schema | None, tolerant: bool
) -> OpenSource:
    from holdfast.intake.copies import copied  # what most sources need not load

    copy = copied(path)
    if spark is not None and options.reader is None and not is_here(spark):  # whose tasks don't see the copy
        options = replace(options, reader="local")
    try:
        opened = _open_path(copy.path, options, spark, expected, tolerant)
    except BadInput as error:
        raise BadInput(copy.named(str(error))) from None
    return replace(opened, name=copy.named(opened.name), copy=copy)


# ---- paths ----------------------------------------------------------------------------------------------------------


def _open_path(
    path: str, options: ReadOptions, spark: SparkSession | None, expected: pa.Schema | None, tolerant: bool
) -> OpenSource:
    if path.startswith("jdbc:"):
        return open_jdbc(path, options, spark)
    if is_database(path):
        return open_database(path, options, expected)
    if options.query is not None:
        raise BadInput(f"{path}: --query is for databases, and this is a file; leave it out")
    if is_pattern(path):
        refuse_lake_here(base_of(path), inside=False)
    refuse_lake_here(path)
    kind, files = kind_of(path, options.format), files_of(path)
    if kind == "csv" and files is None:
        raise BadInput(f"{path}: CSV is read from local paths; copy the file here, or use Parquet")
    for file in files or () if kind in ("csv", "json") else ():
        refuse_other_format(file)
    if files is not None and sum(Path(file).stat().st_size for file in files) == 0:
        return _without_columns(path, kind, options)
    reader = choose_reader(path, kind, files, options.reader, spark, declared=bool(options.schema))
    return _Path(path, files or [], options, reader, spark, expected, tolerant).opened(kind)


def _without_columns(path: str, kind: str, options: ReadOptions) -> OpenSource:
    """An empty source: no rows where the format names no columns, and otherwise a failed export."""
    if kind == "json" or (kind == "csv" and options.csv.header is False):
        return OpenSource(path, (), table=pa.table({}), json=kind == "json")
    raise BadInput(
        f"{path}: it is empty and doesn't even name its columns, as if an export had failed; export it again"
        + (" (a table without rows is a header alone)" if kind == "csv" else "")
    )


@dataclass(frozen=True)
class _Path:
    """A path to open: its files (none where it is not local), and how they are read."""

    path: str
    files: list[str]
    options: ReadOptions
    reader: Reader
    spark: SparkSession | None
    expected: pa.Schema | None
    tolerant: bool

    def opened(self, kind: str) -> OpenSource:
        """What it holds, in a format."""
        if kind == "csv":
            return self._csv()
        if kind == "json":
            return self._sifted_json() if self.tolerant and self.files else self._json()
        if self.reader == "spark":
            return self._with_spark(kind)
        if kind == "parquet":
            return self._parquet()
        if opened := self._whole(kind):
            return opened
        why = f"{self.path}: it has times before 1677 or after 2262, which Spark alone can read"
        refuse_other_reader(self.options.reader, "spark", why)
        return self._with_spark(kind)

    # ---- files that keep types ---------------------------------------------------------------------------------------

    def _parquet(self) -> OpenSource:
        """Few rows as a table, many in pieces."""
        schemas = [pieces.parquet_schema(file) for file in self.files]
        _check_same_columns(schemas, self.files)
        split = [pieces.split_parquet(file) for file in self.files]
        parts = [piece for some, _ in split for piece in some]
        if sum(rows for _, rows in split) <= _FEW_ROWS:
            tables = [piece.read() for piece in parts]
            return from_arrow(_end_to_end(tables) if tables else schemas[0].empty_table(), self.path)
        columns = tuple(zip(schemas[0].names, schemas[0].types, strict=True))
        return OpenSource(self.path, columns, pieces=tuple(parts), files=tuple(self.files))

    def _whole(self, kind: str) -> OpenSource | None:
        """ORC or Arrow; None where Arrow can't hold what the files hold, and Spark can."""
        read = local.read_orc if kind == "orc" else local.read_arrow
        tables = [table for file in self.files if (table := read(file)) is not None]
        if len(tables) < len(self.files):
            return None
        _check_same_columns([table.schema for table in tables], self.files)
        return from_arrow(_end_to_end(tables), self.path)

    # ---- CSV ---------------------------------------------------------------------------------------------------------

    def _csv(self) -> OpenSource:
        options, expected = self.options, self.expected
        full = [file for file in self.files if Path(file).stat().st_size]
        columns = (*(expected.names if expected is not None else ()), *OPERATION_COLUMNS, *FEED_COLUMNS, *NOTED)
        dialect, notes = local.sniff_file(full[0], options.csv, options.before, columns, self.tolerant)
        for other in full[1:]:
            self._check_same_header(full[0], dialect, other)
        if not dialect.names:
            return _without_columns(self.path, "csv", options)
        plain = not options.schema and not self.tolerant and not options.raw
        if plain and self.reader == "local" and len(full) == 1 and text_bytes(full) <= _AT_ONCE:
            return self._small_csv(full[0], dialect, notes)
        return self._csv_in_pieces(full, dialect, notes)

    def _check_same_header(self, first: str, dialect: Dialect, other: str) -> None:
        known = replace(self.options.csv, separator=dialect.separator, quote=dialect.quote, header=dialect.header)
        found, _ = local.sniff_file(other, known, tolerant=self.tolerant)
        if found.names and found.names != dialect.names:
            raise _of_other_columns(other, first)

    def _small_csv(self, file: str, dialect: Dialect, notes: list[str]) -> OpenSource:
        refuse_long_lines(file)
        text, options, expected = local.read_csv(file, dialect), self.options.csv, self.expected
        if expected is None:
            schema, nulls, type_notes = local.infer_schema(text, options)
            notes = [*notes, *type_notes]
        else:
            known = dict(zip(expected.names, expected.types, strict=True))
            schema = pa.schema([(name, known.get(name, pa.string())) for name in dialect.names])
            nulls = ("",) if options.nulls is None else options.nulls
        typed = local.typed_dictionaries(text, nulls, schema, file)
        columns = tuple(zip(schema.names, schema.types, strict=True))
        return OpenSource(file, columns, typed, nulls=nulls, notes=tuple(notes), files=(file,), dialect=dialect)

    def _csv_in_pieces(self, files: list[str], dialect: Dialect, notes: list[str]) -> OpenSource:
        options = self.options
        names = dialect.names
        columns = self._declared(names) if options.schema else tuple((name, pa.string()) for name in names)
        # Tasks may run in another folder. No session is started for a file that is refused.
        whole = [str(Path(file).absolute()) for file in files] if self.reader == "spark" else files
        parts = tuple(piece for file in whole for piece in pieces.split_csv(file, dialect, self.tolerant))
        return OpenSource(
            self.path,
            columns,
            pieces=parts,
            spark=self._session() if self.reader == "spark" else None,
            text=True,
            infer=not options.schema and options.csv.types == "infer",
            nulls=options.csv.nulls,
            files=tuple(whole),
            dialect=dialect,
            notes=tuple(notes),
        )

    def _declared(self, names: Sequence[str]) -> tuple[tuple[str, pa.DataType], ...]:
        """The columns as a schema declares them; it must name exactly these."""
        declared = self._parse_ddl()
        if [name for name, _ in declared] != list(names):
            others = f"the columns are {', '.join(names)}, and --schema names others; declare just these"
            raise BadInput(f"{self.path}: {others}")
        return tuple(declared)

    def _parse_ddl(self) -> list[tuple[str, pa.DataType]]:
        ddl = self.options.schema or ""
        if plain := parse_plain_ddl(ddl):
            return plain
        why = f"--schema {ddl!r}: only Spark understands it"
        refuse_other_reader(self.options.reader, "spark", why, ", or mend it")
        running = session(self.spark, f"--schema {ddl!r}", self.options.master)
        from holdfast.spark import frames

        with frames.clear_sentence(f"--schema {ddl!r}"):
            return frames.parse_ddl(running, ddl)

    # ---- JSON lines --------------------------------------------------------------------------------------------------

    def _json(self) -> OpenSource:
        path, files, options, expected = self.path, self.files, self.options, self.expected
        for file in files:
            refuse_long_lines(file)
        declared = dict(self._parse_ddl()) if options.schema else {}
        if self.reader == "spark":
            return self._json_with_spark(declared)
        text = jsonlines.read(files)
        if options.raw:
            return replace(from_arrow(text, path), text=True, files=tuple(files), json=True)
        types, notes = jsonlines.types_in(text, options.csv.types == "text")
        if expected is not None:
            types |= {name: own for name, own in zip(expected.names, expected.types, strict=True) if name in types}
        if declared:
            text, types, notes = jsonlines.chosen(text, list(declared)), declared, []
        typed = from_arrow(jsonlines.typed(text, types, path), path)
        return replace(typed, files=tuple(files), json=True, notes=tuple(notes))

    def _sifted_json(self) -> OpenSource:
        """The lines that are rows, as marked text that is not cast yet; always read here."""
        path, files = self.path, self.files
        if not fits("json", files):
            raise BadInput(f"{path}: it has bad rows, and is too large to find them here; split it into smaller files")
        for file in files:
            refuse_long_lines(file)
        sifted = sift_json(files)
        table = sifted.table
        if not table.num_columns and sifted.records > len(sifted.bad.records):
            raise jsonlines.keyless(path)
        if self.options.schema:
            table = jsonlines.chosen(table, [name for name, _ in self._parse_ddl()])
        columns = tuple((name, pa.string()) for name in table.column_names)
        return OpenSource(path, columns, table, text=True, files=tuple(files), json=True, sifted=sifted)

    def _json_with_spark(self, declared: dict[str, pa.DataType]) -> OpenSource:
        path, files, running = self.path, self.files, self._session()
        from holdfast.spark import frames

        with frames.clear_sentence(path):
            lines = frames.json_lines(running, files or [path])
            looks = {} if declared else frames.json_looks(lines)
        if looks is None:
            raise BadInput(jsonlines.complaint(files) or f"{path}: not every line is a JSON object")
        types, notes = jsonlines.types_of(looks, self.options.csv.types == "text")
        types |= declared
        frame = frames.json_rows(lines, list(types))
        if not types and not frame.isEmpty():
            raise jsonlines.keyless(path)
        return OpenSource(
            path,
            tuple(types.items()),
            frame=frame,
            text=True,
            json=True,
            files=tuple(files),
            notes=tuple(notes),
        )

    # ---- Spark -------------------------------------------------------------------------------------------------------

    def _session(self) -> SparkSession:
        """The session that reads the path, which must be no table of a lake."""
        running = session(self.spark, f"Reading {self.path}", self.options.master)
        if not self.files:
            refuse_lake_elsewhere(running, self.path)
        return running

    def _with_spark(self, kind: str) -> OpenSource:
        path, files, running = self.path, tuple(self.files), self._session()
        from holdfast.spark import frames

        with frames.clear_sentence(path):
            nested = len(files) > 1 and not partitioned(path, files)
            base = base_of(path) if is_pattern(path) else None
            frame = frames.read_other(running, kind, files if base else path, self.options.schema, nested, base)
        return from_frame(frame, path, files=files)


def _end_to_end(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables of the same names and types as one, whether they promise to hold no nulls or not."""
    return pa.concat_tables([pa.Table.from_arrays(table.columns, names=table.column_names) for table in tables])


def _of_other_columns(file: str, first: str) -> BadInput:
    hint = "name the file of each table, or put files of one table in one folder"
    return BadInput(f"{file}: its columns differ from those of {first}; {hint}")


def _check_same_columns(schemas: Sequence[pa.Schema], files: Sequence[str]) -> None:
    shapes = [(schema.names, schema.types) for schema in schemas]  # whether a file may hold nulls doesn't matter
    for shape, file in zip(shapes, files, strict=True):
        if shape != shapes[0]:
            raise _of_other_columns(file, files[0])
