"""Paths of sources: which files there are, and in which format, as far as names show it.

Folders of lake formats are refused, and never read as plain files. Their files also hold rows that were removed or
replaced since; only the format's own reader knows which rows count.
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import BadInput, clear_sentences, refuse_not_utf8
from holdfast.sources.databases.address import is_database, table_in
from holdfast.sources.file_errors import COMPRESSED
from holdfast.sources.secrets import redacted
from holdfast.store.layout import DATABASE
from holdfast.text.quotes import command

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

    from holdfast.spark import SparkSession

_KINDS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".parquet": "parquet", ".pq": "parquet", ".orc": "orc",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".arrows": "arrow",
}  # fmt: skip
_MARKS = {
    b"PAR1": ("a Parquet file", "read it with --input-format parquet"),
    b"ORC": ("an ORC file", "read it with --input-format orc"),
    b"ARROW1": ("an Arrow file", "read it with --input-format arrow"),
    b"\x1f\x8b": ("compressed by gzip", "let its name end with .gz"),
    b"\x28\xb5\x2f\xfd": ("compressed by Zstandard", "let its name end with .zst"),
    b"PK\x03\x04": ("a ZIP archive, as .xlsx files are", "save what it holds as CSV"),
}
STANDARD_INPUT = "-"
_WILD = re.compile(r"[*?\[]")
_HEAD = 4096  # bytes that distinguish text from other formats


def kind_of(path: str, wanted: str | None) -> str:
    """The format of a path: as wanted, or as its name says."""
    names = [path, *(files_of(path) or [])] if "://" not in path else [path]
    kinds = {_KINDS[suffix] for name in names for suffix in _suffixes(name) if suffix in _KINDS}
    if wanted:
        if wanted not in _KINDS.values():
            raise BadInput(f"unknown format {wanted!r}; use csv, json, parquet, orc or arrow")
        return wanted
    if len(kinds) != 1:
        raise BadInput(
            f"{path}: the name doesn't show the format; give it with --input-format csv, json, parquet or orc"
        )
    return kinds.pop()


def shows_format(name: str) -> bool:
    """Whether the name of a file shows its format."""
    return any(suffix in _KINDS for suffix in _suffixes(name))


def _suffixes(name: str) -> list[str]:
    """The ending of a name, and the one before it where the file is compressed."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes[-2:]]
    compressed = len(suffixes) == 2 and suffixes[1] in COMPRESSED
    return suffixes[:1] if compressed else suffixes[-1:]


def table_name(source: object, jdbc_table: str | None = None, query: str | None = None) -> str:
    """What the table of a source is called: as the file, or as the table of a database.

    >>> table_name("data/tax.csv.gz"), table_name({"zip": [10115]})
    ('tax', 'table')
    """
    if isinstance(source, str) and source.startswith("jdbc:"):
        return jdbc_table or "table"
    if isinstance(source, str) and is_database(source):
        return table_in(source) if query is None else file_name(source.partition(":")[2]).split(".")[0]
    if not isinstance(source, str | Path):  # first: frames compare with a text cell by cell
        return "table"
    return "stdin" if source == STANDARD_INPUT else _name_of_path(str(source))


def _name_of_path(path: str) -> str:
    """The name of a file without its endings; of a pattern, what stands before its first `*`, or its folder."""
    name = file_name(path).split(".")[0]
    if not _WILD.search(name):
        return name
    return _WILD.split(name)[0].rstrip("-_ ") or _name_of_path(path.rstrip("/").rpartition("/")[0] or "table")


def file_name(path: str) -> str:
    """The last part of a path or an address, without parameters and secrets.

    >>> file_name("in/monday.csv"), file_name("postgres://ann:word@host/shop/orders?sslmode=require")
    ('monday.csv', 'orders')
    """
    path = redacted(path.partition("?")[0] if "//" in path else path)
    return path.rstrip("/").rpartition("/")[2]


def files_of(path: str) -> list[str] | None:
    """The local files of a path: one, or those of a folder; None where the path is not local."""
    if "://" in path and not path.startswith("file://"):
        return None
    here = Path(path.removeprefix("file://"))
    with clear_sentences(path):  # a name that is too long, a folder that may not be read
        if is_pattern(path):
            return _matching(path)
        if here.is_dir():
            if (here / DATABASE).is_file():
                raise BadInput(
                    f"{path}: this is a state, not data; look at it with: {command('status', path)}; "
                    f"find rules in it with: {command('suggest', path)}"
                )
            files = sorted(str(f) for f in here.rglob("*") if f.is_file() and not f.name.startswith(("_", ".")))
            if not files:
                raise BadInput(f"{path}: the folder holds no files")
            for file in files:
                refuse_not_utf8(file)
            return files
        if not here.exists():
            raise BadInput(f"{path}: there is no such file; check the path")
        if not here.is_file():  # a source may be read twice
            raise BadInput(f"{path}: this is a pipe or a device, not a file; write its content to a file first")
    return [str(here)]


