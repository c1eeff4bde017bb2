"""Resolving: what a list of operations means for a table: which rows die, and which are born.

Operations come in order. With a declared key, each speaks of the row with its key: an insert needs the key to be
free, a delete or an update needs it taken, at that point of the list, and an upsert needs neither. Without one, a
delete needs an equal row that is there at that point of the list. In the end only the difference counts: of equal
rows, an insert and a later delete cancel, and a delete and a later insert leave the row that was there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.equal_rows import Codes, RowGroups, group_rows, hash_rows
from holdfast.changes.operations import DELETE, INSERT, UPDATE, UPSERT
from holdfast.errors import BadInput
from holdfast.table.table import Table

OnMissing = Literal["error", "ignore"]
Mode = Literal["changes", "snapshot", "upserts"]  # of upserts, no two may have the same key
Wrong = Literal["missing", "duplicate", "unkeyed", "repeated"]
WRONG: tuple[Wrong, ...] = ("missing", "duplicate", "unkeyed", "repeated")
_NONE: NDArray[np.int64] = np.empty(0, np.int64)


@dataclass(frozen=True)
class Resolution:
    """Rows to insert (places in the list), rows to delete (ids), and the operations that are wrong (places in the list)
    by what is wrong: the row is missing, an inserted key is a duplicate, a row is unkeyed as its key is null, or an
    upsert repeats the key of another.
    """

    born: NDArray[np.int64]
    dead: NDArray[np.int64]
    mistakes: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)

    @property
    def wrong(self) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """The places of all that is wrong, in order, and what is (a place in WRONG)."""
        parts = [self.mistakes.get(name, _NONE) for name in WRONG]
        places, why = np.concatenate(parts), np.repeat(np.arange(len(WRONG), dtype=np.int8), [len(p) for p in parts])
        order = np.argsort(places, kind="stable")
        return places[order], why[order]


def resolve(
    table: Table,
    codes: Codes,
    operations: NDArray[np.int8],
    hashes: NDArray[np.uint64] | None = None,
    mode: Mode = "changes",
) -> Resolution:
    """The net effect of a list of operations. Wrong operations are left out of it, and reported.

    `hashes` are those of the columns that rows are found by, where known.
    """
    if hashes is None:
        hashes = hash_rows(list(codes[table.schema.found_by]))
    if table.schema.key:
        return _by_key(table, codes, operations, hashes, mode)
    if (operations == UPSERT).any():
        raise needs_key(table)
    if (operations == UPDATE).any():
        raise BadInput(
            f"table {table.schema.name}: an update needs a declared key (init --key), "
            "or the old and the new row as update_preimage and update_postimage"
        )
    return _by_content(table, codes, operations, hashes)


def needs_key(table: Table) -> BadInput:
    """The sentence about upserts of a table without a key."""
    return BadInput(
        f"table {table.schema.name}: an upsert needs a declared key (init --key) to find the row that it replaces; "
        "send inserts and deletes instead"
    )


def _by_content(table: Table, codes: Codes, operations: NDArray[np.int8], hashes: NDArray[np.uint64]) -> Resolution:
    if (operations == INSERT).all():
        return Resolution(np.arange(len(operations)), _NONE)
    groups = group_rows(codes, hashes)
    net, lowest, falls = _walked(groups, operations)
    minus = np.flatnonzero(lowest < 0)
    taken = groups.first[minus]
    query, ids = table.find(codes[:, taken], -lowest[minus], hashes[taken])
    had = np.zeros(groups.count, np.int64)
    had[minus] = np.bincount(query, minlength=len(minus))
    missing = np.flatnonzero(falls > had[groups.of_row])
    net += np.maximum(-lowest - had, 0)  # a delete that met no row took none away
    dead = ids[_rank_within(query) < -net[minus[query]]]
    born = _last_of(groups, operations == INSERT, np.flatnonzero(net > 0), net[net > 0])
    return Resolution(born, np.sort(dead), {"missing": missing})


def _walked(
    groups: RowGroups, operations: NDArray[np.int8]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Inserts and deletes as steps up and down from 0, group by group: where each group ends, its lowest point (at
    most 0), and for each operation that goes lower than all before it how low that is, as a positive number (else 0).
    A group of which the table has n rows has as many missing deletes as it goes below -n, and it is those that go
    there first.
    """
    order = np.argsort(groups.of_row, kind="stable")
    of = groups.of_row[order]
    steps = np.cumsum(operations[order].astype(np.int64))
    starts = np.searchsorted(of, np.arange(groups.count))
    base = np.r_[0, steps][starts]  # what the groups before have come to
    height = steps - base[of]
    # Each group lies below the one before it, so that one running minimum serves all.
    depth = 2 * len(of) + 2
    below = np.minimum.accumulate(np.minimum(height, 0) - of * depth) + of * depth
    first = np.r_[True, of[1:] != of[:-1]][: len(of)]
    before = np.where(first, 0, np.r_[0, below[:-1]][: len(of)])
    falls = np.empty(len(of), np.int64)
    falls[order] = np.where(below < before, -below, 0)
    ends = np.searchsorted(of, np.arange(groups.count), side="right") - 1
    return height[ends], below[ends], falls


