"""Paths of sources: which files there are, and in which format, as far as names tell."""

from __future__ import annotations

from pathlib import Path

from holdfast.errors import BadInput
from holdfast.sources.opening import COMPRESSED

_KINDS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".parquet": "parquet", ".pq": "parquet", ".orc": "orc",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".arrows": "arrow",
}  # fmt: skip


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
    if here.is_dir():
        files = sorted(str(f) for f in here.rglob("*") if f.is_file() and not f.name.startswith(("_", ".")))
        if not files:
            raise BadInput(f"{path}: the folder holds no files")
        return files
    if not here.exists():
        raise BadInput(f"{path}: there is no such file; check the path")
    return [str(here)]
