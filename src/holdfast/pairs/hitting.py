"""Minimal hitting sets of a family of edges: found, streamed, and mended when the family changes.

Edges and results are bitsets over up to 512 elements, as rows of 64-bit words. A set hits a family if it meets every
edge; it is minimal if no part of it does. The empty family is hit by the empty set; nothing hits an empty edge.

Results come in blocks, so that Ctrl-C, progress and the writing away of results happen in between.
Cost: some 200 ns a result on real tables (the 982,631 minimal FDs of a table of 109 columns: 0.25 s on one core).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.hitting import Search, advance, begin, fill_inside
from holdfast.kernels.hitting_repair import extend, mark_minimal, mark_missing
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.blocks import Blocks

_BLOCK = 1 << 14
_STEPS = 1 << 20  # between two looks at the outside world: a tenth of a second or so
# Measured nanoseconds a result: to search anew; to look whether it meets an edge, and copy it; to test whether it is
# still minimal; to extend it by one element.
_SEARCH_NS, _SCAN_NS, _TEST_NS, _EXTEND_NS = 130.0, 16.0, 60.0, 80.0
# The same to set up a search, and for each edge of it.
_SETUP_NS, _EDGE_NS = 100_000.0, 150.0
# Each edge that vanished asks for a search of its own; with more of them one search for all is cheaper.
_FEW = 3

Told = Callable[[int], None]


def minimal_hitting_sets(
    edges: Words, *, max_size: int | None = None, within: Words | None = None, told: Told = lambda _: None
) -> Iterator[Words]:
    """Blocks of minimal hitting sets, of at most so many elements, and of elements `within` only.

    `told` hears the number of results after each stretch of work; an exception it raises ends the search. A block is
    only good until the next one is asked for.
    """
    words = edges.shape[1]
    if not len(edges):
        yield np.zeros((1, words), np.uint64)
        return
    most = 64 * words if max_size is None else max_size
    search = _started(edges, most, within)
    block, total = np.empty((_BLOCK, words), np.uint64), 0
    while search.depth[0] >= 0:
        count = advance(search, most, _STEPS, block)
        total += count
        told(total)
        if count:
            yield block[:count]


def all_minimal_hitting_sets(
    edges: Words, *, max_size: int | None = None, within: Words | None = None, told: Told = lambda _: None
) -> Words:
    """The same as one array, which lies in a file where it is large."""
    blocks = Blocks(edges.shape[1])
    for block in minimal_hitting_sets(edges, max_size=max_size, within=within, told=told):
        blocks.add(block)
    return blocks.rows()


def _started(edges: Words, most: int, within: Words | None) -> Search:
    """A search at its beginning; small edges first, as one of the smallest is wanted each time."""
    edges = np.ascontiguousarray(edges[np.argsort(bitsets.sizes(edges), kind="stable")])
    count, words = edges.shape
    open_ = np.bitwise_or.reduce(edges, axis=0)
    if within is not None:
        open_ = open_ & within
    depth = 2 + min(count, most, int(bitsets.sizes(open_[None])[0]))
    edge_words = bitsets.words_for(count)
    missed, once = np.zeros((2, depth, edge_words), np.uint64)
    opened, todo = np.zeros((2, depth, words), np.uint64)
    missed[0], opened[0] = bitsets.first(count, edge_words), open_
    inside = _inside(edges)
    search = Search(edges, inside, missed, once, opened, todo, np.zeros(depth, np.int64), np.zeros(1, np.int64))
    begin(search, most)
    return search


def _inside(edges: Words, room: int = 0) -> Words:
    """For each element the edges that hold it, with room for more edges."""
    inside = np.zeros((64 * edges.shape[1], bitsets.words_for(len(edges) + room)), np.uint64)
    fill_inside(np.ascontiguousarray(edges), inside)
    return inside


# ---- when the family changes ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Mended:
    """Minimal hitting sets after a change: all of them, those that went, and those that came."""

    sets: Words
    lost: Words
    gained: Words

    @staticmethod
    def anew(known: Words, sets: Words) -> Mended:
        """From those before and those after."""
        return Mended(sets, bitsets.minus(known, sets), bitsets.minus(sets, known))


def mended(
    known: Words,
    before: Words,
    gone: Words,
    come: Words,
    *,
    max_size: int | None = None,
    told: Told = lambda _: None,
) -> Mended:
    """The minimal hitting sets after a family lost the edges `gone` and got the edges `come`, or searched anew.

    `known` are those of the family `before`. Three exact steps. (1) Edges that come, one by one: a known set that
    misses the new edge gives way to its extensions by one element of the edge that are minimal. (2) Edges that go:
    a set that still is minimal stays. (3) A set that is new now misses an edge that went, so for each such edge a
    search among the elements outside it finds them. Which edges come first doesn't matter, as the result depends on
    the family alone. No set goes in one step and comes back in another: those of step 1 don't hit what came, those of
    step 2 aren't minimal, and what comes in step 3 is both.
    """
    after = np.concatenate([bitsets.minus(before, gone), come])
    lifted, extended = gone[:0], None
    if _worth_mending(len(known), len(before), len(gone), len(come)):
        lifted = _not_above(_not_above(gone, come), after)
        extended = _with_edges(known, before, come, max_size) if len(lifted) <= _FEW else None
    if extended is None:
        return Mended.anew(known, all_minimal_hitting_sets(after, max_size=max_size, told=told))
    if not len(lifted):
        return extended
    return _without_edges(extended, len(known) - len(extended.lost), after, lifted, max_size, told)


def _without_edges(now: Mended, old: int, after: Words, lifted: Words, max_size: int | None, told: Told) -> Mended:
    """Steps 2 and 3; the first `old` sets were known before step 1."""
    marks = np.empty(len(now.sets), np.bool_)
    mark_minimal(now.sets, _inside(after), marks)
    fresh = [now.sets[old:][marks[old:]]]
    for place, edge in enumerate(lifted):
        found = all_minimal_hitting_sets(after, max_size=max_size, within=~edge, told=told)
        fresh.append(found[_meets_all(found, lifted[:place])])
    gained = np.concatenate(fresh)
    lost = np.concatenate([now.lost, now.sets[:old][~marks[:old]]])
    return Mended(np.concatenate([now.sets[:old][marks[:old]], gained]), lost, gained)


def _worth_mending(known: int, before: int, gone: int, come: int) -> bool:
    """Whether what mending looks at in any case costs well below a search anew."""
    looks = _SCAN_NS * known * come + _EDGE_NS * before * (1 + gone / 50)
    return looks < 0.7 * (_SEARCH_NS * known + 1.5 * _EDGE_NS * before + _SETUP_NS)


def _with_edges(known: Words, before: Words, come: Words, max_size: int | None) -> Mended | None:
    """Step 1; None where the extensions to test cost more than a search anew. Sets known before stay in front."""
    inside = _inside(before, len(come))
    left = _SEARCH_NS * len(known) + _SETUP_NS
    old, lost = len(known), [known[:0]]
    for number, edge in enumerate(come):
        missing = np.empty(len(known), np.bool_)
        count = mark_missing(known, edge, missing)
        if count:
            size = int(bitsets.sizes(edge[None])[0])
            left -= _EXTEND_NS * count * size
            if left < 0:
                return None
            lost.append(known[:old][missing[:old]])
            old -= len(lost[-1])
            longer = _extended(known[missing], edge, size, inside, max_size)
            known = np.concatenate([known[~missing], longer])
        _enter(inside, edge, len(before) + number)
    return Mended(known, np.concatenate(lost), known[old:])


def _extended(short: Words, edge: Words, size: int, inside: Words, max_size: int | None) -> Words:
    if max_size is not None:
        short = short[bitsets.sizes(short) < max_size]
    found = np.empty((len(short) * size, short.shape[1]), np.uint64)
    return found[: extend(short, edge, inside, found)]


def _enter(inside: Words, edge: Words, place: int) -> None:
    inside[bitsets.elements(edge), place >> 6] |= np.uint64(1 << (place & 63))


def _not_above(edges: Words, others: Words) -> Words:
    """The edges that contain none of the others: leaving out any other edge changes nothing."""
    return edges[[not ((others & ~edge) == 0).all(axis=1).any() for edge in edges]]


def _meets_all(sets: Words, edges: Words) -> NDArray[np.bool_]:
    marks = np.ones(len(sets), np.bool_)
    for edge in edges:
        marks &= (sets & edge).any(axis=1)
    return marks
