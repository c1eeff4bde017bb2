"""What the paper dynast measured: agree-sets of its tables, batches of them, and how much is gained by keeping them.

The paper's figures are those of a Java program on one core of 1.6 GHz. Its baseline, DeepMiner, is not to be had: our
own count of all pairs from scratch stands for it, and is faster.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence

import pyarrow as pa

from benchmarks.bench_pairs import change_of, duck_pairs, numpy_pairs, rows_of, same, table_of
from benchmarks.frame import Case, benchmark, quick, race, timed
from holdfast.pairs.counting import merged
from holdfast.pairs.watch import PairWatch
from holdfast.table.runner import Threads

_BATCH = 50
_AGREE_SETS = {"iris": 27, "bridges": 644, "adult": 9_555, "claims": 512, "flight_1k": 19_099, "uniprot_1k": 326_698}
_SMALL = ("iris", "bridges")  # DuckDB compares all their pairs within seconds
_THOUSAND = ("flight_1k", "uniprot_1k")  # NumPy does
_MOST = {"adult": "", "claims": "at most 1.4 s", "flight_1k": "at most 40 ms", "uniprot_1k": "at most 160 ms"}
_GAINS = {
    "adult": ({0.01: 439.1, 0.1: 15.62, 1: 12.13, 10: 9.94}, {0.01: 439.26, 0.1: 50.13, 0.5: 2.62, 0.75: 0.42}),
    "claims": ({0.01: 45.59, 0.1: 5.83, 1: 0.23, 10: 0.18}, {0.01: 23.87, 0.1: 2.97, 0.5: 0.23, 0.75: 0.03}),
    "flight_1k": ({0.01: 581.64, 0.1: 74.37, 1: 17.33, 10: 14.36}, {0.01: 153.39, 0.1: 28.05, 0.5: 1.2, 0.75: 0.14}),
    "uniprot_1k": (
        {0.01: 6610.56, 0.1: 457.46, 1: 30.82, 10: 27.27},
        {0.01: 3984.29, 0.1: 536.88, 0.5: 10.53, 0.75: 0.24},
    ),
}


def _names(every: Sequence[str]) -> Sequence[str]:
    return ("flight_1k",) if quick() else every


def _rows(name: str) -> pa.Table:
    """The paper's table; a quick run takes some columns of it."""
    rows = rows_of(name)
    return rows.select(range(20)) if quick() and rows.num_columns > 20 else rows


@benchmark("dynast-T4", "Table 4: the agree-sets of the paper's tables")
def agree_sets() -> Iterator[Case]:
    with tempfile.TemporaryDirectory() as folder:
        PairWatch.of(table_of(rows_of("iris"), folder), Threads())  # loads the kernels
        for name, published in _AGREE_SETS.items():
            if quick() and name not in _SMALL:
                continue
            rows = rows_of(name)
            table = table_of(rows, folder)
            rival: float | None = None
            equal = True
            if name in _SMALL:
                run = race(lambda table=table: _counted(table), lambda rows=rows: duck_pairs(rows), 3)  # type: ignore[misc]
                ours, found, rival, by = run.ours, run.ours_answer, run.rival, "DuckDB"
                equal = same(found, run.rival_answer)
            else:
                ours, found = timed(lambda table=table: _counted(table), 1)  # type: ignore[misc]
                by = ""
            if name in _THOUSAND:
                codes = table.codes(table.living_ids())
                (rival, theirs), by = timed(lambda codes=codes: numpy_pairs(codes, 1), 1), "NumPy"  # type: ignore[misc]
                equal = same(found, theirs)
            count = len(found[1])
            other = "" if count == published else f"; {by} finds as many, so the paper's table is another version"
            yield Case(
                f"{name}, {len(rows):,} rows, {rows.num_columns} columns", ours, rival, by,
                equal=equal and (count == published or bool(by)),
                note=f"{count:,} agree-sets, the empty one among them{other}",
                published=f"{published:,} agree-sets", rows=len(rows),
            )  # fmt: skip


def _counted(table: object) -> tuple:  # type: ignore[type-arg]
    watch = PairWatch.of(table, Threads())  # type: ignore[arg-type]
    return watch.sets.sets, watch.sets.counts


def _batch(rows: pa.Table, begin: int, size: int, folder: str) -> tuple[float, float, float, bool]:
    """Seconds for an insert of `size` rows after the first `begin`, for their delete, and for NumPy's insert; and
    whether all gave the same.
    """
    last = rows.slice(begin, size)
    table = table_of(rows.slice(0, begin), folder)
    watch = PairWatch.of(table, Threads())
    before = watch.sets.sets, watch.sets.counts
    spent: list[list[float]] = [[], []]
    for _ in range(3):  # the first ones load kernels
        change = change_of(table, folder, inserts=last)
        spent[0].append(_follow(watch, change))
        after = watch.sets.sets, watch.sets.counts
        codes = change.after.codes(change.after.living_ids())
        change = change_of(change.after, folder, deletes=last)
        spent[1].append(_follow(watch, change))
        table = change.after
    rival, theirs = timed(lambda: numpy_pairs(codes, begin), 1)
    equal = same(after, merged([before, theirs])) and same((watch.sets.sets, watch.sets.counts), before)
    return min(spent[0]), min(spent[1]), rival, equal


