"""Tables of the tests of expectations, encoded as a state has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import build_table
from holdfast.progress import SILENT
from holdfast.table.table import Table


def encoded(folder: Path, data: pa.Table | dict[str, Any]) -> Table:
    """A table with some rows."""
    source = data if isinstance(data, pa.Table) else pa.table(data)
    return build_table("t", source, ReadOptions(), (), "equal", str(folder), None, SILENT).admitted.table
