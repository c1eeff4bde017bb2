"""Agree-sets: on which columns two rows agree, and how many pairs of rows do so (papers: dynast, section 6).

An agree-set is exact: its pairs agree on its columns and on no others. The largest come first: those that keep the most
keys and FDs from holding. The paper looks for the error of a candidate in a tree over the sets (AStree); here bitmaps
do that (see `pairs.multiset`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from holdfast.errors import BadInput, refuse_below, suggest
from holdfast.pairs import bitsets
from holdfast.pairs.bitsets import Words
from holdfast.pairs.multiset import Signatures, largest_first
from holdfast.results.drawn import Drawn, section
from holdfast.rules.dependency import FD, Dependency, columns_of, parse
from holdfast.rules.error_measures import g1, pairs_of
from holdfast.table.frames import Framed
from holdfast.table.nulls import Nulls
from holdfast.text.quotes import quoted
from holdfast.visible import Printed, counted

PAGE = 20  # agree-sets of a page
_NAMED = 12  # columns of an agree-set that texts name


@dataclass(frozen=True)
class AgreeSet:
    """The columns on which some pairs of rows agree, and those on which they differ.

    >>> import holdfast as hf, pyarrow as pa
    >>> towns = pa.table({"zip": [10115, 10115, 20095], "city": ["Berlin", "Berlin", "Berlin"]})
    >>> for each in hf.agree_sets(towns):
    ...     print(each, each.columns)
    1 pair: all columns ('zip', 'city')
    2 pairs: city ('city',)
    """

    columns: tuple[str, ...]
    pairs: int
    lacking: tuple[str, ...] = field(default=(), repr=False)

    @property
    def in_words(self) -> str:
        """Its columns, or those that it lacks, where these are fewer."""
        if not self.lacking:
            return "all columns"
        if not self.columns:
            return "no column"
        if 2 * len(self.lacking) < len(self.columns):
            return f"all but {_named(self.lacking)}"
        return _named(self.columns)

    def __str__(self) -> str:
        return f"{counted(self.pairs, 'pair')}: {self.in_words}"

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints."""
        return {"kind": "agree-set", "columns": list(self.columns), "pairs": self.pairs}


def _named(columns: Sequence[str]) -> str:
    more = [f"{len(columns) - _NAMED:,} more"] if len(columns) > _NAMED else []
    return ", ".join([*map(quoted, columns[:_NAMED]), *more])


def _made(names: Sequence[str], held: Iterable[int], pairs: int) -> AgreeSet:
    """The agree-set that holds the columns with some numbers."""
    places = list(held)
    others = set(range(len(names))).difference(places)
    return AgreeSet(tuple(names[c] for c in places), pairs, tuple(names[c] for c in sorted(others)))


# ---- what came and went with a batch ---------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class AgreeSetChange(Printed, Drawn):
    """The agree-sets that came and went with a batch, the largest first: at most 1,000 each, of `came_in_all` and
    `went_in_all`. Those that came have the pairs after the batch, those that went the pairs before it. `before` and
    `after` are the numbers of all agree-sets.

    With `watch` and `more` of the example of `Monitor`:

    >>> changed = watch.watch("fd", method="counts")
    >>> outcome = watch.apply(inserts=more)
    >>> watch.agree_sets().change(1)
    towns, batch 1: 1 agree-set before, 2 after
    came: 1
      1 pair: zip
    """

    table: str
    batch: int
    before: int
    after: int
    came: tuple[AgreeSet, ...]
    went: tuple[AgreeSet, ...]
    came_in_all: int
    went_in_all: int

    @staticmethod
    def of_record(table: str, batch: int, record: Mapping[str, Any]) -> AgreeSetChange:
        """The change that a state has stored, as `CountedAgreeSets.record` gave it."""
        after, came, went = record["sets"], record["came"], record["went"]
        first_came, first_went = (
            tuple(_from_bits(record["columns"], int(bits, 16), pairs) for bits, pairs in record[name])
            for name in ("first_came", "first_went")
        )
        return AgreeSetChange(table, batch, after - came + went, after, first_came, first_went, came, went)

    def to_json(self) -> dict[str, Any]:
        """The change as an object: each agree-set with its pairs before and after."""
        came = [{"columns": list(each.columns), "before": 0, "after": each.pairs} for each in self.came]
        went = [{"columns": list(each.columns), "before": each.pairs, "after": 0} for each in self.went]
        return {
            "kind": "agree-set-change", "table": self.table, "batch": self.batch, "before": self.before,
            "after": self.after, "came_in_all": self.came_in_all, "went_in_all": self.went_in_all,
            "came": came, "went": went,
        }  # fmt: skip

    @property
    def heading(self) -> str:
        """The batch, and how many agree-sets there were before it and after it."""
        return f"{self.table}, batch {self.batch}: {counted(self.before, 'agree-set')} before, {self.after:,} after"

    def sections(self) -> list[tuple[str, tuple[AgreeSet, ...]]]:
        """Those that came, and those that went, as far as there are any: a heading, and the largest ones."""
        parts = (("came", self.came_in_all, self.came), ("went", self.went_in_all, self.went))
        return [
            (f"{name}: {count:,}" + (f", {len(sets):,} of them here" if len(sets) < count else ""), sets)
            for name, count, sets in parts
            if count
        ]

    def lines(self) -> list[str]:
        """What came and what went, the first ones of each."""
        lines = [self.heading]
        for heading, sets in self.sections():
            lines += section(heading, len(sets), map(str, sets))
        return lines if len(lines) > 1 else [*lines, "no agree-set came or went"]

    def page(self, offset: int = 0, limit: int | None = PAGE) -> AgreeSetChange:
        """The same with some of those that came, and some of those that went."""
        return replace(self, came=_some(self.came, offset, limit), went=_some(self.went, offset, limit))


