"""Which pointwise rules a batch breaks: our looks at the rows, beside a join by DuckDB and the paper's indexes."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
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
from holdfast.engines.pointwise import row_samples
from holdfast.engines.pointwise.boxes import EQUAL, FREE, LESS, MORE, Boxes, Space, canonical, mirrored
from holdfast.engines.pointwise.engine import PointwiseEngine
from holdfast.engines.pointwise.sweeps import first_pairs
from holdfast.engines.registry import make_engine
from holdfast.engines.watched import WatchedTable
from holdfast.kernels.boxprobe import EQ, GE, GT, LE, LT, OTHERS, BoxQueries
from holdfast.search.boxtree import BoxTree, single_blocks
from holdfast.table.runner import Threads

_LIMIT = 20.0  # seconds for one query of DuckDB's
_OPERATORS = {LESS: LT, LESS | EQUAL: LE, EQUAL: EQ, EQUAL | MORE: GE, MORE: GT}
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
    order = np.random.default_rng(3).permutation(travel.num_rows)  # new rows lie among the old ones
    before = table_of(travel.take(np.sort(order[:early])), folder)
    engine = make_engine("pod", {"max_lhs": 3, "method": "borders"})
    assert isinstance(engine, PointwiseEngine)
    state = engine.discover(WatchedTable(before), Threads())
    boxes = _plain(state.now.reported.boxes)
    change = change_of(before, folder, inserts=travel.take(order[early : early + size]))
    rows = RankedColumns(change.after)
    return World(rows, early, tuple(travel.column_names), boxes[:20] if quick() else boxes)


def _plain(boxes: Boxes) -> Boxes:
    """Boxes in which a column that is not equal is one that is less, or one that is more: so the paper looks for them.
    Those with one mark, that a column has one value, are left out: no index is for them.
    """
    apart = [np.where(boxes == LESS | MORE, np.uint8(mark), boxes) for mark in (LESS, MORE)]
    plain: Boxes = np.unique(canonical(np.concatenate(apart)), axis=0)
    chosen: Boxes = plain[(plain != FREE).sum(axis=1) > 1]
    return chosen


@benchmark(
    "pod-probes", "which pointwise rules of the flights 1,000 new ones break: by ours, DuckDB and the paper's indexes"
)
def probes() -> Iterator[Case]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        world = _world(folder)
        trees = Trees(world)
        trees.take_in()
        equalities, marks = (world.boxes == EQUAL).sum(axis=1), (world.boxes != FREE).sum(axis=1)
        for what, some, least in (
            ("with equalities", equalities > 0, 4),
            ("of two inequalities", (equalities == 0) & (marks == 2), 1_000),
            ("of more inequalities", (equalities == 0) & (marks > 2), 1_000),
        ):
            yield from _beside_duckdb(world, trees, what, np.flatnonzero(some), least)
        yield from _beside_indexes(world, trees)


class Trees:
    """Box trees of the rows before the batch, one for all rules about the same columns; they take the batch in."""

    def __init__(self, world: World) -> None:
        self._ranks, self._trees, started = world.rows.cells.astype(np.int64), {}, time.perf_counter()
        self._columns = [self._by_use(box) for box in world.boxes.tolist()]
        for columns in dict.fromkeys(self._columns):
            values = self._ranks[list(columns), : world.fresh]
            order = np.lexsort((np.arange(world.fresh), values[min(1, len(columns) - 1)], values[0]))
            self._trees[columns] = BoxTree(values[:, order], order)
        self.making = time.perf_counter() - started
        self._world = world

    def __len__(self) -> int:
        return len(self._trees)

    @staticmethod
    def _by_use(box: list[int]) -> tuple[int, ...]:
        """The columns that a box has marks on, equalities first: rows are sorted by two of them."""
        marked = [c for c, mark in enumerate(box) if mark != FREE]
        return tuple(sorted(marked, key=lambda c: box[c] != EQUAL))

    def take_in(self) -> None:
        """The rows of the batch."""
        for columns, tree in self._trees.items():
            tree.insert(self._ranks[list(columns)][:, self._world.new_rows], self._world.new_rows)

    def breaks(self, rule: int) -> bool:
        """Whether a pair of rows with a new one breaks a rule."""
        columns, new = list(self._columns[rule]), self._world.new_rows
        ranks = self._ranks[columns][:, new]
        for box in (self._world.boxes[rule], mirrored(self._world.boxes[rule])):
            operators = np.array([_OPERATORS[int(box[c])] for c in columns], np.int64)
            question = BoxQueries(np.arange(len(columns)), operators, ranks, new, OTHERS, 0, 0)
            if self._trees[self._columns[rule]].first(question, single_blocks(len(new))) is not None:
                return True
        return False


def broken_by(world: World, boxes: Boxes) -> list[bool]:
    """Which rules the batch breaks, each looked at by itself."""
    return [first >= 0 for first, _ in first_pairs(world.rows, world.space, boxes, world.fresh).tolist()]


def broken_by_scan(world: World, boxes: Boxes) -> list[bool]:
    """The same by comparing each new row with all rows, once for all rules."""
    samples = row_samples.against_all(world.rows, world.fresh)
    wanted = np.unique(np.concatenate([boxes, mirrored(boxes)]), axis=0)
    pairs = row_samples.pairs_in(world.rows, world.space, wanted, samples)
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


def _beside_duckdb(world: World, trees: Trees, what: str, rules: Ints, least: int) -> Iterator[Case]:
    """Some rules, one by one. Neither the tables nor the trees are made then."""
    duck = Duck(world)
    some = rules[:: max(1, len(rules) // 3)][:3].tolist()
    ours, theirs, same, stopped = [], [], True, 0
    for rule in some:
        trees.breaks(rule)  # loads kernels
        seconds, mine = timed(lambda rule=rule: trees.breaks(rule), 5)  # type: ignore[misc]
        rival, expected = duck.breaks(world.boxes[rule].tolist())
        ours.append(seconds)
        theirs.append(rival)
        same &= expected is None or expected == mine
        stopped += expected is None
    if len(some):
        middle, rival = statistics.median(ours), statistics.median(theirs)
        slowest = f"slowest {max(ours) * 1e3:.1f} ms and {max(theirs):.2f} s"
        yield Case(
            f"{len(some)} rules {what}, one by one: {len(world.new_rows):,} new rows", middle, rival,
            "DuckDB, a join with the batch", equal=same, goal=f"{least:,}x", met=rival >= least * middle,
            note=f"medians; {slowest}; {stopped} stopped at {_LIMIT:g} s",
        )  # fmt: skip


# ---- the paper's indexes --------------------------------------------------------------------------------------------


def _beside_indexes(world: World, trees: Trees) -> Iterator[Case]:
    """All rules. Indexes and trees are made before, and take the batch in."""
    note, rival, broken = _by_indexes(world)
    checks = len(world.boxes) * len(world.new_rows)

    def by_trees() -> list[bool]:
        return [trees.breaks(rule) for rule in range(len(world.boxes))]

    ways: dict[str, Callable[[], list[bool]]] = {
        f"in {len(trees)} box trees": by_trees,
        "each by itself": lambda: broken_by(world, world.boxes),
        "all in one scan": lambda: broken_by_scan(world, world.boxes),
    }
    for how, run in ways.items():
        run()  # loads kernels
        ours, mine = timed(run, 3)
        yield Case(
            f"{len(world.boxes)} rules, {how}: a row and rule", ours / checks, rival / checks, "the paper's Fetch",
            equal=mine == broken, goal="50x", met=rival >= 50 * ours, note=f"{note}; {sum(mine)} rules broken",
        )  # fmt: skip


def _by_indexes(world: World) -> tuple[str, float, list[bool]]:
    """What the paper's indexes are like, how long they take, and what they find."""
    ranks, boxes = world.rows.cells[:, : world.rows.count].astype(np.int32), world.boxes
    chosen, chains, candidates = choose_indexes(ranks[:, : world.fresh], boxes), [], 0
    making, probing, broken = 0.0, 0.0, np.zeros(len(boxes), np.bool_)
    for choice in chosen:
        begun = time.perf_counter()
        index = choice.made(ranks, world.fresh, boxes)
        index.probe(ranks, world.new_rows[:0], patient=False)  # loads kernels
        made = time.perf_counter()
        found = index.probe(ranks, world.new_rows, patient=False)
        making, probing = making + made - begun, probing + time.perf_counter() - made
        candidates += int(found.tally[0])
        broken[list(choice.rules)] = found.broken[:, 0] >= 0
        chains += [index.rank] if isinstance(index, PairIndex) else []
    share = candidates / max(1, len(boxes) * len(world.new_rows) * world.fresh)
    note = (
        f"{len(chosen)} indexes, made in {making:.1f} s, {len(chains)} of them chains: median "
        f"{statistics.median(chains or [0]):g}, most {max(chains, default=0):,}; candidates {share:.1%} of the rows"
    )
    return note, probing, broken.tolist()
