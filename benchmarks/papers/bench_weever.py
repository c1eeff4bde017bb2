"""What the paper weever measured: violations of denial constraints, kept under inserts and deletes of single rows.

The Tax table is made by the project, with errors enough for about the published violations of a million rows; the line
items are TPC-H's. Flights and IMDB of the paper are not to be had, nor are its rivals FACET and RAPIDASH; DuckDB stands
for its database, which asks for the violations of each new row, too.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from time import perf_counter

import numpy as np
import pyarrow as pa

import holdfast as hf
from benchmarks.bench_denial import (
    CROSS,
    RULES,
    _lineitem,
    by_duckdb,
    database_of,
    empty,
    found_in,
    grown,
    rules_of,
    shrunk,
    sql_of,
    tax,
)
from benchmarks.frame import Case, benchmark, quick, timed
from benchmarks.incpod import opt_index
from benchmarks.incpod_kernels import FREE, LESS, MORE, Boxes
from holdfast.rules.denial import DenialConstraint
from holdfast.table.runner import Threads
from holdfast.table.table import Table

ROWS = 5_000 if quick() else 1_000_000
SINGLES = 20 if quick() else 1_000
# Milliseconds for 1,000 inserts, one by one, into a million rows, as Figure 2 shows them.
_PUBLISHED = {"φ7": "1.2 ms", "φ8": "2.7 ms", "φ9": "73 ms", "φ10": "356 ms"}


def _singles(rules: Sequence[DenialConstraint], data: pa.Table, rows: int, count: int, deleting: bool) -> list[float]:
    """Seconds for each of some rows that come, or go, one by one."""
    table = grown(empty(data), data.slice(0, rows)).after
    watching = found_in(table, rules, Threads())
    chosen = np.random.default_rng(0).permutation(rows)[:count]
    spent = []
    for number in range(count):
        change = shrunk(table, chosen[[number]]) if deleting else grown(table, data.slice(rows + number, 1))
        table = change.after
        started = perf_counter()
        watching.follow(change)
        spent.append(perf_counter() - started)
    return spent


def _one_batch(rules: Sequence[DenialConstraint], data: pa.Table, rows: int) -> float:
    """Seconds in which the same rows come at once."""
    table, spent = grown(empty(data), data.slice(0, rows)).after, []
    change = grown(table, data.slice(rows, SINGLES))
    for _ in range(2):
        watching = found_in(table, rules, Threads())
        started = perf_counter()
        watching.follow(change)
        spent.append(perf_counter() - started)
    return min(spent)


def _by_duckdb(rule: DenialConstraint, data: pa.Table, rows: int, count: int) -> float:
    """Seconds in which DuckDB takes in a row and asks for its violations, one by one."""
    with database_of(data.slice(0, rows)) as database:
        fresh = data.slice(rows, count).append_column("_row", pa.array(np.arange(rows, rows + count)))
        asked = sql_of(rule).replace(" WHERE ", " WHERE (t._row = $row OR s._row = $row) AND ")
        spent = []
        for number in range(count):
            row = fresh.slice(number, 1)
            database.register("fresh", row)
            started = perf_counter()
            database.execute("INSERT INTO data SELECT * FROM fresh")
            database.execute(asked, {"row": rows + number}).fetchall()
            spent.append(perf_counter() - started)
    return statistics.median(spent)


@benchmark("weever-T4", "Table 4: the violations of the papers' constraints")
def violations() -> Iterator[Case]:
    data = tax(ROWS)
    table = grown(empty(data), data).after
    says = {"φ7": "0", "φ8": "0", "φ9": "0", "φ10": "1,438"}
    for name, published in says.items():
        yield _found(name, rules_of(name)[0], table, data, f"{published} in 6,000,000 rows of another table")
    data = _lineitem(0.01 if quick() else 1)
    table = grown(empty(data), data).after
    yield _found("φ13", DenialConstraint.parse(CROSS), table, data, "1,544 in 6,000,000 rows")


def _found(name: str, rule: DenialConstraint, table: Table, data: pa.Table, published: str) -> Case:
    found_in(table, [rule], Threads())  # compiles
    ours, state = timed(partial(found_in, table, [rule], Threads()), 1)
    count = state.found()[0].count
    rival, equal = None, None
    if name in ("φ7", "φ8", "φ13"):  # the others join each state with itself
        with database_of(data) as database:
            rival, pairs = timed(partial(by_duckdb, database, rule), 1)
        equal = len(pairs) == count
    return Case(
        f"{name}, {table.rows:,} rows", ours, rival, "DuckDB, all pairs" if rival else "", equal=equal,
        published=published, note=f"{count:,} violations", rows=table.rows,
    )  # fmt: skip


@benchmark("weever-F2", "Figure 2: 1,000 rows inserted one by one, into tables that grow")
def inserts() -> Iterator[Case]:
    data = tax(ROWS + SINGLES)
    for name in RULES:
        rules = rules_of(name)
        _singles(rules, data, 1_000, 5, False)  # compiles
        for rows in (ROWS // 10, ROWS):
            ours = sum(_singles(rules, data, rows, SINGLES, False))
            few = 5 if quick() or name in ("φ9", "φ10") else 20
            rival = _by_duckdb(rules[0], data, rows, few) * SINGLES
            says, whose = _PUBLISHED[name] if rows == ROWS else "a picture", f"DuckDB, one by one, from {few}"
            case, note = f"{name}, {rows:,} rows: {SINGLES:,} inserts", f"{ours / SINGLES * 1e6:.0f} µs each"
            yield Case(f"{case}, each a batch", ours, rival, whose, published=says, note=note, rows=rows)
            yield Case(f"{case}, one batch", _one_batch(rules, data, rows), rival, whose, published=says, rows=rows)


@benchmark("weever-F3", "Figure 3: twenty constraints at once that hold in a sample of 10,000 rows, ranked")
def many() -> Iterator[Case]:
    data = tax(ROWS + SINGLES)
    sample = data.slice(0, 1_000 if quick() else 10_000)
    texts = [field.name for field in data.schema if pa.types.is_string(field.type)]
    ranked = hf.discover(sample, "pod", max_lhs=2).denials()
    rules = [DenialConstraint.parse(rule["text"]) for rule, _ in zip(ranked, range(20), strict=False)]
    for rows in (ROWS // 10, ROWS):
        spent = _singles(rules, data, rows, SINGLES, False)
        anew, _ = timed(lambda rows=rows: found_in(grown(empty(data), data.slice(0, rows)).after, rules, Threads()), 1)  # type: ignore[misc]
        yield Case(
            f"{len(rules)} constraints, {rows:,} rows: {SINGLES:,} inserts one by one", sum(spent), anew,
            "ours, from scratch", published="a picture: two orders of magnitude below FACET, from scratch",
            note=f"{len(texts)} of {data.num_columns} columns are compared for equality alone", rows=rows,
        )  # fmt: skip


@benchmark("weever-F4", "Figure 4: two inequalities, with more and more violating rows: ours beside the paper's FETCH")
def violating() -> Iterator[Case]:
    """10,000 rows, of which all but some make no violation, one by one."""
    rows = 500 if quick() else 10_000
    for what, greater in (("one greater, one less (GL)", False), ("two greater (GG)", True)):
        for share in (0.0, 0.1, 0.5):
            data = _two_columns(rows, int(rows * share), greater)
            rule = DenialConstraint.parse(f"not(t.a > s.a and t.b {'>' if greater else '<'} s.b)")
            _all_in(rule, data.slice(0, 10), 1)  # compiles
            ours, count = _all_in(rule, data, rows // 100)
            rival = _by_fetch(data, greater)
            yield Case(
                f"{what}, {int(rows * share):,} violating of {rows:,} rows", ours, rival, "FETCH, compiled",
                published="a picture: the LT-tree is stable, FETCH grows", note=f"{count:,} violations", rows=rows,
            )  # fmt: skip


def _two_columns(rows: int, violating: int, greater: bool) -> pa.Table:
    numbers = np.random.default_rng(4)
    a = np.arange(rows)
    b = a[::-1].copy() if greater else a.copy()
    for place in numbers.choice(rows, violating, replace=False):
        b[place] = numbers.integers(b[place], rows) if greater else numbers.integers(0, b[place] + 1)
    order = numbers.permutation(rows)
    return pa.table({"a": a[order], "b": b[order]})


def _all_in(rule: DenialConstraint, data: pa.Table, batch: int) -> tuple[float, int]:
    """Seconds in which all rows come, in batches as the paper's rivals take them, and the violations at the end."""
    table = empty(data)
    watching, spent = found_in(table, [rule], Threads()), 0.0
    for begin in range(0, len(data), batch):
        change = grown(table, data.slice(begin, batch))
        table, started = change.after, perf_counter()
        watching.follow(change)
        spent += perf_counter() - started
    return spent, watching.found()[0].count


