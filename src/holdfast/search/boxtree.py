"""Box trees for Python: rows go in and out by id and values, searches give pairs of query and row.

`holdfast.kernels.boxtree` says how it works and what it costs. This side owns the pools and their growth, and runs
searches in threads. A tree has one writer: no search may run while rows go in or out.

A tree can be written to a file and opened from there without being read: the leaves are mapped, and what a batch
changes is copied page by page (see `table/private_arrays.py`). The inner nodes, a twentieth of the bytes, are read
and checked when the tree is opened, so no search can go astray. A leaf is checked when a search or a batch first
reaches it.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import Damaged
from holdfast.kernels import boxdelete, boxprobe, boxtree
from holdfast.kernels.boxprobe import BoxQueries
from holdfast.kernels.boxtree import DAMAGED, FACTS, FAN, LEAF, LEAVES, MOST, NODES, Tree
from holdfast.table.private_arrays import PrivateArrays
from holdfast.table.runner import Threads

Ids = NDArray[np.int64]
Values = NDArray[np.int64]  # [dim, row]
Hits = tuple[NDArray[np.int64], Ids]  # pairs of query number and row id
_OF_LEAVES = ("ids", "values", "filled")
_OF_NODES = ("child", "lows", "highs", "fences", "below", "used")
_NARROW = ("filled", "child", "used")  # pools of 32 bits
_FILLING = LEAF * 3 // 4
_MANY = 1 << 14  # queries that are worth a second thread
_CHUNKS = 8
_AT_ONCE = 1 << 13  # rows that are put in at a time


class TooMany(Exception):
    """A search has more hits than the caller wants to hold."""


class BoxTree:
    """Rows with `dims` values each, sorted by the first two of them and summarised by all."""

    def __init__(self, rows: Values, ids: Ids) -> None:
        """A tree of some rows, which are sorted by the first two values and the id; few may come in any order."""
        self.dims = len(rows)
        self.rows = len(ids) if len(ids) > LEAF else 0
        leaves = max(1, -(-self.rows // _FILLING))
        self.pools = _pools(self.dims, leaves + leaves // 16 + 16, leaves // 24 + 64)
        self._file: PrivateArrays | None = None
        boxtree.load(self.pools, rows, ids, self.rows, leaves)
        if not self.rows:
            self.insert(rows, ids)

    # ---- in files ---------------------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a file stores of the tree: the pools with room to grow. What is in use by no row is wiped, for it may
        hold what was deleted.
        """
        self._look_at_all()  # damage must not get a new checksum
        leaves, nodes = int(self.pools.facts[LEAVES]), int(self.pools.facts[NODES])
        self._make_room(leaves // 16)
        _wipe(self.pools)
        kept = {name: getattr(self.pools, name)[: leaves + leaves // 16 + 64] for name in _OF_LEAVES}
        kept |= {name: getattr(self.pools, name)[: nodes + nodes // 16 + 64] for name in _OF_NODES}
        sums = np.empty(len(kept["ids"]), np.uint64)
        boxtree.sum_leaves(self.pools, sums)
        return {name: array.reshape(-1) for name, array in kept.items()} | {"facts": self.pools.facts, "sums": sums}

    @staticmethod
    def opened(file: PrivateArrays, dims: int, rows: int) -> BoxTree:
        """The tree whose arrays a file stores."""
        tree = BoxTree.__new__(BoxTree)
        tree.dims, tree.rows, tree._file = dims, rows, file
        flat = {name: file.read(name) for name in ("filled", *_OF_NODES, "facts", "sums")}
        flat |= {"ids": file.mapped("ids"), "values": file.mapped("values")}
        shapes = _shapes(dims)
        pools = {name: array.reshape(-1, *shapes.get(name, ())) for name, array in flat.items()}
        tree.pools = Tree(**pools, unseen=np.ones(len(pools["ids"]), np.bool_))
        return tree

    def _read_ahead(self) -> None:
        """Most of the leaves are about to be looked at."""
        if self._file is not None:
            self._file.read_ahead()

    def _look_at_all(self) -> None:
        self._read_ahead()
        boxtree.visit_all(self.pools)
        self._refuse_damage()

    def _refuse_damage(self) -> None:
        """Give out no answer that a damaged leaf had a part in."""
        if self._file is not None and self.pools.facts[DAMAGED]:
            leaf = int(self.pools.facts[DAMAGED])
            raise Damaged(self._file.path, f"leaf {leaf} of {len(self.pools.sums)} differs from its checksum")

    # ---- rows and searches ------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.rows

    @property
    def nbytes(self) -> int:
        """The bytes of the pools."""
        return sum(pool.nbytes for pool in self.pools)

    def contents(self) -> tuple[Values, Ids]:
        """All rows, by id."""
        self._look_at_all()
        pools, leaves = self.pools, int(self.pools.facts[LEAVES])
        there = np.arange(LEAF) < pools.filled[:leaves, None]
        ids = pools.ids[:leaves][there]
        order = np.argsort(ids)
        return np.stack([pools.values[:leaves, dim][there][order] for dim in range(self.dims)]), ids[order]

    def insert(self, rows: Values, ids: Ids) -> None:
        """Put rows in; neighbours in the tree should be neighbours in the batch."""
        for start in range(0, len(ids), _AT_ONCE):  # for a few at a time a little room is enough
            part = slice(start, start + _AT_ONCE)
            self._make_room(len(ids[part]))
            boxtree.insert(self.pools, np.ascontiguousarray(rows[:, part]), ids[part])
            self._refuse_damage()
        self.rows += len(ids)

    def delete(self, rows: Values, ids: Ids) -> None:
        """Take rows out, given the values under which they were put in."""
        if not len(ids):
            return
        gone = boxdelete.delete(self.pools, rows, ids)
        self._refuse_damage()
        self.rows -= gone
        if gone != len(ids):
            raise AssertionError(f"{len(ids) - gone} rows to delete were not in the index")

    def _make_room(self, rows: int) -> None:
        """Only a full block is split, each once, and then again for half a block of rows. Pools grow by a sixteenth at
        a time.
        """
        leaves, nodes = int(self.pools.facts[LEAVES]), int(self.pools.facts[NODES])
        leaves += min(rows, leaves + 2 * rows // LEAF) + 1
        nodes += min(rows, nodes + 2 * rows // FAN) + 64
        longer: dict[str, NDArray[Any]] = {}
        if len(self.pools.ids) < leaves:
            longer |= {name: _lengthened(getattr(self.pools, name), leaves + leaves // 16) for name in _OF_LEAVES}
            longer["unseen"] = np.pad(self.pools.unseen, (0, len(longer["ids"]) - len(self.pools.unseen)))
        if len(self.pools.used) < nodes:
            longer |= {name: _lengthened(getattr(self.pools, name), nodes + nodes // 16) for name in _OF_NODES}
        if longer:
            self.pools = self.pools._replace(**longer)

    def probe(self, question: BoxQueries, starts: NDArray[np.int64], limit: int) -> Hits:
        """All hits of box queries, which come in blocks; in threads where they are many. Raises TooMany beyond a
        limit.
        """
        blocks = len(starts) - 1
        try:
            if len(question.own) < _MANY:
                return self._probe(question, starts, 0, blocks, limit)
            self._read_ahead()
            parts = Threads().map(lambda cut: self._probe(question, starts, *cut, limit), _chunks(blocks))
        finally:
            self._refuse_damage()
        queries, rows = (np.concatenate(each) for each in zip(*parts, strict=True))
        if len(rows) > limit:
            raise TooMany
        return queries, rows

    def _probe(self, question: BoxQueries, starts: NDArray[np.int64], begin: int, end: int, limit: int) -> Hits:
        room = min(limit, 256 + len(question.own)) + 1
        queries, rows, found = np.empty(room, np.int64), np.empty(room, np.int64), np.zeros(1, np.int64)
        looks = _looks(end - begin)
        while True:
            begin = boxprobe.probe(self.pools, question, starts, begin, end, queries, rows, found, False, looks)
            if begin == end:
                break
            if looks[0] <= 0:
                looks[0] = MOST
                continue
            if room > limit:
                raise TooMany
            room = min(4 * room, limit + 1)
            queries.resize(room, refcheck=False)
            rows.resize(room, refcheck=False)
        count = int(found[0])
        if count > limit:
            raise TooMany
        return queries[:count], rows[:count]

    def first(self, question: BoxQueries, starts: NDArray[np.int64]) -> tuple[int, int] | None:
        """One hit of box queries, as query number and row id; the search ends with it."""
        queries, rows, found = np.empty(1, np.int64), np.empty(1, np.int64), np.zeros(1, np.int64)
        begin, end, looks = 0, len(starts) - 1, _looks(len(starts))
        while begin < end and not found[0]:
            begin = boxprobe.probe(self.pools, question, starts, begin, end, queries, rows, found, True, looks)
            looks[0] = MOST
        self._refuse_damage()
        return (int(queries[0]), int(rows[0])) if found[0] else None

    def count(self, question: BoxQueries) -> NDArray[np.int64]:
        """How many rows of the tree meet each query; where a query is in the tree and meets itself, it counts."""
        queries = len(question.own)
        counts = np.zeros(queries, np.int64)
        if queries < _MANY:
            boxprobe.count(self.pools, question, 0, queries, counts)
        else:
            self._read_ahead()
            Threads().map(lambda cut: boxprobe.count(self.pools, question, *cut, counts), _chunks(queries))
        self._refuse_damage()
        return counts


def _looks(blocks: int) -> NDArray[np.int64]:
    """How many nodes and leaves a probe may look at, at first: where it takes more than batches mostly do, it goes on
    from the block in which it stopped, as machine code.
    """
    return np.array([16 + 8 * blocks])


def _chunks(count: int) -> list[tuple[int, int]]:
    """Where to cut `count` blocks or queries for threads: each part from one up to before another."""
    return list(itertools.pairwise(count * i // _CHUNKS for i in range(_CHUNKS + 1)))


def single_blocks(queries: int) -> NDArray[np.int64]:
    """Blocks of one query each: for batches, whose neighbours lie far apart in a large table."""
    return np.arange(queries + 1)


def full_blocks(queries: int) -> NDArray[np.int64]:
    """Blocks as large as they may be: for sorted queries that are as many as the rows."""
    return np.append(np.arange(0, queries, _FILLING), queries)


def _shapes(dims: int) -> dict[str, tuple[int, ...]]:
    """What a pool has of each leaf or node."""
    of_leaves = {"ids": (LEAF,), "values": (dims, LEAF), "filled": ()}
    of_nodes = {"child": (FAN,), "lows": (dims, FAN), "highs": (dims, FAN), "fences": (FAN, 3), "below": (FAN,)}
    return {**of_leaves, **of_nodes, "used": ()}


def _pools(dims: int, leaves: int, nodes: int) -> Tree:
    pools = {
        name: np.zeros((leaves if name in _OF_LEAVES else nodes, *shape), np.int32 if name in _NARROW else np.int64)
        for name, shape in _shapes(dims).items()
    }
    facts, unseen = np.zeros(FACTS, np.int64), np.zeros(leaves, np.bool_)
    return Tree(**pools, facts=facts, unseen=unseen, sums=np.empty(0, np.uint64))


def _wipe(pools: Tree) -> None:
    """Write zeros wherever no row and no entry is. What is zero is not written, so that no page is copied for it."""
    for names, used in ((("ids", "values"), pools.filled), (("child", "lows", "highs", "below"), pools.used)):
        for name in names:
            pool = getattr(pools, name)
            free = np.arange(pool.shape[-1]) >= used[:, None]
            pool[(free if pool.ndim == 2 else free[:, None]) & (pool != 0)] = 0
    pools.fences[np.arange(FAN) >= pools.used[:, None]] = 0


def _lengthened(pool: NDArray[Any], length: int) -> NDArray[Any]:
    """A longer array with the same content. One of ours grows in place: the system moves pages of large ones, not
    bytes.
    """
    if pool.flags.owndata:
        pool.resize((length, *pool.shape[1:]), refcheck=False)
        return pool
    longer = np.zeros((length, *pool.shape[1:]), pool.dtype)
    longer[: len(pool)] = pool
    return longer
