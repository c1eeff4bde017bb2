"""Counted agree-sets: batches of 50 and whole tables, beside NumPy and DuckDB that compare all pairs; and queries.

All columns are read as text, so that nothing but equality decides. What is timed for a batch is `PairWatch.follow`,
from the change of the table to the multiset and its delta; admitting rows is the ground's affair.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from benchmarks.data import shared
from benchmarks.frame import Case, Rss, benchmark, quick, race, timed
from holdfast.changes.equal_rows import Codes
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import BatchReader, Sources, build_table
from holdfast.pairs.counting import merged
from holdfast.pairs.multiset import Signatures
from holdfast.pairs.rows import WeightedRows
from holdfast.pairs.signatures import Signed
from holdfast.pairs.watch import PairWatch
from holdfast.progress import Progress
from holdfast.table.change import Change
from holdfast.table.runner import Threads
from holdfast.table.table import Table

_BATCH = 50
_GOALS = {"adult": 0.006, "claims": 0.020, "flight_1k": 0.002, "uniprot_1k": 0.005}


def rows_of(name: str) -> pa.Table:
    path = shared(name)
    with path.open() as lines:
        names = lines.readline().strip().split(",")
    texts = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), null_values=[""], strings_can_be_null=True
    )
    found = pa.csv.read_csv(path, parse_options=pa.csv.ParseOptions(newlines_in_values=True), convert_options=texts)
    return found.cast(pa.schema([(column, pa.string()) for column in found.column_names]))


def table_of(rows: pa.Table, folder: str) -> Table:
    return build_table("t", rows, ReadOptions(), (), "equal", folder, None, Progress()).admitted.table


def change_of(before: Table, folder: str, inserts: pa.Table | None = None, deletes: pa.Table | None = None) -> Change:
    sources = Sources(inserts, deletes, None, None)
    done = BatchReader(before, (), ReadOptions(), None, "error", folder, None, Progress()).admit(sources)
    return Change(before, done.table, done.born, done.dead)


def numpy_pairs(codes: Codes, first: int) -> Signed:
    """The agree-sets of rows from `first` on with all rows before them, a row against a matrix at a time."""
    words = -(-len(codes) // 64)
    parts = []
    for i in range(first, codes.shape[1]):
        packed = np.packbits(codes[:, :i] == codes[:, i : i + 1], axis=0, bitorder="little")
        padded = np.zeros((i, 8 * words), np.uint8)
        padded[:, : len(packed)] = packed.T
        parts.append(padded.view(np.uint64))
    if words == 1:
        sets, counts = np.unique(np.concatenate(parts), return_counts=True)
        return sets.reshape(-1, 1), counts
    return np.unique(np.concatenate(parts), axis=0, return_counts=True)


def counted(table: Table) -> Signed:
    """The agree-sets of all pairs, as the engines count them."""
    sets = PairWatch.of(table, Threads()).sets
    return sets.sets, sets.counts


def same(one: Signed, other: Signed) -> bool:
    return not len(merged([one, (other[0], -other[1])])[1])


@benchmark("pairs-batch", "50 rows inserted at the end, and deleted again: from the change to the agree-sets")
def batches() -> Iterator[Case]:
    for name in ("flight_1k",) if quick() else _GOALS:
        with tempfile.TemporaryDirectory() as folder, Rss() as weight:
            rows = rows_of(name)
            last = rows.slice(len(rows) - _BATCH)
            table = table_of(rows.slice(0, len(rows) - _BATCH), folder)
            watch = PairWatch.of(table, Threads())
            spent: dict[str, list[float]] = {"inserted": [], "deleted": []}
            for _ in range(4 if quick() else 16):
                before = (watch.sets.sets, watch.sets.counts)
                change = change_of(table, folder, inserts=last)
                spent["inserted"].append(_follow(watch, change))
                after = (watch.sets.sets, watch.sets.counts)
                codes = change.after.codes(change.after.living_ids())
                change = change_of(change.after, folder, deletes=last)
                spent["deleted"].append(_follow(watch, change))
                table = change.after
        started = time.perf_counter()
        theirs = numpy_pairs(codes, len(rows) - _BATCH)
        rival = time.perf_counter() - started
        for what, seconds in spent.items():
            ours = statistics.median(seconds[1:])  # the first one loads kernels
            right = same(after, merged([before, theirs])) and same((watch.sets.sets, watch.sets.counts), before)
            yield Case(
                f"{_BATCH} {what}, {name} {len(rows):,} x {rows.num_columns}", ours, rival, "NumPy, the same pairs",
                weight.own_mb, right, f"{_GOALS[name] * 1e3:g} ms", ours < _GOALS[name],
                f"best {min(seconds) * 1e3:.2f} ms; {len(after[1]):,} sets", len(rows),
            )  # fmt: skip


def _follow(watch: PairWatch, change: Change) -> float:
    started = time.perf_counter()
    watch.follow(change, Threads())
    return time.perf_counter() - started


@benchmark("pairs-scratch", "the agree-sets of all pairs of a table, and of a slice beside DuckDB's self-join")
def scratch() -> Iterator[Case]:
    known = {"adult": (2.0, 9_555), "claims": (15.0, 512)}
    for name in ("adult",) if quick() else known:
        goal, sets = known[name]
        with tempfile.TemporaryDirectory() as folder:
            rows = rows_of(name)
            few = rows.slice(0, 300 if quick() else 3_000)
            small = table_of(few, folder)
            counted(small)  # loads kernels
            run = race(lambda table=small: counted(table), lambda table=few: duck_pairs(table), 3)  # type: ignore[misc]
            yield run.case(
                f"all pairs of {len(few):,} rows of {name}", "DuckDB, self-join and group by",
                same(run.ours_answer, run.rival_answer), least=10, rows=len(few),
            )  # fmt: skip
            if not quick():
                table = table_of(rows, folder)
                ours, found = timed(lambda table=table: counted(table), 3)  # type: ignore[misc]
                pairs = len(rows) * (len(rows) - 1) // 2
                yield Case(
                    f"all {pairs:,} pairs of {name}", ours, equal=len(found[1]) == sets and found[1].sum() == pairs,
                    goal=f"{goal:g} s", met=ours < goal, rows=len(rows),
                    note=f"{ours / pairs * 1e9:.2f} ns a pair; {sets:,} sets with the empty one, as published",
                )  # fmt: skip


def duck_pairs(rows: pa.Table) -> Signed:
    """The same by SQL: each pair of rows once, its agree-set as a number."""
    import duckdb  # here, so that the other benchmarks weigh the product alone

    database = duckdb.connect()
    database.execute("SET threads = 2; SET enable_progress_bar = false")
    database.register("given", rows)
    database.execute("CREATE TABLE rows AS SELECT row_number() OVER () AS id, * FROM given")
    bits = " + ".join(
        f'CASE WHEN a."{column}" IS NOT DISTINCT FROM b."{column}" THEN {1 << c} ELSE 0 END'
        for c, column in enumerate(rows.column_names)
    )
    query = f"SELECT {bits} AS signature, count(*) AS pairs FROM rows a JOIN rows b ON a.id < b.id GROUP BY 1"
    found = database.execute(query).fetchnumpy()
    return found["signature"].astype(np.uint64).reshape(-1, 1), found["pairs"].astype(np.int64)


def _coded_change(table: Table, inserted: Codes, deleted: Codes) -> Change:
    """A batch given as codes: what `PairWatch` reads of a change."""
    change = Change(table, table, range(0), np.empty(0, np.int64))
    vars(change).update(inserted=inserted, deleted=deleted)
    return change


@benchmark("pairs-stream", "the whole of adult in batches of 50, and out again")
def stream() -> Iterator[Case]:
    with tempfile.TemporaryDirectory() as folder:
        rows = rows_of("adult").slice(0, 3_000 if quick() else None)
        table = table_of(rows, folder)
        codes = table.codes(table.living_ids())
        none = codes[:, :0]
        watch = PairWatch(table, Signatures(len(codes)), WeightedRows([0] * len(codes)))
        with Rss() as start:
            watch.follow(_coded_change(table, codes[:, :1], codes[:, :1]), Threads())  # loads kernels
        with Rss() as weight:
            started = time.perf_counter()
            for begin in range(0, len(rows), _BATCH):
                watch.follow(_coded_change(table, codes[:, begin : begin + _BATCH], none), Threads())
            ours = time.perf_counter() - started
        again, fresh = timed(lambda: counted(table), 1)
        equal = same(fresh, (watch.sets.sets, watch.sets.counts))
        yield Case(
            f"adult in batches of {_BATCH}", ours, again, "ourselves, once at the end", weight.own_mb, equal, "3 s",
            ours < 3, f"memory at the start {start.own_mb:,.0f} MB, at its peak {weight.own_mb:,.0f} MB", len(rows),
        )  # fmt: skip
        started = time.perf_counter()
        for begin in range(0, len(rows), _BATCH):
            watch.follow(_coded_change(table, none, codes[:, begin : begin + _BATCH]), Threads())
        ours = time.perf_counter() - started
        yield Case("… and out again", ours, None, "", weight.own_mb, not len(watch.sets), "3 s", ours < 3)


@benchmark("pairs-query", "how many pairs agree on X but not on A: bitmaps beside the paper's tree, and a scan")
def query() -> Iterator[Case]:
    from benchmarks.astree import Tree  # here, so that the other benchmarks weigh the product alone

    for name in ("flight_1k",) if quick() else ("adult", "flight_1k", "uniprot_1k"):
        with tempfile.TemporaryDirectory() as folder:
            rows = rows_of(name)
            found = counted(table_of(rows, folder))
        sets = Signatures.of(rows.num_columns, *found)
        numbers = np.random.default_rng(0)
        questions = [_question(numbers, rows.num_columns) for _ in range(20 if quick() else 100)]
        building, tree = timed(lambda found=found: Tree.of(*found), 1)  # type: ignore[misc]
        first, _ = timed(lambda sets=sets: sets.agreeing([0]), 1)  # type: ignore[misc]
        run = race(_asking(sets, questions), _asking(tree, questions), 3)
        slow, scanned = timed(lambda found=found, questions=questions: [scan(found, *each) for each in questions], 1)  # type: ignore[misc]
        ours = run.ours / len(questions)
        yield Case(
            f"{name}, {len(sets):,} sets of {rows.num_columns} columns", ours, run.rival / len(questions),
            "AStree, compiled", None, run.ours_answer == run.rival_answer == scanned, "200 µs", ours < 2e-4,
            f"made in {first * 1e3:.2f} ms, the tree of {len(tree.column):,} nodes in {building * 1e3:,.0f} ms; "
            f"a scan of all sets {slow / len(questions) * 1e6:,.0f} µs",
        )  # fmt: skip


def _asking(index: Any, questions: list[tuple[list[int], int]]) -> Callable[[], list[int]]:
    return lambda: [index.agreeing(on, but_not) for on, but_not in questions]


def _question(numbers: np.random.Generator, columns: int) -> tuple[list[int], int]:
    """Up to five columns, and one other."""
    chosen = numbers.choice(columns, 1 + int(numbers.integers(6)), replace=False).tolist()
    return chosen[1:], chosen[0]


def scan(found: Signed, on: list[int], but_not: int) -> int:
    sets, counts = found
    good: NDArray[np.bool_] = (sets[:, but_not // 64] >> np.uint64(but_not % 64)) & np.uint64(1) == 0
    for column in on:
        good &= (sets[:, column // 64] >> np.uint64(column % 64)) & np.uint64(1) == 1
    return int(counts[good].sum())
