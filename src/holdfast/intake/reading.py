"""Opening a source: what columns it has, and how its rows can be had.

Small local files are read right here, so that a small batch costs no JVM; everything else is Spark's. Which of the
two read a file makes no difference to what is read (tests/intake).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from holdfast.errors import BadInput
from holdfast.sources import jsonlines, local
from holdfast.sources.dialect import CsvOptions, Dialect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SMALL_FILE = 32 << 20
_KINDS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".parquet": "parquet", ".pq": "parquet", ".orc": "orc",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".arrows": "arrow",
}  # fmt: skip


@dataclass(frozen=True)
class ReadOptions:
    """How to read a source. `schema` is a Spark DDL string; `format` overrides what the file's name says."""

    csv: CsvOptions = field(default_factory=CsvOptions)
    schema: str | None = None
    format: str | None = None
    jdbc_table: str | None = None
    jdbc_properties: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """An open source. Rows come from `table` (in memory) or from `frame` (Spark, columns c0, c1, …).

    `text` says that every column comes as text to be cast, with `nulls` (None: to be found out) standing for null;
    `infer` that its types are to be found out, too, and are not those in `columns`; `marked` that each text begins with
    a mark of JSON (see `jsonlines`). `scanned` says that Spark takes the files in an order of its own.
    """

    name: str
    columns: tuple[tuple[str, pa.DataType], ...]
    table: pa.Table | None = None
    frame: DataFrame | None = None
    text: bool = False
    infer: bool = False
    marked: bool = False
    scanned: bool = False
    nulls: tuple[str, ...] | None = None
    has_corrupt_column: bool = False
    files: tuple[str, ...] = ()
    dialect: Dialect | None = None
    said: tuple[str, ...] = ()


def open_source(
    source: Any, options: ReadOptions, spark: SparkSession | None, expected: pa.Schema | None = None
) -> Reading:
    """Open a path, a JDBC address, or a table of pandas, Polars, Arrow or Spark.

    `expected` gives the types of known columns, for text that is read here and cast at once.
    """
    if isinstance(source, str | Path):
        return _open_path(str(source), options, spark, expected)
    if isinstance(source, pa.Table | pa.RecordBatch):
        return _from_arrow(pa.table(source) if isinstance(source, pa.RecordBatch) else source)
    module = type(source).__module__.split(".")[0]
    if module == "pyspark":
        return _from_frame(source, "DataFrame")
    if module == "pandas":
        return _from_arrow(_arrow_of_pandas(source))
    if hasattr(source, "__arrow_c_stream__"):  # Polars, DuckDB and others speak Arrow
        return _from_arrow(pa.table(source))
    raise BadInput(f"can't read {type(source).__name__}; give a path, or a pandas, Polars, Arrow or Spark table")


def _arrow_of_pandas(frame: Any) -> pa.Table:
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, AttributeError) as error:
        raise BadInput(
            f"can't read the pandas {type(frame).__name__}: {error}; give a DataFrame of plain columns"
        ) from None


def _from_arrow(table: pa.Table, name: str = "table") -> Reading:
    return Reading(name, tuple(zip(table.schema.names, table.schema.types, strict=True)), table=table)


def _from_frame(frame: DataFrame, name: str, **more: Any) -> Reading:
    from holdfast.spark import frames

    return Reading(name, tuple(frames.columns_of(frame)), frame=frames.positional(frame), **more)


# ---- paths ----------------------------------------------------------------------------------------------------------