def _last_of(
    groups: RowGroups, marked: NDArray[np.bool_], which: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Of each group `which[i]` the last `counts[i]` marked rows, in order."""
    wanted = np.zeros(groups.count, np.int64)
    wanted[which] = counts
    rows = np.flatnonzero(marked & (wanted[groups.of_row] > 0))[::-1]
    by_group = rows[np.argsort(groups.of_row[rows], kind="stable")]
    of = groups.of_row[by_group]
    rank = np.arange(len(of)) - np.searchsorted(of, of)
    return np.sort(by_group[rank < wanted[of]])


def _by_key(
    table: Table, codes: Codes, operations: NDArray[np.int8], hashes: NDArray[np.uint64], mode: Mode
) -> Resolution:
    keys = codes[list(table.schema.key)]
    groups = group_rows(keys, hashes)
    query, ids = table.find(keys[:, groups.first], np.ones(groups.count, np.int64), hashes[groups.first])
    old_id = np.full(groups.count, -1, np.int64)
    old_id[query] = ids
    unkeyed = (keys == 0).any(axis=0)
    repeated = _repeated(groups, operations) & ~unkeyed if mode == "upserts" else np.zeros_like(unkeyed)
    missing, duplicate = _wrong_operations(groups, operations, old_id >= 0)
    missing, duplicate = missing[~unkeyed[missing]], duplicate[~unkeyed[duplicate]]
    good = ~(unkeyed | repeated)
    good[missing] = False
    good[duplicate] = False
    last = np.full(groups.count, -1, np.int64)
    rows = np.flatnonzero(good)
    last[groups.of_row[rows]] = rows  # later assignments win
    touched = last >= 0
    leaves_row = touched & (operations[last] != DELETE)
    unchanged = _unchanged(table, codes, old_id, last, leaves_row)
    born = np.sort(last[leaves_row & ~unchanged])
    dead = np.sort(old_id[touched & (old_id >= 0) & ~unchanged])
    mistakes = {"missing": missing, "duplicate": duplicate}
    mistakes |= {"unkeyed": np.flatnonzero(unkeyed), "repeated": np.flatnonzero(repeated)}
    return Resolution(born, dead, mistakes)


def _repeated(groups: RowGroups, operations: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Upserts whose key another upsert has, too: nothing says which of them is meant."""
    upserts = operations == UPSERT
    return np.asarray(upserts & (np.bincount(groups.of_row[upserts], minlength=groups.count)[groups.of_row] > 1))


def _wrong_operations(
    groups: RowGroups, operations: NDArray[np.int8], taken: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Operations that meet no row, and inserts that meet one, at their point of the list.

    Whether a key is taken before an operation is decided by the operation before it, right or wrong (after an insert,
    an update or an upsert it is taken, after a delete it is free), or by the table for the first. An update of a
    missing row leaves the key free; as this makes the next one wrong too, lists with wrong updates are walked one by
    one.
    """
    order = np.argsort(groups.of_row, kind="stable")
    of, kinds = groups.of_row[order], operations[order]
    first = np.r_[True, of[1:] != of[:-1]] if len(of) else np.empty(0, np.bool_)
    before = np.where(first, taken[of], np.r_[False, kinds[:-1] != DELETE][: len(of)])
    wrong = np.where(kinds == INSERT, before, ~before) & (kinds != UPSERT)
    if (wrong & (kinds == UPDATE)).any():
        wrong = _walk(of, kinds, taken)
    missing, duplicate = order[wrong & (kinds != INSERT)], order[wrong & (kinds == INSERT)]
    return np.sort(missing), np.sort(duplicate)


def _walk(of: NDArray[np.int64], kinds: NDArray[np.int8], taken: NDArray[np.bool_]) -> NDArray[np.bool_]:
    state = taken.copy()
    wrong = np.zeros(len(of), np.bool_)
    for i, (group, kind) in enumerate(zip(of.tolist(), kinds.tolist(), strict=True)):
        wrong[i] = kind != UPSERT and (state[group] if kind == INSERT else not state[group])
        if not wrong[i]:
            state[group] = kind != DELETE
    return wrong


def _unchanged(
    table: Table, codes: Codes, old_id: NDArray[np.int64], last: NDArray[np.int64], leaves: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Keys whose row is, in the end, what it was."""
    unchanged = np.zeros(len(old_id), np.bool_)
    both = np.flatnonzero(leaves & (old_id >= 0))
    unchanged[both] = (table.codes(old_id[both]) == codes[:, last[both]]).all(axis=0)
    return unchanged


def resolve_snapshot(table: Table, ids: NDArray[np.int64], codes: Codes) -> Resolution:
    """What leads from the living rows `ids` to the rows given: rows on both sides stay, as a multiset."""
    old = table.codes(ids)
    together = np.concatenate([old, codes], axis=1)
    groups = group_rows(together)
    of_old, of_new = groups.of_row[: len(ids)], groups.of_row[len(ids) :]
    both = np.minimum(np.bincount(of_old, minlength=groups.count), np.bincount(of_new, minlength=groups.count))
    dead = ids[_rank_within(of_old) >= both[of_old]]
    born = np.flatnonzero(_rank_within(of_new) >= both[of_new])
    if not table.schema.key:
        return Resolution(born, dead)
    keys = group_rows(codes[list(table.schema.key)])
    return Resolution(born, dead, {"duplicate": np.flatnonzero(_rank_within(keys.of_row) > 0)})


def _rank_within(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each row, how many rows of its group come before it."""
    order = np.argsort(groups, kind="stable")
    ranks = np.empty(len(groups), np.int64)
    ranks[order] = np.arange(len(groups)) - np.searchsorted(groups[order], groups[order])
    return ranks
