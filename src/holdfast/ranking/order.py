"""Ranking: likely rules of all classes and tables, the best first, each thing once.

Columns that determine each other are equivalent: one of them represents them all, and rules with the others follow. The
rest is reduced to a cover: a rule that follows from others (Armstrong) is implied by them. The worst rules are tried
first, so that the best stay. A rule may follow only from rules that are as good: an exact one from exact ones, and one
with exceptions from rules with not many more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import NamedTuple

from holdfast.engines.scored import Scored
from holdfast.engines.thresholds import BESIDE, NEARLY, TESTED, least
from holdfast.ranking.expectation import Expectation
from holdfast.ranking.suggestion import Same, Suggestion
from holdfast.rules.dependency import FD, Key
from holdfast.table.table import Schema

Shapes = Mapping[str, tuple[Schema, int]]

AS_GOOD = 2  # times as many exceptions are not many more: a rule may follow from such ones
_TESTING = 5  # rows: where fewer than these alone test an exact rule, it may hold by chance
_FEW = 1000  # columns are equivalent if at most one row in 1,000 contradicts, in one direction only


def ranked(
    found: Sequence[Scored], shapes: Shapes, expectation: Expectation | None = None
) -> tuple[tuple[Suggestion, ...], tuple[Same, ...]]:
    """All rules in one order, each with the rules that it follows from; and the equivalent columns."""
    expectation = expectation or Expectation()
    order = sorted(found, key=_place)
    keys = {each.table: each.score for each in reversed(order) if isinstance(each.rule, Key)}  # the best of each table
    likely = [_is_likely(each, keys.get(each.table, 0.0)) for each in order]
    by_table: dict[str, list[Scored]] = {table: [] for table in shapes}
    for each in compress(order, likely):
        by_table[each.table].append(each)
    of_table = {table: implications_of(by_table[table], rows, schema.names) for table, (schema, rows) in shapes.items()}
    usual = {table: expectation.of_table(table, rows) for table, (_, rows) in shapes.items()}
    suggestions = []
    for rank, (each, is_likely) in enumerate(zip(order, likely, strict=True), 1):
        implications = of_table[each.table]
        breaks = expectation.breaks(each, usual[each.table])
        tested = each.support >= TESTED and each.text not in implications.by_chance
        is_sure, is_rare = each.sure and tested, expectation.allows(breaks)
        group, implied_by = _group(each, implications), _implied_by(each, implications)
        own = Suggestion(each, rank, group, is_likely, implied_by, is_sure, is_rare, breaks, usual[each.table])
        suggestions.append(own)
    same = [Same(table, columns) for table, implications in of_table.items() for columns in implications.same.sets]
    return tuple(suggestions), tuple(same)


def _is_likely(scored: Scored, best_key: float) -> bool:
    """Whether a rule is shown: it has a high score, and not too many rows break it."""
    needed = least(len(scored.columns))
    if isinstance(scored.rule, Key):
        needed = max(needed, BESIDE * best_key)
    return scored.score >= needed and scored.g3 <= NEARLY


def _place(scored: Scored) -> tuple[float, int, int]:
    """The best first; of equally good ones the short ones, then those with more rows that could have broken them."""
    return -round(scored.score, 9), len(scored.columns), -scored.support


def _group(scored: Scored, implications: Implications) -> str:
    """The rules that a rule is shown with: FDs by left side, other rules by class."""
    if not isinstance(scored.rule, FD):
        return scored.rule.kind
    return ", ".join(dict.fromkeys(map(implications.same.representative, scored.columns)))


def _implied_by(scored: Scored, implications: Implications) -> tuple[str, ...]:
    """What an FD or a key follows from; a rule of another class may have the same text."""
    return implications.implied_by.get(scored.text, ()) if isinstance(scored.rule, FD | Key) else ()


# ---- what follows from what ------------------------------------------------------------------------------------------


class LikelyFD(NamedTuple):
    """A likely FD: its columns by name."""

    scored: Scored
    lhs: frozenset[str]
    rhs: str


class Equivalents(NamedTuple):
    """Sets of equivalent columns; the first of each represents it."""

    sets: tuple[tuple[str, ...], ...]

    def representative(self, column: str) -> str:
        """The column that represents a column, perhaps itself."""
        return next((columns[0] for columns in self.sets if column in columns), column)

    def equation(self, column: str) -> str:
        """The columns that a column is equivalent to, `a = b`; empty if there are none."""
        return next((" = ".join(columns) for columns in self.sets if column in columns), "")


class Implications(NamedTuple):
    """The equivalent columns of a table, the rules that follow from others, with these, and exact FDs that hold by
    chance.
    """

    same: Equivalents
    implied_by: Mapping[str, tuple[str, ...]]
    by_chance: frozenset[str]


def implications_of(likely: Sequence[Scored], rows: int, names: Sequence[str]) -> Implications:
    """What follows from what among the likely rules of a table; these come with the best first."""
    rules = [LikelyFD(each, frozenset(each.columns), each.rule.rhs) for each in likely if isinstance(each.rule, FD)]
    keys = [each for each in likely if isinstance(each.rule, Key)]
    same = Equivalents(_same(rules, rows, names))
    exact = {frozenset(each.columns): each.text for each in keys if not each.to_remove}
    implied: dict[str, tuple[str, ...]] = {}
    left: list[LikelyFD] = []
    known = {(rule.lhs, rule.rhs): rule for rule in rules}
    for rule in rules:
        if why := _through_same(rule, same, known) or _from_key(rule, exact):
            implied[rule.scored.text] = why
        else:
            left.append(rule)
    unlike_keys = [rule for rule in rules if not _from_key(rule, exact)]
    return Implications(same, implied | _implied(left) | _implied_keys(keys, unlike_keys, same), _by_chance(rules))


# ---- equivalent columns ----------------------------------------------------------------------------------------------


def _same(rules: Sequence[LikelyFD], rows: int, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Sets of columns in which each determines each other one. Sets grow by the best pairs first."""
    exceptions = {(next(iter(rule.lhs)), rule.rhs): rule.scored.to_remove for rule in rules if len(rule.lhs) == 1}
    sets: dict[str, frozenset[str]] = {}
    for a, b in exceptions:
        mine, other = sets.get(a, frozenset([a])), sets.get(b, frozenset([b]))
        if mine is not other and all(_are_same(exceptions, x, y, rows) for x in mine for y in other):
            joined = mine | other
            sets |= dict.fromkeys(joined, joined)
    found = sorted(set(sets.values()), key=lambda each: min(map(names.index, each)))
    return tuple(_representative_first(each, rules, names) for each in found)


