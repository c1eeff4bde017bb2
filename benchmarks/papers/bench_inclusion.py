"""What the paper inclusion measured: clusters of TPC-H and of a wide table under batches, beside static discovery.

S-INDD, the paper's own rival, is not to be had; Desbordante's Spider and Faida stand for it. MusicBrainz, Plista and
the genome are not to be had; uniprot_1k, 223 columns, stands for wide tables.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from benchmarks.bench_inclusion import (
    ONLY_TYPED,
    clocked,
    csv_files,
    desbordante,
    fresh_rows,
    scratch,
    sources,
    state_of,
)
from benchmarks.data import shared
from benchmarks.frame import Case, Rss, benchmark, quick
from holdfast.api.monitor import Monitor

SCALE = 0.01 if quick() else 1.0
_PUBLISHED = {"insert": (0.034, "0.0080 %"), "delete": (0.054, "0.0127 %")}  # seconds a row; of S-INDD's 424 s


@benchmark("inclusion-T3", "Table 3: TPC-H, its clusters and inclusion dependencies, beside Spider and Faida")
def clusters() -> Iterator[Case]:
    with scratch() as folder:
        with Rss() as weight:
            ours, monitor = clocked(lambda: Monitor.create(folder / "state", sources(SCALE), watch=["ind"]))
        with monitor:
            found = {ind.text for ind in monitor.results("ind")}
            count = len(state_of(monitor).clusters.counts)
            attributes = sum(len(table.schema.columns) for table in monitor.tables.values())
            rows = sum(table.rows for table in monitor.tables.values())
        with csv_files(SCALE) as files:
            for name in ("Spider", "Faida"):
                rival, theirs = clocked(lambda name=name: desbordante(name, files))  # type: ignore[misc]
                yield Case(
                    f"{attributes} columns, {rows:,} rows: {len(found)} dependencies, state made, too", ours, rival,
                    f"{name} from CSV, {len(theirs)}, keeps nothing", weight.peak_mb, found - ONLY_TYPED == theirs,
                    published="61 columns, 8,661,245 rows, 126 clusters; S-INDD 424 s", note=f"{count} clusters",
                )  # fmt: skip


@benchmark(
    "inclusion-T5", "Table 5, Figures 3 and 5: an insert and a delete of a row of TPC-H, beside static discovery"
)
def batches() -> Iterator[Case]:
    size = 1_000 if quick() else 100_000
    with scratch() as folder, Monitor.create(folder / "state", sources(SCALE), watch=["ind"]) as monitor:
        with csv_files(SCALE) as files:
            rival, _ = clocked(lambda: desbordante("Spider", files))
        source = pq.ParquetFile(sources(SCALE)["lineitem"]).iter_batches(size)
        for rows in (1, 100, size):
            part = fresh_rows(pa.Table.from_batches([next(source)]).slice(0, rows), rows)
            for kind, (each, share) in _PUBLISHED.items():
                arguments: dict[str, Any] = {f"{kind}s": part}
                ours, _ = clocked(lambda arguments=arguments: monitor.apply(**arguments, table="lineitem"))  # type: ignore[misc]
                yield Case(
                    f"{rows:,} rows of lineitem, {kind}, with the commit", ours, rival, "Spider, static",
                    published=f"{each * 1000:g} ms a row, {share} of S-INDD's time",
                    note=f"{ours / rows * 1e6:,.1f} µs a row; {ours / rival:.4%} of Spider's time", rows=rows,
                )  # fmt: skip


@benchmark("inclusion-F6", "Figure 6: growth with columns, uniprot_1k")
def columns() -> Iterator[Case]:
    whole = pa.csv.read_csv(shared("uniprot_1k"))
    for width in (15, 50) if quick() else (15, 50, 100, 150, 223):
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder, chdir(folder):
            table = whole.select(range(width))
            rest, last = table.slice(0, len(table) - 100), table.slice(len(table) - 100)
            file = Path(folder, "t.csv")
            pa.csv.write_csv(table, file)
            with Monitor.create(Path(folder, "state"), {"t": rest}, watch=["ind"]) as monitor:
                monitor.apply(inserts=last)
                monitor.apply(deletes=last)
                ours, _ = clocked(lambda monitor=monitor, last=last: monitor.apply(inserts=last))  # type: ignore[misc]
                count = len(monitor.results("ind"))
            rival, _ = clocked(lambda file=file: desbordante("Spider", [str(file)]))  # type: ignore[misc]
        yield Case(
            f"{width} columns, 100 rows inserted, with the commit", ours, rival, "Spider, static",
            published="at most 59 ms a row, up to 273 columns", note=f"{count:,} dependencies",
        )  # fmt: skip
