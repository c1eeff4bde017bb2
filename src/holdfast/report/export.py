"""Violations as files: CSV, Parquet, Arrow or JSON lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import BadInput

if TYPE_CHECKING:
    from holdfast.listing import Listing


def write_listings(listings: Sequence[Listing], path: Path) -> int:
    """Write all violations to a file whose ending names its format; gives how many there are.

    The rules of one table have different columns, so all but JSON lines take one rule at a time.
    """
    if path.suffix in (".jsonl", ".json"):
        with path.open("w", encoding="utf-8") as file:
            for listing in listings:
                for violation in listing.violations():
                    file.write(json.dumps(violation, ensure_ascii=False, default=str) + "\n")
    elif len(listings) > 1:
        raise BadInput(f"{path}: rules differ in their columns; name one rule, or write .jsonl")
    elif listings:
        _write_table(listings[0], path)
    return sum(listing.count for listing in listings)


def _write_table(listing: Listing, path: Path) -> None:
    table = listing.to_arrow()
    if path.suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table, path)
    elif path.suffix == ".arrow":
        from pyarrow import feather

        feather.write_feather(table, path)
    elif path.suffix == ".csv":
        from pyarrow import csv

        plain = table.set_column(0, "rule", table.column("rule").cast("string"))
        csv.write_csv(plain, path)
    else:
        raise BadInput(f"{path}: unknown ending; use .csv, .parquet, .arrow or .jsonl")