def _are_same(exceptions: Mapping[tuple[str, str], int], a: str, b: str, rows: int) -> bool:
    there, back = exceptions.get((a, b)), exceptions.get((b, a))
    if there is None or back is None:
        return False
    return max(there, back) <= AS_GOOD * min(there, back) + rows // _FEW


def _representative_first(columns: frozenset[str], rules: Sequence[LikelyFD], names: Sequence[str]) -> tuple[str, ...]:
    """The columns, the one with the best rules first; the table's order decides between equals."""
    scores = dict.fromkeys(columns, 0.0)
    for rule in rules:
        if len(rule.lhs) == 1 and (column := next(iter(rule.lhs))) in scores:
            scores[column] += rule.scored.score
    first = min(columns, key=lambda column: (-round(scores[column], 6), names.index(column)))
    return (first, *sorted(columns - {first}, key=names.index))


def _through_same(
    rule: LikelyFD, same: Equivalents, known: Mapping[tuple[frozenset[str], str], LikelyFD]
) -> tuple[str, ...]:
    """What a rule follows from that names columns which others represent."""
    lhs, rhs = frozenset(map(same.representative, rule.lhs)), same.representative(rule.rhs)
    if (lhs, rhs) == (rule.lhs, rule.rhs):
        return ()
    if rhs in lhs:  # within a set only the pairs with the representative are shown
        ends = [next(iter(rule.lhs)), rule.rhs] if len(rule.lhs) == 1 else []
        if rhs in ends:
            return ()
        steps = [(frozenset([ends[0]]), rhs), (frozenset([rhs]), rule.rhs)] if ends else []
        return tuple(known[step].scored.text for step in steps if step in known) or (same.equation(rhs),)
    other = known.get((lhs, rhs))
    if other is None or other.scored.to_remove > AS_GOOD * rule.scored.to_remove:
        return ()
    equations = dict.fromkeys(map(same.equation, (*rule.lhs, rule.rhs)))
    return (other.scored.text, *filter(None, equations))