def _open_path(path: str, options: ReadOptions, spark: SparkSession | None, expected: pa.Schema | None) -> Reading:
    if path.startswith("jdbc:"):
        return _open_jdbc(path, options, spark)
    kind, files = _kind(path, options), _files(path)
    if files is not None and sum(Path(file).stat().st_size for file in files) == 0:
        return Reading(path, (), table=pa.table({}))
    if kind == "arrow":
        return replace(_from_arrow(pa.concat_tables([local.read_arrow(file) for file in files or [path]])), name=path)
    if kind == "csv":
        return _open_csv(path, files, options, spark, expected)
    small = files is not None and len(files) == 1 and _size(files) <= SMALL_FILE
    if kind == "json":
        in_process = small and not options.schema
        return _read_small_json(path, options, expected) if in_process else _json_with_spark(path, options, spark)
    if kind == "parquet" and small and files is not None and not options.schema:
        return _from_arrow(local.read_parquet(files[0]), path)
    return _open_with_spark(path, kind, options, spark)


def _kind(path: str, options: ReadOptions) -> str:
    names = [path, *(_files(path) or [])] if "://" not in path else [path]
    kinds = {_KINDS[suffix] for name in names for suffix in _suffixes(name) if suffix in _KINDS}
    if options.format:
        if options.format not in _KINDS.values():
            raise BadInput(f"unknown format {options.format!r}; use csv, json, parquet, orc or arrow")
        return options.format
    if len(kinds) != 1:
        raise BadInput(
            f"{path}: can't tell the format from the name; say it with --input-format csv, json, parquet or orc"
        )
    return kinds.pop()


