"""Minimal hitting sets of a family of edges: found, streamed, and mended when the family changes.

Edges and results are bitsets over up to 512 elements, as rows of 64-bit words. A set hits a family if it meets every
edge; it is minimal if no part of it does. The empty family is hit by the empty set; nothing hits an empty edge.

Results come in blocks, so that Ctrl-C, progress and the writing away of results happen in between.
Cost: some 200 ns a result on real tables (the 982,631 minimal FDs of a table of 109 columns: 0.25 s on one core).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.hitting import HittingSearch, advance, begin
from holdfast.kernels.hitting_repair import GROW_ONE, first_missed, grow, mark_minimal
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.blocks import Blocks
from holdfast.table.threads import SoFar

_BLOCK = 1 << 14
_STEPS = 1 << 20  # between two calls of `progress`: a tenth of a second or so
# Measured nanoseconds. A new search costs this at all, for each result that is known, and for each edge.
_SETUP_NS, _SEARCH_NS, _EDGE_NS = 50_000.0, 180.0, 200.0
# To mend: to look whether a set meets an edge; and to see which elements extend a set, for each word of an edge.
_SCAN_NS, _EXTEND_NS = 1.0, 0.5
_ROOM = 4096
# Each edge that vanished, if what came doesn't make up for it, asks for a search of its own; with more of them than
# this one search for all is cheaper. A sample mostly shows which is the case.
_FEW, _SAMPLE = 8, 64


def all_minimal_hitting_sets(
    edges: Words,
    *,
    max_size: int | None = None,
    within: Words | None = None,
    progress: SoFar = lambda _: None,
) -> Words:
    """All minimal hitting sets of at most `max_size` elements, and of elements `within` only.

    The array lies in a file where it is large. `progress` gets the number of results after each stretch of work; an
    exception it raises ends the search.
    """
    return _gathered(Family.of(edges), max_size, within, progress)


def _gathered(family: Family, max_size: int | None, within: Words | None, progress: SoFar) -> Words:
    blocks = Blocks(family.edges.shape[1])
    for block in _search(family, max_size, within, progress):
        blocks.add(block)
    return blocks.rows()


@dataclass(frozen=True, eq=False)
class Family:
    """Edges, small ones first, as one of the smallest is wanted each time; and for each element those that hold it."""

    edges: Words
    inside: Words

    @staticmethod
    def of(edges: Words) -> Family:
        """From the edges in any order."""
        edges = np.ascontiguousarray(edges[np.argsort(bitsets.sizes(edges), kind="stable")])
        return Family(edges, bitsets.holders(edges))


def _search(family: Family, max_size: int | None, within: Words | None, progress: SoFar) -> Iterator[Words]:
    words = family.edges.shape[1]
    if not len(family.edges):
        yield np.zeros((1, words), np.uint64)
        return
    most = 64 * words if max_size is None else max_size
    search = _started(family, most, within)
    block, total = np.empty((_BLOCK, words), np.uint64), 0
    while search.depth[0] >= 0:
        count = advance(search, most, _STEPS, block)
        total += count
        progress(total)
        if count:
            yield block[:count]


def _started(family: Family, most: int, within: Words | None) -> HittingSearch:
    """A search at its beginning."""
    edges, inside = family.edges, family.inside
    open_ = np.bitwise_or.reduce(edges, axis=0)
    if within is not None:
        open_ = open_ & within
    depth = 2 + min(len(edges), most, int(bitsets.sizes(open_[None])[0]))
    missed, once = np.zeros((2, depth, inside.shape[1]), np.uint64)
    opened, todo = np.zeros((2, depth, edges.shape[1]), np.uint64)
    missed[0], opened[0] = bitsets.first(len(edges), inside.shape[1]), open_
    search = HittingSearch(edges, inside, missed, once, opened, todo, np.zeros(depth, np.int64), np.zeros(1, np.int64))
    begin(search, most)
    return search


# ---- when the family changes ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Mended:
    """Minimal hitting sets after a change: all of them, those that went, and those that came."""

    sets: Words
    lost: Words
    gained: Words

    @staticmethod
    def between(known: Words, sets: Words) -> Mended:
        """What changed between the sets before and those after."""
        places = bitsets.places_among(sets, known)
        lost = np.ones(len(known), np.bool_)
        lost[places[places >= 0]] = False
        return Mended(sets, known[lost], sets[places < 0])


def mended(
    known: Words,
    before: Words,
    gone: Words,
    come: Words,
    *,
    max_size: int | None = None,
    progress: SoFar = lambda _: None,
) -> Mended:
    """The minimal hitting sets after a family lost the edges `gone` and got the edges `come`.

    They are mended, or found by a new search where that costs less.

    `known` are those of the family `before`, in which no edge contains another. Three exact steps. (1) Edges that come,
    one by one: a known set that misses the new edge gives way to its extensions by one element of the edge that are
    minimal. (2) Edges that go: a set that still is minimal stays. (3) A set that is new now misses an edge that went,
    so for each such edge a search among the elements outside it finds them. Which edges come first doesn't matter, as
    the result depends on the family alone. No set goes in one step and comes back in another: those of step 1 don't
    hit what came, those of step 2 aren't minimal, and what comes in step 3 is both.
    """
    extended, lifted = None, _not_above(gone[:_SAMPLE], come)
    looks = _SCAN_NS * (len(known) + len(gone)) * len(come)
    if len(lifted) <= _FEW and looks < _search_ns(len(known), len(before)):
        lifted = _not_above(gone, come)
        extended = _with_edges(known, before, come, max_size) if len(lifted) <= _FEW else None
    if extended is not None and not len(lifted):
        return extended
    after = np.concatenate([bitsets.minus(before, gone), come])
    if extended is None:
        return Mended.between(known, all_minimal_hitting_sets(after, max_size=max_size, progress=progress))
    return _without_edges(extended, len(known) - len(extended.lost), after, lifted, max_size, progress)


def _without_edges(now: Mended, old: int, after: Words, lifted: Words, max_size: int | None, progress: SoFar) -> Mended:
    """Steps 2 and 3; the first `old` sets were known before step 1."""
    family, mask = Family.of(after), np.empty(len(now.sets), np.bool_)
    mark_minimal(now.sets, lifted, family.inside, mask)
    fresh = [now.sets[old:][mask[old:]]]
    for place, edge in enumerate(lifted):
        found = _gathered(family, max_size, ~edge, progress)
        fresh.append(found[_meets_all(found, lifted[:place])])
    gained = np.concatenate(fresh)
    lost = np.concatenate([now.lost, now.sets[:old][~mask[:old]]])
    return Mended(np.concatenate([now.sets[:old][mask[:old]], gained]), lost, gained)


def _search_ns(known: int, edges: int) -> float:
    """About what a new search costs, with seeing what it changed."""
    return _SETUP_NS + _SEARCH_NS * known + _EDGE_NS * edges


def _with_edges(known: Words, before: Words, come: Words, max_size: int | None) -> Mended | None:
    """Step 1; None where it costs more than a new search. Sets known before stay in front."""
    missed = np.empty(len(known), np.int64)
    first_missed(np.ascontiguousarray(known), np.ascontiguousarray(come), missed)
    hit = missed < len(come)
    if not hit.any():
        return Mended(known, known[:0], known[:0])
    most = 64 * known.shape[1] if max_size is None else max_size
    lost, missed = known[hit], missed[hit]
    short = bitsets.sizes(lost) < most
    budget = _search_ns(len(known), len(before)) / _EXTEND_NS
    if 2 * np.count_nonzero(short) * (GROW_ONE + before.size) > budget:
        return None
    edges, found = np.concatenate([before, come]), np.empty((2 * len(known) + _ROOM, known.shape[1]), np.uint64)
    count = grow(lost[short], missed[short] + len(before), edges, most, budget, found)
    if count < 0:
        return None
    gained = found[:count].copy()
    return Mended(np.concatenate([known[~hit], gained]), lost, gained)


def _not_above(edges: Words, others: Words) -> Words:
    """The edges that contain none of the others: leaving out any other edge changes nothing."""
    return edges[bitsets.containers(~edges, ~others) < 0]


def _meets_all(sets: Words, edges: Words) -> NDArray[np.bool_]:
    mask = np.ones(len(sets), np.bool_)
    for edge in edges:
        mask &= (sets & edge).any(axis=1)
    return mask
