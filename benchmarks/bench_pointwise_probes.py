"""Which pointwise rules a batch breaks: our looks at the rows, beside a join by DuckDB and the paper's indexes."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.bench_pairs import change_of, table_of
from benchmarks.bench_pointwise import EARLY, ordered_flights
from benchmarks.frame import Case, benchmark, quick, timed
from benchmarks.incpod import PairIndex, choose_indexes
from holdfast.borders.rows import RankedColumns
from holdfast.engines.pointwise import sampling
from holdfast.engines.pointwise.boxes import folded
from holdfast.engines.pointwise.engine import PointwiseEngine
from holdfast.engines.pointwise.marks import EQUAL, FREE, LESS, MORE, Boxes, Space, mirrored
from holdfast.engines.pointwise.proving import first_pairs
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.table.runner import Threads

_LIMIT = 60.0  # seconds for one query of DuckDB's
_COMPARED = {LESS: "<", LESS | EQUAL: "<=", EQUAL: "=", EQUAL | MORE: ">=", MORE: ">"}
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class World:
    """A table before and after a batch of inserts, as ranks; and the rules that held before it, as boxes."""

    rows: RankedColumns
    fresh: int  # the first row of the batch
    names: tuple[str, ...]
    boxes: Boxes

    @property
    def space(self) -> Space:
        """All columns are ordered."""
        return Space((True,) * len(self.names))

    @property
    def new_rows(self) -> Ints:
        """The rows of the batch."""
        return np.arange(self.fresh, self.rows.count)


def _world(folder: str) -> World:
    travel = ordered_flights()
    early, size = (3_000, 100) if quick() else (EARLY, 1_000)
    before = table_of(travel.slice(0, early), folder)
    engine = make_engine("pod", {"max_lhs": 3, "method": "borders"})
    assert isinstance(engine, PointwiseEngine)
    state = engine.discover(WatchedTable(before), Threads())
    boxes = _plain(state.rules.boxes(state.asked.space))
    change = change_of(before, folder, inserts=travel.slice(early, size))
    rows = RankedColumns(change.after)
    return World(rows, early, tuple(travel.column_names), boxes[:20] if quick() else boxes)


def _plain(boxes: Boxes) -> Boxes:
    """Boxes in which a column that is not equal is one that is less, or one that is more: so the paper looks for them.
    Those with one mark, that a column has one value, are left out: no index is for them.
    """
    apart = [np.where(boxes == LESS | MORE, np.uint8(mark), boxes) for mark in (LESS, MORE)]
    plain: Boxes = np.unique(folded(np.concatenate(apart)), axis=0)
    chosen: Boxes = plain[(plain != FREE).sum(axis=1) > 1]
    return chosen


@benchmark(
    "pod-probes", "which pointwise rules of the flights 1,000 new ones break: by ours, DuckDB and the paper's indexes"
)
def probes() -> Iterator[Case]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        world = _world(folder)
        equalities = (world.boxes == EQUAL).any(axis=1)
        for what, some, least in (("with equalities", equalities, 4), ("without", ~equalities, 1_000)):
            yield from _beside_duckdb(world, what, world.boxes[some], least)
        yield from _beside_indexes(world)


def broken_by(world: World, boxes: Boxes) -> list[bool]:
    """Which rules the batch breaks, each looked at by itself."""
    return [first >= 0 for first, _ in first_pairs(world.rows, world.space, boxes, world.fresh).tolist()]


def broken_by_scan(world: World, boxes: Boxes) -> list[bool]:
    """The same by comparing each new row with all rows, once for all rules."""
    samples = sampling.against_all(world.rows, world.fresh)
    wanted = np.unique(np.concatenate([boxes, mirrored(boxes)]), axis=0)
    pairs = sampling.pairs_in(world.rows, world.space, wanted, samples)
    one, other = (world.rows.cells[:, pairs[:, side]].T for side in range(2))
    values = np.select([one < other, one == other], [LESS, EQUAL], MORE).astype(np.uint8)
    both = np.concatenate([values, mirrored(values)])
    return [bool((both & box).all(axis=1).any()) for box in boxes]


# ---- DuckDB ---------------------------------------------------------------------------------------------------------


class Duck:
    """The ranks in DuckDB: rows, and which of them are new."""

    def __init__(self, world: World) -> None:
        import duckdb  # here, so that the other benchmarks weigh the product alone

        self._database = duckdb.connect()
        self._database.execute("SET threads = 2; SET enable_progress_bar = false")
        cells = world.rows.cells[:, : world.rows.count]
        given = pa.table({"id": np.arange(world.rows.count)} | {f"c{c}": column for c, column in enumerate(cells)})
        self._database.register("given", given)
        self._database.execute("CREATE TABLE rows AS SELECT * FROM given")
        self._database.execute(f"CREATE TABLE fresh AS SELECT * FROM given WHERE id >= {world.fresh}")

    def breaks(self, box: Sequence[int]) -> tuple[float, bool | None]:
        """Seconds, and whether a pair with a new row lies in a box; None where it was stopped."""
        marks = [(c, mark) for c, mark in enumerate(box) if mark != FREE]
        started, broken = time.perf_counter(), False
        for first, second in (("rows", "fresh"), ("fresh", "rows")):
            where = " AND ".join(f"t.c{c} {_COMPARED[mark]} s.c{c}" for c, mark in marks)
            found = self._asked(f"SELECT count(*) FROM {first} t JOIN {second} s ON {where} WHERE t.id <> s.id")
            if found is None:
                return time.perf_counter() - started, None
            broken |= found > 0
        return time.perf_counter() - started, broken

    def _asked(self, query: str) -> int | None:
        import duckdb

        stop = threading.Timer(_LIMIT, self._database.interrupt)
        stop.start()
        try:
            answer: Any = self._database.execute(query).fetchone()
        except duckdb.InterruptException:
            return None
        finally:
            stop.cancel()
        return int(answer[0])


def _beside_duckdb(world: World, what: str, boxes: Boxes, least: int) -> Iterator[Case]:
    """Some rules, one by one."""
    duck = Duck(world)
    some = boxes[:: max(1, len(boxes) // 3)][:3]
    ours, theirs, same, stopped = [], [], True, 0
    for box in some:
        broken_by(world, box[None])  # loads kernels
        seconds, mine = timed(lambda box=box: broken_by(world, box[None])[0], 3)  # type: ignore[misc]
        rival, told = duck.breaks(box.tolist())
        ours.append(seconds)
        theirs.append(rival)
        same &= told is None or told == mine
        stopped += told is None
    if len(some):
        middle, rival = statistics.median(ours), statistics.median(theirs)
        slowest = f"slowest {max(ours) * 1e3:.1f} ms and {max(theirs):.2f} s"
        yield Case(
            f"{len(some)} rules {what}, one by one: {len(world.new_rows):,} new rows", middle, rival,
            "DuckDB, a join with the batch", equal=same, goal=f"{least:,}x", met=rival >= least * middle,
            note=f"medians; {slowest}; {stopped} stopped at {_LIMIT:g} s",
        )  # fmt: skip


# ---- the paper's indexes --------------------------------------------------------------------------------------------


def _beside_indexes(world: World) -> Iterator[Case]:
    """All rules. The indexes are made before, and take the batch in as they are asked."""
    ranks, boxes = np.ascontiguousarray(world.rows.cells[:, : world.rows.count]), world.boxes
    chosen = choose_indexes(ranks[:, : world.fresh], boxes)
    started = time.perf_counter()
    indexes = [choice.made(ranks, world.fresh) for choice in chosen]
    making = time.perf_counter() - started
    chains = [index.rank for index in indexes if isinstance(index, PairIndex)]
    broken, candidates, rival = np.zeros(len(boxes), np.bool_), 0, 0.0
    for choice, index in zip(chosen, indexes, strict=True):
        own = boxes[list(choice.rules)]
        index.probe(ranks, world.new_rows[:0], own, patient=False)  # loads kernels
        started = time.perf_counter()
        found = index.probe(ranks, world.new_rows, own, patient=False)
        rival += time.perf_counter() - started
        candidates += int(found.tally[0])
        broken[list(choice.rules)] = found.broken[:, 0] >= 0
    asked = len(boxes) * len(world.new_rows)
    share = candidates / max(1, asked * world.fresh)
    note = (
        f"{len(indexes)} indexes, made in {making:.1f} s; chains of those on two columns: median "
        f"{statistics.median(chains or [0]):g}, most {max(chains or [0]):,}; candidates {share:.1%} of the rows; "
    )
    for how, run in (("each by itself", broken_by), ("all in one scan", broken_by_scan)):
        run(world, boxes)  # loads kernels
        ours, mine = timed(lambda run=run: run(world, boxes), 3)  # type: ignore[misc]
        yield Case(
            f"{len(boxes)} rules, {how}: a row and rule", ours / asked, rival / asked, "the paper's Fetch",
            equal=mine == broken.tolist(), goal="50x", met=rival >= 50 * ours, note=f"{note}{sum(mine)} rules broken",
        )  # fmt: skip