def _from_bits(names: Sequence[str], bits: int, pairs: int) -> AgreeSet:
    return _made(names, (c for c in range(len(names)) if bits >> c & 1), pairs)


def _some(sets: Sequence[AgreeSet], offset: int, limit: int | None) -> tuple[AgreeSet, ...]:
    refuse_below(0, offset, "the number of agree-sets to skip")
    refuse_below(0, limit, "the number of agree-sets to show")
    return tuple(sets[offset : None if limit is None else offset + limit])


Changes = Callable[[int], AgreeSetChange]  # gives what a batch did


# ---- all agree-sets of a table ---------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class AgreeSets(Printed, Drawn, Framed, Sequence[AgreeSet]):
    """The agree-sets of a table, the largest first, or those that hold some columns and lack others. There may be
    hundreds of thousands: each is made when it is read.

    >>> import holdfast as hf, pyarrow as pa
    >>> towns = pa.table({"zip": [10115, 10115, 20095], "city": ["Berlin", "Brelin", "Berlin"]})
    >>> found = hf.agree_sets(towns)
    >>> found
    table: 3 agree-sets of 3 pairs of rows
      1 pair: zip
      1 pair: city
      1 pair: no column
    >>> found.containing("zip", lacking="city").pairs, round(found.error("zip -> city"), 3)
    (1, 0.333)
    """

    table: str
    columns: tuple[str, ...]  # of the table
    rows: int
    nulls: Nulls
    signatures: Signatures  # of all pairs, with their counts
    held: tuple[str, ...] = ()  # only agree-sets that hold these columns
    lacking: tuple[str, ...] = ()  # and lack these
    left_out: tuple[str, ...] = ()  # columns of the table that are not compared
    changes: Changes | None = None  # None: the table is not watched

    # ---- which there are --------------------------------------------------------------------------------------------

    @cached_property
    def _listed(self) -> tuple[Words, NDArray[np.int64]]:
        """The agree-sets in their order, with their counts."""
        sets, counts = self.signatures.sets, self.signatures.counts
        chosen = np.ones(len(sets), np.bool_)
        for name in self.held:
            chosen &= bitsets.has(sets, self.columns.index(name))
        for name in self.lacking:
            chosen &= ~bitsets.has(sets, self.columns.index(name))
        sets, counts = sets[chosen], counts[chosen]
        order = largest_first(sets, counts)
        return sets[order], counts[order]

    def __len__(self) -> int:
        return len(self._listed[1])

    def __getitem__(self, at: Any) -> Any:
        sets, counts = self._listed
        if isinstance(at, slice):
            return tuple(self._made(sets[at], counts[at]))
        return next(self._made(sets[at][None], counts[at][None]))

    def __iter__(self) -> Iterator[AgreeSet]:
        return self._made(*self._listed)

    def _made(self, sets: Words, counts: NDArray[np.int64]) -> Iterator[AgreeSet]:
        for words, pairs in zip(sets, counts.tolist(), strict=True):
            yield _made(self.columns, bitsets.elements(words), pairs)

    def page(self, offset: int = 0, limit: int | None = PAGE) -> tuple[AgreeSet, ...]:
        """Some of them: at most `limit`, after the first `offset`."""
        refuse_below(0, offset, "the number of agree-sets to skip")
        refuse_below(0, limit, "the number of agree-sets to show")
        found: tuple[AgreeSet, ...] = self[offset : None if limit is None else offset + limit]
        return found

    def containing(self, columns: str | Iterable[str] = (), lacking: str | Iterable[str] = ()) -> AgreeSets:
        """Those that hold some columns, and perhaps others, and lack each of `lacking`."""
        held, without = self._chosen(columns, self.held), self._chosen(lacking, self.lacking)
        for name in held:
            if name in without:
                raise BadInput(f"no agree-set both has {name!r} and lacks it; leave it out in one place")
        return replace(self, held=held, lacking=without)

    def _chosen(self, names: str | Iterable[str], before: Sequence[str]) -> tuple[str, ...]:
        wanted = {names} if isinstance(names, str) else set(names)
        for name in sorted(wanted.difference(self.columns)):
            raise BadInput(f"there is no column {name!r} in {self.table}; {suggest(name, self.columns)}")
        return tuple(name for name in self.columns if name in wanted or name in before)

    @property
    def pairs(self) -> int:
        """How many pairs of rows have them."""
        return int(self._listed[1].sum())

    @property
    def all_pairs(self) -> int:
        """How many pairs of rows the table has."""
        return pairs_of(self.rows)

    # ---- candidates -------------------------------------------------------------------------------------------------

    def candidate(self, rule: str | Dependency) -> Dependency:
        """A key or FD of the table, whether it holds or not, with its error."""
        return self._with_error(self._parsed(rule))

    def error(self, rule: str | Dependency) -> float:
        """How far a key or FD fails to hold: g1, the share of all pairs of rows that break it."""
        return self.candidate(rule).error

    def breaking(self, rule: str | Dependency) -> AgreeSets:
        """The agree-sets of the pairs of rows that break a key or FD."""
        parsed = self._parsed(rule)
        lacking = (parsed.rhs,) if isinstance(parsed, FD) else ()
        return replace(self, held=parsed.lhs, lacking=lacking)

    def _parsed(self, rule: str | Dependency) -> Dependency:
        return parse(rule if isinstance(rule, str) else rule.text, self.columns, self.table)

    def _with_error(self, rule: Dependency) -> Dependency:
        broken = self.signatures.agreeing(*columns_of(rule, self.columns))
        return replace(rule, error=g1(broken, self.rows))

    # ---- batches ----------------------------------------------------------------------------------------------------

    def change(self, batch: int) -> AgreeSetChange:
        """What came and went with a batch."""
        if self.changes is None:
            raise BadInput(f"{self.table} is not watched, so no batch has changed it; batches are applied to a state")
        return self.changes(batch)

    # ---- how they are shown -----------------------------------------------------------------------------------------

    @property
    def heading(self) -> str:
        """How many there are, and how many pairs of rows have them."""
        every = f"{self.all_pairs:,} pairs of rows"
        if not self.held and not self.lacking:
            return f"{self.table}: {counted(len(self), 'agree-set')} of {every}"
        which = [f"with {_named(self.held)}"] if self.held else []
        which += [f"without {_named(self.lacking)}"] if self.lacking else []
        share = f"{self.pairs:,} of {every} ({g1(self.pairs, self.rows):.4%})"
        return f"{self.table}: {counted(len(self), 'agree-set')} {', '.join(which)}: {share}"

    def sentence(self, rule: str | Dependency) -> str:
        """Whether a key or FD holds, and how many pairs of rows break it."""
        found = self.candidate(rule)
        if not found.error:
            return f"{found.text} holds: no pair of rows breaks it"
        pairs = counted(self.breaking(found).pairs, "pair")
        return f"{found.text}: {pairs} of rows of {self.all_pairs:,} break it, g1 {found.error:.4%}"

    def lines(self) -> list[str]:
        """How many there are, and the largest ones."""
        return section(self.heading, len(self), map(str, self))

    def summary(self) -> dict[str, Any]:
        """How many there are, as an object."""
        return {
            "kind": "agree-sets", "table": self.table, "rows": self.rows, "columns": list(self.columns),
            "nulls": str(self.nulls), "containing": list(self.held), "lacking": list(self.lacking),
            "agree_sets": len(self), "pairs": self.pairs, "all_pairs": self.all_pairs,
        }  # fmt: skip

    def to_json(self) -> list[dict[str, Any]]:
        """One object an agree-set, the largest first."""
        return [each.to_json() for each in self]

    def to_arrow(self) -> pa.Table:
        """The agree-sets as an Arrow table: the columns of each as a list, and its pairs."""
        kinds = {"columns": pa.list_(pa.string()), "pairs": pa.int64()}
        rows = ({"columns": list(each.columns), "pairs": each.pairs} for each in self)
        return pa.Table.from_pylist(list(rows), pa.schema(kinds))
