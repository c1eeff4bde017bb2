"""Keys and FDs: derived from the counted agree-sets, kept under batches, and approximate, beside Desbordante."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import desbordante
import pyarrow as pa
import pyarrow.csv

from benchmarks.data import shared
from benchmarks.frame import Case, Rss, benchmark, quick
from holdfast.engines.functional import FunctionalSettings
from holdfast.engines.functional.agree_sets import CountedAgreeSets, derived_covers
from holdfast.engines.functional.approximate import derive_approximate
from holdfast.engines.functional.engine import DependencyState, FunctionalEngine
from holdfast.engines.functional.wording import DependencyRules
from holdfast.engines.registry import rule_class
from holdfast.engines.thresholds import limit_of
from holdfast.engines.watched import WatchedTable
from holdfast.intake.source import ReadOptions
from holdfast.intake.tables import BatchReader, Sources, build_table
from holdfast.pairs import bitsets
from holdfast.pairs.maximal import Maximal
from holdfast.progress import Progress
from holdfast.table.change import Batch, Change
from holdfast.table.runner import Threads
from holdfast.table.table import Table

Found = set[tuple[tuple[int, ...], int]]


def texts_of(name: str, columns: int | None = None) -> pa.Table:
    """A data set with every value as text, so that both sides see the same; columns are called c0, c1, …"""
    with pa.csv.open_csv(shared(name)) as lines:
        types = dict.fromkeys(lines.schema.names, pa.string())
    options = pa.csv.ConvertOptions(column_types=types, strings_can_be_null=False)
    table = pa.csv.read_csv(shared(name), convert_options=options)
    return table.rename_columns([f"c{i}" for i in range(table.num_columns)]).select(range(columns or table.num_columns))


def encoded(texts: pa.Table, folder: str) -> Table:
    return build_table("t", texts, ReadOptions(), (), "equal", folder, None, Progress()).admitted.table


def by_number(rules: DependencyRules) -> Found:
    return {(tuple(bitsets.elements(lhs)), target) for target, part in rules.parts.items() for lhs in part.sets}


def executed(algorithm: Any, texts: pa.Table) -> float:
    """How long an algorithm of Desbordante's runs, loading aside."""
    algorithm.load_data(table=texts.to_pandas())
    started = time.perf_counter()
    algorithm.execute()
    return time.perf_counter() - started


def their_fds(texts: pa.Table) -> tuple[float, Found]:
    algorithm = desbordante.fd.algorithms.HyFD()
    seconds = executed(algorithm, texts)
    return seconds, {(tuple(sorted(fd.lhs_indices)), fd.rhs_index) for fd in algorithm.get_fds()}


def their_keys(texts: pa.Table) -> tuple[float, Found]:
    algorithm = desbordante.ucc.algorithms.HPIValid()
    seconds = executed(algorithm, texts)
    return seconds, {(tuple(sorted(key.indices)), texts.num_columns) for key in algorithm.get_uccs()}


def timed(work: Any, repeat: int = 3) -> tuple[float, Any]:
    """The median seconds of some runs after one that loads the kernels, and the last answer."""
    work()
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        answer = work()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds), answer


@benchmark("functional-derive", "keys and FDs from the counted agree-sets, beside Desbordante from scratch")
def deriving() -> Iterator[Case]:
    names = (
        ["hepatitis", "ncvoter_1k"] if quick() else ["hepatitis", "ncvoter_1k", "tax_10k", "adult", "letter", "claims"]
    )
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        for name in [*names, "flight_1k"]:
            texts = texts_of(name, 40 if quick() and name == "flight_1k" else None)
            counted = CountedAgreeSets.of(encoded(texts, folder), Threads(), Progress())
            yield from _derived(name, texts, counted)
        if not quick():
            yield from _bounded("uniprot_1k", folder)