def _by_fetch(data: pa.Table, greater: bool) -> float:
    """Seconds in which the paper's index takes in the same rows, patient: it looks at all rows that have the marks."""
    ranks = np.stack([data["a"].to_numpy(), data["b"].to_numpy()]).astype(np.int32)
    boxes: Boxes = np.full((1, 2), FREE, np.uint8)
    boxes[0] = MORE, MORE if greater else LESS
    first = max(2, len(data) // 100)
    marks = (MORE, MORE if greater else LESS)
    opt_index(ranks, first, (0, 1), marks, boxes).probe(ranks, np.arange(first, first + 1))  # compiles
    index = opt_index(ranks, first, (0, 1), marks, boxes)
    started = perf_counter()
    index.probe(ranks, np.arange(first, len(data)))
    return perf_counter() - started


@benchmark("weever-F6", "Figure 6: constraints that share much, some or little: together, or one after the other")
def together() -> Iterator[Case]:
    data = tax(ROWS + SINGLES)
    sets = {
        "FDs of one left side, high": [f"not(t.Zip = s.Zip and t.{c} != s.{c})" for c in ("City", "State", "AreaCode")],
        "keys of two columns, medium": [
            f"not(t.{a} = s.{a} and t.{b} = s.{b})" for a, b in combinations(("Phone", "AreaCode", "Zip"), 2)
        ],
        "φ7 to φ10, low": list(RULES.values()),
    }
    for what, texts in sets.items():
        rules = [DenialConstraint.parse(text) for text in texts]
        _singles(rules, data, 1_000, 5, False)  # compiles
        ours = sum(_singles(rules, data, ROWS, SINGLES, False))
        alone = sum(sum(_singles([rule], data, ROWS, SINGLES, False)) for rule in rules)
        yield Case(
            f"{what} overlap: {len(rules)} constraints, {SINGLES:,} inserts", ours, alone, "ours, one after the other",
            published="a picture: the paper's schedule is the best of four", rows=ROWS,
        )  # fmt: skip


@benchmark("weever-F7", "Figure 7: φ10 by the size of batches")
def sizes() -> Iterator[Case]:
    count = SINGLES if quick() else 10_000
    data = tax(ROWS + count)
    (rule,) = rules_of("φ10")
    first: float | None = None
    for batch in (1, 10, 100, 1_000, 10_000):
        table = grown(empty(data), data.slice(0, ROWS)).after
        watching, spent = found_in(table, [rule], Threads()), []
        for begin in range(0, min(count, 1_000 * batch), batch):
            change = grown(table, data.slice(ROWS + begin, batch))
            table, started = change.after, perf_counter()
            watching.follow(change)
            spent.append((perf_counter() - started) / len(change.born))
        each = statistics.median(spent)
        first = first or each
        yield Case(
            f"batches of {batch:,}: a row", each, first, "ours, one by one", rows=ROWS,
            published="batches of 100 take about 25 % less than single rows",
        )  # fmt: skip


@benchmark("weever-F8", "Figure 8: rows deleted one by one")
def deletes() -> Iterator[Case]:
    data = tax(ROWS + SINGLES)
    plans: list[tuple[str, pa.Table, DenialConstraint]] = [(name, data, rules_of(name)[0]) for name in RULES]
    items = _lineitem(0.01 if quick() else 1)
    plans.append(("φ13", items, DenialConstraint.parse(CROSS)))
    for name, rows, rule in plans:
        have = len(rows) - SINGLES
        _singles([rule], rows, 1_000, 5, True)  # compiles
        ours: Callable[[bool], float] = lambda gone: sum(_singles([rule], rows, have, SINGLES, gone))  # noqa: B023, E731
        yield Case(
            f"{name}, {have:,} rows: {SINGLES:,} deletes", ours(True), ours(False), "ours, as many inserts",
            published="a picture: far below inserts", rows=have,
        )  # fmt: skip
