"""How a source is read, as the user says it, and what an open source is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from holdfast.intake.readers import Reader
from holdfast.sources.bad_records import GoodAndBad
from holdfast.sources.ddl import refuse_wrong_ddl
from holdfast.sources.dialect import CsvOptions, Dialect
from holdfast.sources.pieces import Piece
from holdfast.visible import shown_fields

if TYPE_CHECKING:
    from holdfast.intake.copies import Copy
    from holdfast.spark import DataFrame, SparkSession

# Columns that a quarantine adds to bad rows (see `quarantine.py`); they are skipped when the rows come again.
NOTED = ("holdfast_line", "holdfast_reason")
UNSPLIT = "holdfast_text"  # has what doesn't split into columns, and is never skipped


@dataclass(frozen=True)
class ReadOptions:
    """How to read a source. `schema` is a Spark DDL string; `format` overrides what the file's name says; `reader` is
    "local" (in this process) or "spark", or None for what fits best; `query` is what to read from a database;
    `jdbc_split` names a column by which Spark reads in parts. `master` ("yarn", "sc://host") says where our own session
    runs. `before` says how the first file of the table was written: later files are read the same way, unless they or
    `csv` show something else. `raw` leaves text as it is.

    >>> import holdfast as hf
    >>> hf.ReadOptions(hf.CsvOptions(separator=";", nulls=("NA",)), format="csv")
    ReadOptions(csv=CsvOptions(separator=';', nulls=('NA',)), format='csv')
    """

    csv: CsvOptions = field(default_factory=CsvOptions)
    schema: str | None = None
    format: str | None = None
    jdbc_table: str | None = None
    jdbc_properties: dict[str, str] = field(default_factory=dict, repr=False)  # may hold a password
    reader: Reader | None = None
    query: str | None = None
    jdbc_split: str | None = None
    master: str | None = field(default=None, repr=False)
    before: CsvOptions | None = field(default=None, repr=False)
    raw: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a wrong schema."""
        if self.schema is not None:
            refuse_wrong_ddl(self.schema)

    def __repr__(self) -> str:
        return shown_fields(self, hidden=("jdbc_properties", "master", "before", "raw"))  # a password may be among them


@dataclass(frozen=True)
class OpenSource:
    """An open source. Rows come from `table` (in memory), from `pieces` of files (read here, or in tasks of `spark`),
    or from `frame` (Spark, columns c0, c1, …).

    `text` says that every column is text to be cast, with `nulls` as null markers (None: to be inferred); `infer` that
    the types are to be inferred and are not those in `columns`; `marked` that each text begins with a mark of JSON
    (see `jsonlines`); `json` that the files are JSON lines. `sifted` has the records that are no rows, where `table`
    has the others. Where a source has rows of several tables, `records` are the numbers of those in `table`, and
    `overlooked` names the columns of other tables. `copy` has the files, where they are a copy of something else.
    """

    name: str
    columns: tuple[tuple[str, pa.DataType], ...]
    table: pa.Table | None = None
    pieces: tuple[Piece, ...] = ()
    spark: SparkSession | None = None
    frame: DataFrame | None = None
    text: bool = False
    infer: bool = False
    nulls: tuple[str, ...] | None = None
    files: tuple[str, ...] = ()
    dialect: Dialect | None = None
    json: bool = False
    sifted: GoodAndBad | None = None
    notes: tuple[str, ...] = ()
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    records: pa.Array | None = None
    overlooked: frozenset[str] = frozenset()
    copy: Copy | None = field(default=None, repr=False)

    @property
    def reader(self) -> Reader:
        """Who reads it."""
        return "local" if self.session is None else "spark"

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return [name for name, _ in self.columns]

    @property
    def marked(self) -> bool:
        """Whether each text begins with a mark of JSON (see `jsonlines`)."""
        return self.text and self.json

    @property
    def has_corrupt_column(self) -> bool:
        """Whether the last column of the DataFrame has the lines that are no rows."""
        return self.json and self.frame is not None

    @property
    def session(self) -> SparkSession | None:
        """The Spark session whose tasks read it, if any do."""
        return self.frame.sparkSession if self.frame is not None else self.spark

    def as_frame(self) -> DataFrame:
        """What Spark reads, as a DataFrame."""
        if self.frame is not None:
            return self.frame
        from holdfast.spark.frames import frame_of_pieces

        assert self.spark is not None
        return frame_of_pieces(self.spark, self.pieces, len(self.columns))


def from_arrow(table: pa.Table, name: str = "table") -> OpenSource:
    """A table in memory."""
    return OpenSource(name, tuple(zip(table.schema.names, table.schema.types, strict=True)), table=table)


def from_frame(frame: DataFrame, name: str, **more: Any) -> OpenSource:
    """A DataFrame of Spark."""
    from holdfast.spark import frames

    return OpenSource(name, tuple(frames.columns_of(frame)), frame=frames.positional(frame), **more)