def _derived(name: str, texts: pa.Table, counted: CountedAgreeSets) -> Iterator[Case]:
    columns, sets = texts.num_columns, counted.sets.sets
    with Rss() as weight:
        seconds, fds = timed(lambda: derived_covers(Maximal.of(sets, columns), range(columns)))
    rival, theirs = their_fds(texts)
    mine = {(tuple(bitsets.elements(lhs)), target) for target, part in fds.items() for lhs in part}
    wide = name == "flight_1k"
    yield Case(
        f"{name}, {len(mine):,} FDs of {columns} columns", seconds, rival, "HyFD, from scratch", weight.own_mb,
        mine == theirs, "8 s, 1 GB" if wide else "", (seconds < 8 and weight.own_mb < 1024) if wide else None,
        f"{len(sets):,} agree-sets", texts.num_rows,
    )  # fmt: skip
    seconds, keys = timed(lambda: derived_covers(Maximal.of(sets, columns), [columns]))
    rival, theirs = their_keys(texts)
    mine = {(tuple(bitsets.elements(lhs)), columns) for lhs in keys[columns]}
    yield Case(
        f"{name}, {len(mine):,} keys", seconds, rival, "HPIValid, from scratch", None, mine == theirs,
        "0.5 s" if wide else "", seconds < 0.5 if wide else None, rows=texts.num_rows,
    )  # fmt: skip


def _bounded(name: str, folder: str) -> Iterator[Case]:
    texts = texts_of(name)
    counted = CountedAgreeSets.of(encoded(texts, folder), Threads(), Progress())
    sets, columns = counted.sets.sets, texts.num_columns
    for targets, what in ((range(columns), "FDs"), (range(columns, columns + 1), "keys")):
        started = time.perf_counter()
        with Rss() as weight:
            found = derived_covers(Maximal.of(sets, columns), targets, 3)
        count = sum(len(part) for part in found.values())
        seconds = time.perf_counter() - started
        yield Case(
            f"{name}, {count:,} {what} of at most 3 columns", seconds, peak_rss_mb=weight.own_mb, goal="complete",
            met=True, note=f"{len(sets):,} agree-sets", rows=texts.num_rows,
        )  # fmt: skip


# ---- batches --------------------------------------------------------------------------------------------------------


@benchmark("functional-batches", "batches of 50 rows at the end: agree-sets, FDs and keys kept, beside a fresh search")
def batches() -> Iterator[Case]:
    plans: list[tuple[str, int | None, int]] = [("flight_1k", None, 5), ("hepatitis", None, 50)]
    if not quick():
        plans = [("adult", None, 50), ("claims", None, 50), *plans, ("flight_1k", None, 50), ("uniprot_1k", 3, 50)]
    for name, most, size in plans:
        for deleting in (False, True):
            with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
                yield _kept(name, most, size, 2 if name == "hepatitis" else 6, deleting, folder)


def _kept(name: str, most: int | None, size: int, count: int, deleting: bool, folder: str) -> Case:
    texts = texts_of(name)
    rows = texts.num_rows
    table = encoded(texts if deleting else texts.slice(0, rows - count * size), folder)
    engines = [FunctionalEngine(rule_class(name), FunctionalSettings(max_lhs=most)) for name in ("fd", "ucc")]
    watched = WatchedTable(table)
    states = [one.discover(watched, Threads()) for one in engines]
    pairs, rules, moved, why = [], [], [], []
    for number in range(count):
        change = _change(table, texts.slice(rows - (count - number) * size, size), deleting, folder)
        table = change.after
        started = time.perf_counter()
        watched.follow(change, Threads())
        pairs.append(time.perf_counter() - started)
        started = time.perf_counter()
        diffs = [one.follow(state, Batch([change]), Threads()) for one, state in zip(engines, states, strict=True)]
        rules.append(time.perf_counter() - started)
        moved.append(sum(len(diff.lost) + len(diff.gained) for diff in diffs))
        started = time.perf_counter()
        batch = Batch([change])
        explained = [one.explained(state, diff, batch) for one, state, diff in zip(engines, states, diffs, strict=True)]
        broken = sum(len(diff.witnesses) for diff in explained)
        why.append(time.perf_counter() - started)
    rival, equal = _derived_again(engines, states, table)
    ours = statistics.median(rules[1:])
    return Case(
        f"{name}, {size} {'deleted' if deleting else 'inserted'}: FDs and keys", ours, rival,
        "ourselves, derived again", None, equal, "30 ms" if name == "adult" else "",
        ours < 0.03 if name == "adult" else None,
        f"agree-sets {statistics.median(pairs[1:]) * 1000:.1f} ms more; {statistics.median(moved):,.0f} rules moved; "
        f"witnesses of {broken:,} broken ones, causes and scores {statistics.median(why[1:]) * 1000:.1f} ms more",
        rows,
    )  # fmt: skip