def _suffixes(name: str) -> list[str]:
    """The ending of a name, and the one before it where the file is compressed."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes[-2:]]
    compressed = len(suffixes) == 2 and suffixes[1] in (".gz", ".bz2", ".zst")
    return suffixes[:1] if compressed else suffixes[-1:]


def _files(path: str) -> list[str] | None:
    """The local files of a path: one, or those of a folder; None where the path is not local."""
    if "://" in path and not path.startswith("file://"):
        return None
    here = Path(path.removeprefix("file://"))
    if here.is_dir():
        files = sorted(str(f) for f in here.rglob("*") if f.is_file() and not f.name.startswith(("_", ".")))
        if not files:
            raise BadInput(f"{path}: the folder holds no files")
        return files
    if not here.exists():
        raise BadInput(f"{path}: there is no such file; check the path")
    return [str(here)]


def _size(files: Sequence[str]) -> int:
    return sum(Path(file).stat().st_size for file in files)


def _open_csv(
    path: str, files: list[str] | None, options: ReadOptions, spark: SparkSession | None, expected: pa.Schema | None
) -> Reading:
    if files is None:
        raise BadInput(f"{path}: CSV is read from local paths; copy the file here, or use Parquet")
    full = [file for file in files if Path(file).stat().st_size]
    dialect, said = local.sniff_file(full[0], options.csv)
    for other in full[1:]:
        _check_same_header(full[0], dialect, other, options.csv)
    if not dialect.names:
        return Reading(path, (), table=pa.table({}))
    if len(full) == 1 and _size(full) <= SMALL_FILE and not options.schema:
        return _read_small_csv(full[0], dialect, options, expected, said)
    return _csv_with_spark(path, full, dialect, options, spark, said)


def _check_same_header(first: str, dialect: Dialect, other: str, options: CsvOptions) -> None:
    known = replace(options, separator=dialect.separator, quote=dialect.quote, header=dialect.header)
    found, _ = local.sniff_file(other, known)
    if found.names and found.names != dialect.names:
        raise BadInput(f"{other}: its columns differ from those of {first}; put files of one table in one folder")


def _read_small_csv(
    file: str, dialect: Dialect, options: ReadOptions, expected: pa.Schema | None, said: list[str]
) -> Reading:
    text = local.read_csv(file, dialect)
    if expected is None:
        schema, nulls, told = local.infer_schema(text, options.csv)
        said = [*said, *told]
        if options.csv.nulls is None and len(nulls) > 1:
            said = [*said, "null markers: " + ", ".join(repr(marker) for marker in nulls)]
    else:
        known = dict(zip(expected.names, expected.types, strict=True))
        schema = pa.schema([(name, known.get(name, pa.string())) for name in dialect.names])
        nulls = ("",) if options.csv.nulls is None else options.csv.nulls
    typed, _ = local.typed_table(text, replace(options.csv, nulls=nulls), schema, file)
    return replace(_from_arrow(typed, file), nulls=nulls, said=tuple(said), files=(file,), dialect=dialect)


def _csv_with_spark(
    path: str, files: list[str], dialect: Dialect, options: ReadOptions, spark: SparkSession | None, said: list[str]
) -> Reading:
    from holdfast.spark import frames
    from holdfast.spark.session import session

    running = session(spark)
    columns = tuple((name, pa.string()) for name in dialect.names)
    if options.schema:
        with frames.clear_sentence(f"--schema {options.schema!r}"):
            declared = frames.parse_ddl(options.schema)
        columns = _declared(declared, dialect.names, path)
    scanned = frames.reads_by_line(running, files, dialect)
    return Reading(
        path,
        columns,
        frame=(frames.scan_csv if scanned else frames.read_whole_csv)(running, files, dialect),
        text=True,
        scanned=scanned,
        infer=not options.schema and options.csv.types == "infer",
        nulls=options.csv.nulls,
        has_corrupt_column=True,
        files=tuple(files),
        dialect=dialect,
        said=tuple(said),
    )


def _declared(
    declared: list[tuple[str, pa.DataType]], names: Sequence[str], path: str
) -> tuple[tuple[str, pa.DataType], ...]:
    if [name for name, _ in declared] != list(names):
        raise BadInput(f"{path}: the columns are {', '.join(names)}, and --schema names others; declare just these")
    return tuple(declared)


def _open_with_spark(path: str, kind: str, options: ReadOptions, spark: SparkSession | None) -> Reading:
    from holdfast.spark import frames
    from holdfast.spark.session import session

    running = session(spark)
    with frames.clear_sentence(path):
        frame = frames.read_other(running, kind, path, options.schema)
    return _from_frame(frame, path, files=tuple(_files(path) or ()), scanned=True)


def _read_small_json(path: str, options: ReadOptions, expected: pa.Schema | None) -> Reading:
    text = jsonlines.read(path.removeprefix("file://"))
    looks = {name: jsonlines.seen(text[name].unique()) for name in text.column_names}
    types, said = jsonlines.types_of(looks, options.csv.types == "text")
    if expected is not None:
        types |= {name: kept for name, kept in zip(expected.names, expected.types, strict=True) if name in types}
    return replace(_from_arrow(jsonlines.typed(text, types, path), path), said=tuple(said))


def _json_with_spark(path: str, options: ReadOptions, spark: SparkSession | None) -> Reading:
    from holdfast.spark import frames, jsonframes
    from holdfast.spark.session import session

    files = tuple(_files(path) or ())
    with frames.clear_sentence(path):
        lines = jsonframes.lines(session(spark), list(files or (path,)))
        looks = {} if options.schema else jsonframes.looks(lines)
        if looks is None:
            raise BadInput(jsonlines.complaint(files) or f"{path}: not every line is a JSON object")
        types, said = jsonlines.types_of(looks, options.csv.types == "text")
        types |= dict(frames.parse_ddl(options.schema)) if options.schema else {}
    return Reading(
        path,
        tuple(types.items()),
        frame=jsonframes.rows(lines, list(types)),
        text=True,
        marked=True,
        scanned=True,
        has_corrupt_column=True,
        files=files,
        said=tuple(said),
    )


def _open_jdbc(url: str, options: ReadOptions, spark: SparkSession | None) -> Reading:
    from holdfast.spark import frames
    from holdfast.spark.session import session

    if not options.jdbc_table:
        raise BadInput(f"{url}: say which table to read, with --jdbc-table")
    running = session(spark)
    with frames.clear_sentence(url):
        frame = frames.read_jdbc(running, url, options.jdbc_table, options.jdbc_properties)
    return _from_frame(frame, f"{url} {options.jdbc_table}")
