"""Approximate keys and FDs by g1: all minimal ones that few enough pairs break (papers: dynast, section 6).

This is for tables of which all pairs were counted; see `level_search` for taller ones.

The g3 of keys and FDs, the share of rows to remove, is computed in `groups`; it bounds no search.

The error of `X -> A` is g1, the share of all unordered pairs of rows, n (n - 1) / 2, that agree on X and not on A; that
of a key the share that agrees on X. A rule is reported iff its error is at most the threshold (decided in whole pairs,
see `thresholds`) and that of no rule with a part of its left side is. Errors fall as X grows.

Only the counted distinct agree-sets are looked at, never the rows. Two algorithms, same answers:
- up to NARROW columns, for all X at once: `at[X]`, the pairs that agree on X, is the sum of counts over the supersets
  of X, which one pass a column makes (the zeta transform), and the error of `X -> A` is `at[X] - at[X + A]`.
  2^columns numbers and some passes over them: 10 ms for the 15 columns of adult.
- beyond, target by target, a search for minimal hitting sets that may miss edges up to a weight. Output may be huge
  where many columns each help a little: `max_lhs` bounds it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from holdfast.borders.cover import Cover
from holdfast.kernels.hitting_weighted import Weighted, advance_weighted, begin_weighted
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.blocks import Blocks
from holdfast.table.threads import OnProgress, SoFar, each

Counts = NDArray[np.int64]

NARROW = 17
_BLOCK = 1 << 13
_STEPS = 1 << 14


def derive_approximate(
    sets: Words,
    counts: Counts,
    columns: int,
    targets: Iterable[int],
    limit: int,
    max_lhs: int | None = None,
    progress: OnProgress | None = None,
) -> dict[int, Cover]:
    """The minimal left sides of some targets that at most `limit` pairs break; the target `columns` stands for keys."""
    if columns <= NARROW:
        at = agreeing(sets, counts, columns)
        return {target: _narrow(at, columns, target, limit, max_lhs) for target in targets}
    sets = bitsets.widened(sets, bitsets.words_for(columns + 1))
    chosen, work = list(targets), partial(_wide, sets, counts, columns, limit, max_lhs)
    return dict(zip(chosen, each(chosen, work, progress=progress), strict=True))


# ---- all left sides at once -----------------------------------------------------------------------------------------


def agreeing(sets: Words, counts: Counts, columns: int) -> Counts:
    """For each set X of columns, as a number, how many pairs agree on X."""
    at = np.zeros(1 << columns, np.int64)
    np.add.at(at, sets[:, 0].astype(np.int64) if sets.shape[1] else np.zeros(len(counts), np.int64), counts)
    for c in range(columns):
        halves = at.reshape(-1, 2, 1 << c)
        halves[:, 0] += halves[:, 1]
    return at


def _narrow(at: Counts, columns: int, target: int, limit: int, max_lhs: int | None) -> Cover:
    broken = at
    if target < columns:
        halves = at.reshape(-1, 2, 1 << target)
        broken = np.full(at.shape, limit + 1)
        broken.reshape(halves.shape)[:, 0] = halves[:, 0] - halves[:, 1]
    good = broken <= limit
    minimal = good.copy()
    for c in range(columns):
        with_c = minimal.reshape(-1, 2, 1 << c)[:, 1]
        with_c &= ~good.reshape(-1, 2, 1 << c)[:, 0]
    chosen = np.flatnonzero(minimal)
    lhs = np.zeros((len(chosen), bitsets.words_for(columns + 1)), np.uint64)
    lhs[:, 0] = chosen
    part = Cover(lhs, broken[chosen])
    return part if max_lhs is None else part.some(bitsets.sizes(lhs) <= max_lhs)


# ---- a search for each target ---------------------------------------------------------------------------------------


def _wide(
    sets: Words, counts: Counts, columns: int, limit: int, max_lhs: int | None, target: int, progress: SoFar
) -> Cover:
    lacking = ~bitsets.has(sets, target)
    words = sets.shape[1]
    edges = ~sets[lacking] & bitsets.first(columns, words) & ~bitsets.of([target], words)
    weights = counts[lacking]
    if int(weights.sum()) <= limit:
        return Cover(np.zeros((1, words), np.uint64), np.array([weights.sum()], np.int64))
    most = columns if max_lhs is None else max_lhs
    lhs, broken = Blocks(words), Blocks(1)
    found, missing = np.empty((_BLOCK, words), np.uint64), np.empty(_BLOCK, np.int64)
    search = _started(edges, weights, limit)
    while search.depth[0] >= 0 and most > 0:
        count = advance_weighted(search, limit, most, _STEPS, found, missing)
        lhs.add(found[:count])
        broken.add(missing[:count, None].view(np.uint64))
        progress(len(lhs))
    return Cover(lhs.rows(), broken.rows()[:, 0].view(np.int64))


def _started(edges: Words, weights: Counts, limit: int) -> Weighted:
    heaviest = np.argsort(-weights, kind="stable")
    edges, weights = np.ascontiguousarray(edges[heaviest]), weights[heaviest]
    inside = bitsets.holders(edges)
    (count, words), edge_words = edges.shape, inside.shape[1]
    open_ = np.bitwise_or.reduce(edges, axis=0)
    depth = 2 + int(bitsets.sizes(open_[None])[0])
    missed, once = np.zeros((2, depth, edge_words), np.uint64)
    opened, todo = np.zeros((2, depth, words), np.uint64)
    missed[0], opened[0] = bitsets.first(count, edge_words), open_
    leave, chosen, at = np.zeros(depth, np.bool_), np.zeros(depth, np.int64), np.zeros(1, np.int64)
    search = Weighted(edges, weights, inside, missed, once, opened, todo, leave, chosen, at)
    begin_weighted(search, limit)
    return search
