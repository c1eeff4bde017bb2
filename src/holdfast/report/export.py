"""Violations as files: CSV, Parquet, Arrow or JSON lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyarrow import ArrowException, csv, feather, ipc, parquet

from holdfast.engines.listing import Listing
from holdfast.errors import BadInput
from holdfast.report.terminal import json_line
from holdfast.results.outputs import FileKind, writing


def _is_list_of_violations(path: Path) -> bool:
    """Whether `write_listings` wrote a file: its first columns, or its first line, show that."""
    if path.suffix in (".jsonl", ".json", ".csv"):
        with path.open("rb") as file:
            line = file.readline(1 << 16)
        return line.startswith((b'{"kind": "violation"', b'"rule","t_row"'))
    return _names(path)[:2] == ["rule", "t_row"]


def _names(path: Path) -> list[str]:
    try:
        found = parquet.read_schema(path) if path.suffix == ".parquet" else ipc.open_file(str(path)).schema
    except (ArrowException, OSError):  # another kind of file
        return []
    return list(found.names)


VIOLATIONS = FileKind("a list of violations", _is_list_of_violations, (".csv", ".parquet", ".arrow", ".jsonl", ".json"))


def write_listings(listings: Sequence[Listing], path: Path) -> int:
    """Write all violations to a file whose ending names its format; returns their number.

    Rules have different columns, so every format but JSON lines takes one rule only.
    """
    broken = [listing for listing in listings if len(listing.listed)]
    if path.suffix in (".jsonl", ".json"):
        with writing(path, VIOLATIONS), path.open("w", encoding="utf-8") as file:
            for listing in broken:
                file.writelines(map(json_line, listing.violations()))
    elif len(broken) > 1:
        raise BadInput(f"{path}: rules differ in their columns; name one rule, or write .jsonl")
    else:
        with writing(path, VIOLATIONS):
            _write_table((broken or listings)[0], path)  # without violations a file without rows
    return sum(listing.count for listing in broken)


def _write_table(listing: Listing, path: Path) -> None:
    table = listing.to_arrow()
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    elif path.suffix == ".arrow":
        feather.write_feather(table, path)
    else:
        plain = table.set_column(0, "rule", table.column("rule").cast("string"))
        csv.write_csv(plain, path)