def _change(table: Table, some: pa.Table, deleting: bool, folder: str) -> Change:
    sources = Sources(deletes=some) if deleting else Sources(inserts=some)
    done = BatchReader(table, (), ReadOptions(), None, "error", folder, None, Progress()).admit(sources)
    return Change(table, done.table, done.born, done.dead)


def _derived_again(engines: list[FunctionalEngine], states: list[DependencyState], table: Table) -> tuple[float, bool]:
    """How long it takes to derive all from the agree-sets as they are, and whether all agree with what was kept."""
    counted, _ = CountedAgreeSets.of(table, Threads(), Progress()).dump()
    watched = WatchedTable(table, {f"{CountedAgreeSets.name}/{name}": array for name, array in counted.items()})
    started = time.perf_counter()
    fresh = [one.discover(watched, Threads()) for one in engines]
    seconds = time.perf_counter() - started
    same = (
        by_number(one.result(a)) == by_number(one.result(b)) for one, a, b in zip(engines, states, fresh, strict=True)
    )
    return seconds, all(same)


# ---- approximate ----------------------------------------------------------------------------------------------------


@benchmark("functional-approximate", "approximate FDs whose pair error is at most 1 %, beside Pyro")
def approximate() -> Iterator[Case]:
    name = "ncvoter_1k" if quick() else "adult"
    texts = texts_of(name)
    columns = texts.num_columns
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        table = encoded(texts, folder)
        counting, counted = timed(lambda: CountedAgreeSets.of(table, Threads(), Progress()), 1)
    sets, counts = counted.sets.sets, counted.sets.counts
    limit = limit_of(0.01, counted.sets.pairs)
    seconds, parts = timed(lambda: derive_approximate(sets, counts, columns, range(columns), limit))
    mine = {
        (tuple(bitsets.elements(lhs)), target): int(broken)
        for target, part in parts.items()
        for lhs, broken in zip(part.sets, part.broken, strict=True)
    }
    rival, theirs = _pyro(texts)
    yield Case(
        f"{name}, {len(mine):,} FDs at 1 %", seconds, rival, f"Pyro, {len(theirs):,} FDs from scratch", None,
        _agree(mine, theirs, counted, limit), "faster than Pyro", seconds + counting < rival,
        f"counting the pairs took {counting:.2f} s; equal but for rules with an error within 0.5 % "
        "of the threshold", texts.num_rows,
    )  # fmt: skip


def _pyro(texts: pa.Table) -> tuple[float, Found]:
    algorithm = desbordante.fd.algorithms.Pyro()
    algorithm.load_data(table=texts.to_pandas())
    started = time.perf_counter()
    algorithm.execute(error=0.01)
    seconds = time.perf_counter() - started
    return seconds, {(tuple(sorted(fd.lhs_indices)), fd.rhs_index) for fd in algorithm.get_fds()}


def _agree(mine: dict[tuple[tuple[int, ...], int], int], theirs: Found, counted: CountedAgreeSets, limit: int) -> bool:
    """All of Pyro's FDs hold; one that only one side has, has an error near the threshold, or contains one of ours
    that has.
    """
    near = {rule for rule, broken in mine.items() if broken > 0.995 * limit}
    for lhs, rhs in theirs - mine.keys():
        if counted.sets.agreeing(lhs, rhs) > limit or not any(set(a) <= set(lhs) and b == rhs for a, b in near):
            return False
    return mine.keys() - theirs <= near