# ---- what follows ---------------------------------------------------------------------------------------------------


def _from_key(rule: LikelyFD, keys: Mapping[frozenset[str], str]) -> tuple[str, ...]:
    return next(((text,) for columns, text in keys.items() if columns <= rule.lhs), ())


def _implied(rules: Sequence[LikelyFD]) -> dict[str, tuple[str, ...]]:
    """The rules that are not needed, the worst tried first, each with the rules that it follows from."""
    needed = list(rules)
    implied = {}
    for rule in reversed(rules):
        limit = AS_GOOD * rule.scored.to_remove
        others = [each for each in needed if each is not rule and each.scored.to_remove <= limit]
        if found := derivation(rule.lhs, rule.rhs, others):
            needed.remove(rule)
            implied[rule.scored.text] = found
    return implied


def _by_chance(rules: Sequence[LikelyFD]) -> frozenset[str]:
    """Exact FDs that follow from others of which hardly a row is an exception: only those rows test them.

    `price -> vat` follows from `price -> product`, but for the few products of one price, and `product -> vat`; that
    these few have the same vat may be chance.
    """
    nearly = [rule for rule in rules if 0 < rule.scored.to_remove < _TESTING]
    exact = [rule for rule in rules if not rule.scored.to_remove]
    found = set()
    for rule in exact if nearly else ():
        others = [each for each in exact if each is not rule and each.lhs != rule.lhs]
        first = [each for each in nearly if each.lhs <= rule.lhs]
        if any(derivation(rule.lhs, rule.rhs, [*others, each]) for each in first):
            found.add(rule.scored.text)
    return frozenset(found)


def _implied_keys(keys: Sequence[Scored], rules: Sequence[LikelyFD], same: Equivalents) -> dict[str, tuple[str, ...]]:
    """The keys that follow from a better one: their columns determine its columns, or are equivalent to them."""
    implied: dict[str, tuple[str, ...]] = {}
    for place, key in enumerate(keys):
        others = [each for each in rules if each.scored.to_remove <= AS_GOOD * key.to_remove]
        for better in [each for each in keys[:place] if each.text not in implied]:
            if why := _same_key(key, better, same) or _determined_key(key, better, others):
                implied[key.text] = (better.text, *why)
                break
    return implied


def _same_key(key: Scored, better: Scored, same: Equivalents) -> tuple[str, ...]:
    """The equivalent columns, if two keys differ only by these."""
    one, other = ({same.representative(column) for column in each.columns} for each in (key, better))
    return tuple(filter(None, map(same.equation, key.columns))) if one == other else ()


def _determined_key(key: Scored, better: Scored, rules: Sequence[LikelyFD]) -> tuple[str, ...]:
    """The rules by which a key determines the columns of a better key, if it does and that one is as good."""
    steps = [derivation(frozenset(key.columns), column, rules) for column in better.columns]
    if better.to_remove > AS_GOOD * key.to_remove or any(step is None for step in steps):
        return ()
    return tuple(dict.fromkeys(text for step in steps for text in step or ()))


def derivation(lhs: frozenset[str], rhs: str, others: Sequence[LikelyFD]) -> tuple[str, ...] | None:
    """The rules by which columns determine a column; None: they don't."""
    because: dict[str, LikelyFD | None] = dict.fromkeys(lhs)
    grown = True
    while grown and rhs not in because:
        grown = False
        for each in others:
            if each.rhs not in because and each.lhs <= because.keys():
                because[each.rhs] = each
                grown = True
    if rhs not in because:
        return None
    used: list[LikelyFD] = []
    wanted = [rhs]
    while wanted:
        step = because[wanted.pop()]
        if step is not None and step not in used:
            used.append(step)
            wanted += step.lhs
    return tuple(each.scored.text for each in reversed(used))
