"""Imports and compiles all that applying a batch needs: what appliers are forked from imports this."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from holdfast.api.monitor import Monitor
from tests.cli import applier

applier.small_thresholds()
with TemporaryDirectory() as folder:
    rows = pa.table({"id": [1, 2], "name": ["a", "b"], "amount": [1.5, None]})
    with Monitor.create(Path(folder) / "state", {"t": rows}, rules=applier.RULES, key=["id"]) as watch:
        watch.apply(inserts=pa.table({"id": [3], "name": ["c"], "amount": [0.5]}), deletes=pa.table({"id": [1]}))
        watch.vacuum()