def is_pattern(path: str) -> bool:
    """Whether a path stands for many local files, as `in/*.csv` does; a file may have such a name."""
    local = "://" not in path or path.startswith("file://")
    return local and _WILD.search(path) is not None and not Path(path.removeprefix("file://")).exists()


def base_of(path: str) -> str:
    """The folder that a pattern begins with; any other path as it is."""
    return _base_and_rest(path)[0] if is_pattern(path) else path.removeprefix("file://")


def _base_and_rest(pattern: str) -> tuple[str, str]:
    parts = pattern.removeprefix("file://").split("/")
    first = next(place for place, part in enumerate(parts) if _WILD.search(part))
    return "/".join(parts[:first]) or ("/" if first else "."), "/".join(parts[first:])


def is_web(path: str) -> bool:
    """Whether a path is the address of a file on the web."""
    return re.match(r"https?://", path) is not None


def is_store(path: str) -> bool:
    """Whether a path is at an object store that this process can read."""
    return re.match(r"s3://", path) is not None


def _matching(path: str) -> list[str]:
    """The local files that a pattern describes, by name."""
    base, rest = _base_and_rest(path)
    found = [each for each in Path(base).glob(rest) if each.is_file() and not each.name.startswith(("_", "."))]
    files = sorted(map(str, found))
    if not files:
        raise BadInput(f"{path}: there is no such file; check the path")
    for file in files:
        refuse_not_utf8(file)
    return files


def refuse_other_format(file: str) -> None:
    """Refuse a local file that should be text, if its first bytes show another format."""
    with clear_sentences(file), Path(file).open("rb") as opened:
        head = opened.read(_HEAD)
    if file.endswith(COMPRESSED) and not head:  # a compressed file is never empty
        raise BadInput(f"{file}: it is empty and so not even compressed, as if an export had failed; export it again")
    if file.endswith(COMPRESSED) or _is_text(head):
        return
    for mark, (format_, advice) in _MARKS.items():
        if head.startswith(mark):
            raise BadInput(f"{file}: this is {format_}, whatever its name says; {advice}")


def _is_text(head: bytes) -> bool:
    """Whether bytes, which may end within a character, are text, even if they begin like another format."""
    try:
        return "\0" not in getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False


# ---- lake formats ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lake:
    """A lake format: its title, Spark's name for its reader, and what lies in the folder of each of its tables."""

    title: str
    reader: str
    mark: str  # a pattern of paths in the folder


LAKES = (
    Lake("Delta", "delta", "_delta_log"),
    Lake("Iceberg", "iceberg", "metadata/*.metadata.json"),
    Lake("Hudi", "hudi", ".hoodie"),
)


def refuse_lake_here(path: str, *, inside: bool = True) -> None:
    """Refuse a local folder that is a table of a lake format or a part of one, or that contains one."""
    here = Path(path.removeprefix("file://"))
    if not here.is_dir():
        return
    for lake in LAKES:
        found = [Path(folder).glob(lake.mark) for folder in _tables_of(str(here.absolute()))]
        if inside:
            found.append(here.rglob(lake.mark))
        if next(chain(*found), None):
            raise _refusal(path, lake)


def refuse_lake_elsewhere(spark: SparkSession, path: str) -> None:
    """Refuse a folder that Spark alone can see, if it is a table of a lake format or a part of one."""
    from holdfast.spark.frames import is_there

    for lake in LAKES:
        if any(is_there(spark, f"{folder}/{lake.mark}") for folder in _tables_of(path)):
            raise _refusal(path, lake)


def refuse_lake_in_store(store: FileSystem, place: str, shown: str) -> None:
    """Refuse a place in an object store that is a table of a lake format or a part of one."""
    from pyarrow.fs import FileSelector

    for folder in _tables_of(place):
        for lake in LAKES:
            inside, _, name = lake.mark.rpartition("/")
            found = store.get_file_info(FileSelector(f"{folder}/{inside}".rstrip("/"), allow_not_found=True))
            if any(fnmatchcase(each.base_name, name) for each in found):
                raise _refusal(shown, lake)


def _tables_of(path: str) -> Iterator[str]:
    """The folders that may be the table: the path, and its parents as long as the path names a part of a table, such as
    `year=2020`, `*.parquet` and Iceberg's `data`.
    """
    folder = path.rstrip("/")
    yield folder
    while re.search(r"/([^/]*[=*?{\[][^/]*|data)$", folder):
        folder = folder.rpartition("/")[0]
        yield folder


def _refusal(path: str, lake: Lake) -> BadInput:
    return BadInput(
        f"{path}: this is a table of {lake.title}, whose files also hold removed rows (see {lake.mark}); read it "
        f'with its own reader, and hand over the DataFrame, in Python: spark.read.format("{lake.reader}").load(…)'
    )
