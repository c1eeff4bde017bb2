"""Results as files: violations as CSV, Parquet, Arrow or JSON lines, and whatever else a command is asked to write."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import BadInput
from holdfast.report.terminal import json_line

if TYPE_CHECKING:
    from holdfast.engines.listing import Listing

ENDINGS = (".csv", ".parquet", ".arrow", ".jsonl", ".json")


def refuse_unwritable(path: Path, endings: Sequence[str] = ()) -> None:
    """Say so before the work where its result can't be written, or where the ending of the path means nothing."""
    if endings and path.suffix not in endings:
        raise BadInput(f"{path}: unknown ending; use {', '.join(endings[:-1])} or {endings[-1]}")
    folder = path.parent
    if path.is_dir():
        raise BadInput(f"{path}: this is a folder; give the name of a file")
    if not folder.is_dir():
        raise BadInput(f"{path}: there is no folder {folder}; make it, or choose another place")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise BadInput(
            f"{path}: can't be written, as the disk or the folder is read-only for you; choose another place"
        )


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what may happen while a file is written into one sentence."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{path}: can't be written: {error.strerror or error}; choose another place") from None


def write_page(path: Path, page: str) -> int:
    """Write a text, such as a page; gives its size in bytes."""
    written = page.encode("utf-8", "backslashreplace")
    with writing(path):
        path.write_bytes(written)
    return len(written)


def write_listings(listings: Sequence[Listing], path: Path) -> int:
    """Write all violations to a file whose ending names its format; gives how many there are.

    The rules of one table have different columns, so all but JSON lines take one rule at a time.
    """
    refuse_unwritable(path, ENDINGS)
    broken = [listing for listing in listings if len(listing.listed)]
    if path.suffix in (".jsonl", ".json"):
        with writing(path), path.open("w", encoding="utf-8") as file:
            for listing in broken:
                file.writelines(map(json_line, listing.violations()))
    elif len(broken) > 1:
        raise BadInput(f"{path}: rules differ in their columns; name one rule, or write .jsonl")
    else:
        with writing(path):
            _write_table((broken or listings)[0], path)  # where nothing is violated, a file without rows
    return sum(listing.count for listing in broken)


def _write_table(listing: Listing, path: Path) -> None:
    table = listing.to_arrow()
    if path.suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table, path)
    elif path.suffix == ".arrow":
        from pyarrow import feather

        feather.write_feather(table, path)
    else:
        from pyarrow import csv

        plain = table.set_column(0, "rule", table.column("rule").cast("string"))
        csv.write_csv(plain, path)