def _follow(watch: PairWatch, change: object) -> float:
    started = time.perf_counter()
    watch.follow(change, Threads())  # type: ignore[arg-type]
    return time.perf_counter() - started


def _both(case: str, found: tuple[float, float, float, bool], published: str, note: str = "") -> Iterator[Case]:
    inserted, deleted, rival, equal = found
    for what, ours in (("inserted", inserted), ("deleted", deleted)):
        yield Case(f"{case} {what}", ours, rival, "NumPy, the same pairs", equal=equal, published=published, note=note)


@benchmark("dynast-F4", "Figure 4: batches of 50 rows, after a tenth of the table, a half, and all but the last rows")
def quantiles() -> Iterator[Case]:
    for name in _names(list(_MOST)):
        rows = _rows(name)
        for share in (0.1, 0.5, 1.0):
            begin = min(int(len(rows) * share), len(rows) - _BATCH)
            with tempfile.TemporaryDirectory() as folder:
                found = _batch(rows, begin, _BATCH, folder)
            yield from _both(f"{name}, {begin:,} rows: {_BATCH}", found, _MOST[name])


@benchmark("dynast-F5", "Figure 5: batches of other sizes at the end of the table")
def sizes() -> Iterator[Case]:
    for name in _names(list(_MOST)):
        rows = _rows(name)
        for size in (10, 100, 1000) if name in ("adult", "claims") else (10, 50, 150):
            with tempfile.TemporaryDirectory() as folder:
                found = _batch(rows, len(rows) - size, size, folder)
            yield from _both(f"{name}: {size:,}", found, "a picture", f"{found[0] / size * 1e6:.0f} µs a row inserted")


@benchmark("dynast-F6", "Figure 6: 50 rows after the first 500, with a part of the columns")
def columns() -> Iterator[Case]:
    published = {109: "100 ms", 222: "311 ms"}
    for name in _names(list(_MOST)):
        rows = _rows(name)
        for share in (0.25, 0.5, 1.0):
            some = rows.select(range(max(1, int(rows.num_columns * share))))
            with tempfile.TemporaryDirectory() as folder:
                found = _batch(some.slice(0, 500 + _BATCH), 500, _BATCH, folder)
            says = published.get(some.num_columns, published[222] if some.num_columns > 200 else "a picture")
            yield from _both(f"{name}, {some.num_columns} columns: {_BATCH}", found, says)


@benchmark(
    "dynast-T5", "Tables 5 and 6: how many times faster a batch is followed than all is counted again, by its size"
)
def gains() -> Iterator[Case]:
    for name in _names(list(_GAINS)):
        rows = _rows(name)
        for deleting, published in zip((False, True), _GAINS[name], strict=True):
            for ratio, gain in published.items():
                yield _gained(name, rows, ratio, deleting, f"{gain:g}x over DeepMiner")


def _gained(name: str, rows: pa.Table, ratio: float, deleting: bool, published: str) -> Case:
    size = int(len(rows) * ratio) if deleting else len(rows) - int(len(rows) / (1 + ratio))
    rest, some = rows.slice(0, len(rows) - size), rows.slice(len(rows) - size)
    spent = []
    with tempfile.TemporaryDirectory() as folder:
        before = table_of(rows if deleting else rest, folder)
        change = change_of(before, folder, **{"deletes" if deleting else "inserts": some})
        for _ in range(2):
            watch = PairWatch.of(before, Threads())
            spent.append(_follow(watch, change))
        again, anew = timed(lambda: _counted(change.after), 1)
        equal = same(anew, (watch.sets.sets, watch.sets.counts))
    return Case(
        f"{name}, {ratio:.0%} {'deleted' if deleting else 'inserted'}", min(spent), again, "ours, from scratch",
        equal=equal, published=published, note=f"{size:,} rows", rows=len(rows),
    )  # fmt: skip


@benchmark("dynast-T9", "Table 9: the agree-sets themselves after 50 rows came or went, in the paper a prefix tree")
def tree() -> Iterator[Case]:
    from benchmarks.astree import Tree

    published = {"adult": "3.2 and 6.11 ms", "claims": "0.4 and 1.2 ms", "flight_1k": "16.95 and 34 ms"}
    for name, says in {**published, "uniprot_1k": "1,590 and 2,300 ms"}.items():
        if name not in _names(list(_MOST)):
            continue
        rows = _rows(name)
        with tempfile.TemporaryDirectory() as folder:
            watch = PairWatch.of(table_of(rows, folder), Threads())
            table = table_of(rows, folder)
            size = min(_BATCH, len(rows))
            spent = []
            for _ in range(3):
                change = change_of(table, folder, deletes=rows.slice(len(rows) - size))
                spent.append(_follow(watch, change))
                table = change_of(change.after, folder, inserts=rows.slice(len(rows) - size)).after
                watch = PairWatch.of(table, Threads())
            found = watch.sets.sets, watch.sets.counts
            building, _ = timed(lambda found=found: Tree.of(*found), 2)  # type: ignore[misc]
        yield Case(
            f"{name}: 50 rows, with the pairs compared", statistics.median(spent), building,
            "the paper's tree, compiled, made from scratch", published=f"{says}, the tree alone",
            note=f"{len(found[1]):,} agree-sets", rows=len(rows),
        )  # fmt: skip
