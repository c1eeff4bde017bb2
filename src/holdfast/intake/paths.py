"""Paths of sources: which files there are, and in which format, as far as names tell."""

from __future__ import annotations

from codecs import getincrementaldecoder
from pathlib import Path

from holdfast.errors import BadInput, clear_sentences, refuse_not_utf8
from holdfast.sources.opening import COMPRESSED

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
_HEAD = 4096  # bytes, which tell text from other formats


def kind_of(path: str, asked: str | None) -> str:
    """The format of a path: as asked, or as its name says."""
    names = [path, *(files_of(path) or [])] if "://" not in path else [path]
    kinds = {_KINDS[suffix] for name in names for suffix in _suffixes(name) if suffix in _KINDS}
    if asked:
        if asked not in _KINDS.values():
            raise BadInput(f"unknown format {asked!r}; use csv, json, parquet, orc or arrow")
        return asked
    if len(kinds) != 1:
        raise BadInput(
            f"{path}: can't tell the format from the name; say it with --input-format csv, json, parquet or orc"
        )
    return kinds.pop()


def _suffixes(name: str) -> list[str]:
    """The ending of a name, and the one before it where the file is compressed."""
    suffixes = [suffix.lower() for suffix in Path(name).suffixes[-2:]]
    compressed = len(suffixes) == 2 and suffixes[1] in COMPRESSED
    return suffixes[:1] if compressed else suffixes[-1:]


def files_of(path: str) -> list[str] | None:
    """The local files of a path: one, or those of a folder; None where the path is not local."""
    if "://" in path and not path.startswith("file://"):
        return None
    here = Path(path.removeprefix("file://"))
    with clear_sentences(path):  # a name that is too long, a folder that may not be read
        if here.is_dir():
            files = sorted(str(f) for f in here.rglob("*") if f.is_file() and not f.name.startswith(("_", ".")))
            if not files:
                raise BadInput(f"{path}: the folder holds no files")
            for file in files:
                refuse_not_utf8(file)
            return files
        if not here.exists():
            raise BadInput(f"{path}: there is no such file; check the path")
        if not here.is_file():  # it would be read more than once
            raise BadInput(f"{path}: this is a pipe or a device, and no file; write what it gives to a file first")
    return [str(here)]


def refuse_other_format(file: str) -> None:
    """Say so where a local file that is to be read as text is one of another format, as its first bytes tell."""
    with clear_sentences(file), Path(file).open("rb") as opened:
        head = opened.read(_HEAD)
    if file.endswith(COMPRESSED) and not head:  # compressed, even nothing has some bytes
        raise BadInput(f"{file}: it is empty, and so not even compressed, as if an export had failed; export it again")
    if file.endswith(COMPRESSED) or _is_text(head):
        return
    for mark, (format_, advice) in _MARKS.items():
        if head.startswith(mark):
            raise BadInput(f"{file}: this is {format_}, whatever its name says; {advice}")


def _is_text(head: bytes) -> bool:
    """Whether some bytes, which may end within a character, are text: it may begin with the mark of a format."""
    try:
        return "\0" not in getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
