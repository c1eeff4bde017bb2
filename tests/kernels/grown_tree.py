"""A box tree that grows and shrinks beside a plain list of its rows: equal answers, and a sound structure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.boxprobe import BELOW, NE, OLDER, OTHERS, YOUNGER, BoxQueries
from holdfast.kernels.boxtree import HEIGHT, LEAST, MOST, ROOT
from holdfast.search.boxtree import BoxTree, full_blocks, single_blocks
from holdfast.search.sorting import sorted_order

COMPARE = (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
Ints = NDArray[np.int64]


def brute(rows: Ints, ids: Ints, question: BoxQueries) -> set[tuple[int, int]]:
    """By definition; the least integer is null, and nothing holds of it."""
    found = set()
    for i, own in enumerate(question.own.tolist()):
        good = np.ones(len(ids), np.bool_)
        for k in range(len(question.dims)):
            values = rows[question.dims[k]]
            good &= COMPARE[question.ops[k]](values, question.operands[k, i]) & (values != LEAST)
        partner = {
            OTHERS: ids != own,
            YOUNGER: ids > own,
            OLDER: ids < own,
            BELOW: ids < question.bound,
        }[question.partners]
        found |= {(i, int(row)) for row in ids[good & partner]}
    return found


def draw_question(rng: np.random.Generator, dims: int, span: int, ids: int, queries: int = 20) -> BoxQueries:
    count = int(rng.integers(0, 5))
    on, ops = rng.integers(0, dims, count), rng.integers(0, 6, count)
    order = np.lexsort((ops == NE, on))
    keys = rng.integers(0, span, (count, queries))
    if rng.random() < 0.2:
        keys = np.where(rng.random(keys.shape) < 0.3, MOST, keys)
    own = rng.integers(0, max(ids, 1), queries)
    return BoxQueries(on[order], ops[order], keys, own, int(rng.integers(0, 4)), int(rng.integers(0, ids + 1)))


class Grown:
    """A tree, and its rows in a list."""

    def __init__(self, rng: np.random.Generator, dims: int, span: int, size: int) -> None:
        self.rng, self.span = rng, span
        rows = self.draw(dims, size)
        self.rows = np.take(rows, sorted_order(list(rows[:2]), size), axis=1)
        self.alive = np.ones(size, np.bool_)
        self.tree = BoxTree(self.rows, np.arange(size))

    def draw(self, dims: int, size: int) -> Ints:
        rows = self.rng.integers(0, self.span, (dims, size))
        rows[1:][self.rng.random(rows[1:].shape) < 0.05] = LEAST
        return rows

    def insert(self, size: int) -> None:
        new = self.draw(len(self.rows), size)
        self.tree.insert(new, np.arange(size) + len(self.alive))
        self.rows = np.concatenate([self.rows, new], axis=1)
        self.alive = np.append(self.alive, np.ones(size, np.bool_))

    def delete(self, share: float) -> None:
        dead = np.flatnonzero(self.alive & (self.rng.random(len(self.alive)) < share))
        self.rng.shuffle(dead)
        self.tree.delete(np.take(self.rows, dead, axis=1), dead)
        self.alive[dead] = False

    def check(self) -> None:
        living = np.flatnonzero(self.alive)
        assert len(self.tree) == len(living)
        question = draw_question(self.rng, len(self.rows), self.span, len(self.alive))
        rows = np.take(self.rows, living, axis=1)
        contents, ids = self.tree.contents()
        assert np.array_equal(ids, living)
        assert np.array_equal(contents, rows)
        for starts in (single_blocks(20), full_blocks(20)):
            queries, hits = self.tree.probe(question, starts, 10**9)
            found = list(zip(queries.tolist(), hits.tolist(), strict=True))
            assert len(found) == len(set(found))
            assert set(found) == brute(rows, living, question)
        everyone = question._replace(partners=OTHERS, own=np.full(20, -1))
        expected = np.bincount([i for i, _ in brute(rows, living, everyone)], minlength=20)
        assert self.tree.count(everyone).tolist() == expected.tolist()
        check_structure(self.tree)


def check_structure(tree: BoxTree) -> None:
    """The invariants of the module's head."""
    pools = tree.pools
    seen: list[tuple[int, int, int]] = []

    def walk(node: int, level: int) -> None:
        assert pools.used[node] >= 1
        for entry in range(pools.used[node]):
            first = len(seen)
            child = int(pools.child[node, entry])
            if level > 1:
                walk(child, level - 1)
            else:
                size = int(pools.filled[child])
                values = pools.values[child, :, :size]
                second = values[1] if len(values) > 1 else np.zeros(size, np.int64)
                seen.extend(zip(values[0].tolist(), second.tolist(), pools.ids[child, :size].tolist(), strict=True))
            assert pools.below[node, entry] == len(seen) - first
            fence = tuple(int(part) for part in pools.fences[node, entry])
            assert all(fence <= row for row in seen[first:])
            assert all(row < fence for row in seen[:first])
            if len(seen) > first:
                inside = [row[0] for row in seen[first:]]
                assert (pools.lows[node, 0, entry], pools.highs[node, 0, entry]) == (min(inside), max(inside))

    walk(int(pools.facts[ROOT]), int(pools.facts[HEIGHT]))
    assert seen == sorted(seen)
