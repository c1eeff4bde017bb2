"""The one place that ranks: likely rules of all classes and tables, the best first, each thing said once.

Columns that determine each other are one thing: one of them stands for all, and what holds of the others follows. What
is left is a cover: a rule that follows from others (Armstrong) is implied by them, the worst being looked at first, so
that the best stay. A rule may follow only from rules that are as good: an exact one from exact ones, and one with
exceptions from those with not many more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from holdfast.engines.scored import Scored
from holdfast.engines.thresholds import BESIDE, NEARLY, least
from holdfast.ranking.suggestion import Same, Suggestion
from holdfast.rules.dependency import FD, Key
from holdfast.table.table import Schema

Shapes = Mapping[str, tuple[Schema, int]]

_MORE = 2  # times as many exceptions are not many more
_FEW = 1000  # columns are the same where at most one row in 1,000 says otherwise, in one direction only


def ranked(found: Sequence[Scored], shapes: Shapes) -> tuple[tuple[Suggestion, ...], tuple[Same, ...]]:
    """All rules in one order, each with what it follows from; and the columns that are the same."""
    order = sorted(found, key=_place)
    keys = {each.table: each.score for each in reversed(order) if isinstance(each.rule, Key)}  # the best of each table
    likely = [_is_likely(each, keys.get(each.table, 0.0)) for each in order]
    by_table: dict[str, list[Scored]] = {table: [] for table in shapes}
    for each in compress(order, likely):
        by_table[each.table].append(each)
    once = {table: said_once(by_table[table], rows, schema.names) for table, (schema, rows) in shapes.items()}
    suggestions = [
        Suggestion(each, rank, _group(each, once[each.table]), told, _implied_by(each, once[each.table]))
        for rank, (each, told) in enumerate(zip(order, likely, strict=True), 1)
    ]
    same = [Same(table, columns) for table, each in once.items() for columns in each.same]
    return tuple(suggestions), tuple(same)


def _is_likely(scored: Scored, best_key: float) -> bool:
    """Whether a rule is told: it has a high score, and not too many rows are in its way."""
    needed = least(len(scored.columns))
    if isinstance(scored.rule, Key):
        needed = max(needed, BESIDE * best_key)
    return scored.score >= needed and scored.g3 <= NEARLY


def _place(scored: Scored) -> tuple[float, int, int]:
    """The best first; of equally good ones the short ones, and those with more rows that could have broken them."""
    return -round(scored.score, 9), len(scored.columns), -scored.support


def _group(scored: Scored, once: Once) -> str:
    """What a rule is told with: FDs with others of their left side, other rules with those of their class."""
    if not isinstance(scored.rule, FD):
        return scored.rule.kind
    return ", ".join(dict.fromkeys(map(once.standing_for, scored.columns)))


def _implied_by(scored: Scored, once: Once) -> tuple[str, ...]:
    """What an FD or a key follows from; texts of other classes look like theirs and are none."""
    return once.implied_by.get(scored.text, ()) if isinstance(scored.rule, FD | Key) else ()


# ---- say it once -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """A likely FD: its columns by name."""

    scored: Scored
    lhs: frozenset[str]
    rhs: str

    @property
    def text(self) -> str:
        """The rule."""
        return self.scored.text


@dataclass(frozen=True)
class Once:
    """What is said once of a table: columns that are the same, the first stands for them; and what each rule that
    follows from others follows from.
    """

    same: tuple[tuple[str, ...], ...]
    implied_by: Mapping[str, tuple[str, ...]]

    def standing_for(self, column: str) -> str:
        """The column that stands for one: itself, unless it is the same as others."""
        return next((columns[0] for columns in self.same if column in columns), column)


def said_once(likely: Sequence[Scored], rows: int, names: Sequence[str]) -> Once:
    """What follows from what among the likely rules of a table, the best given first."""
    rules = [Rule(each, frozenset(each.columns), each.rule.rhs) for each in likely if isinstance(each.rule, FD)]
    keys = [each for each in likely if isinstance(each.rule, Key)]
    same = _same(rules, rows, names)
    once = Once(same, {})
    exact = {frozenset(each.columns): each.text for each in keys if not each.to_remove}
    implied: dict[str, tuple[str, ...]] = {}
    left: list[Rule] = []
    known = {(rule.lhs, rule.rhs): rule for rule in rules}
    for rule in rules:
        if why := _through_same(rule, once, known) or _from_key(rule, exact):
            implied[rule.text] = why
        else:
            left.append(rule)
    return Once(same, implied | _implied(left) | _implied_keys(keys, rules, once))


# ---- columns that are the same --------------------------------------------------------------------------------------


def _same(rules: Sequence[Rule], rows: int, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Sets of columns of which each determines each: the best pairs grow first, and all pairs of a set must do so."""
    exceptions = {(next(iter(rule.lhs)), rule.rhs): rule.scored.to_remove for rule in rules if len(rule.lhs) == 1}
    sets: dict[str, frozenset[str]] = {}
    for a, b in exceptions:
        mine, other = sets.get(a, frozenset([a])), sets.get(b, frozenset([b]))
        if mine is not other and all(_are_same(exceptions, x, y, rows) for x in mine for y in other):
            joined = mine | other
            sets |= dict.fromkeys(joined, joined)
    found = sorted(set(sets.values()), key=lambda each: min(map(names.index, each)))
    return tuple(_standing_first(each, rules, names) for each in found)


def _are_same(exceptions: Mapping[tuple[str, str], int], a: str, b: str, rows: int) -> bool:
    there, back = exceptions.get((a, b)), exceptions.get((b, a))
    if there is None or back is None:
        return False
    return max(there, back) <= _MORE * min(there, back) + rows // _FEW


def _standing_first(columns: frozenset[str], rules: Sequence[Rule], names: Sequence[str]) -> tuple[str, ...]:
    """The column whose rules are best stands for the others; the table's order decides between equals."""
    scores = dict.fromkeys(columns, 0.0)
    for rule in rules:
        if len(rule.lhs) == 1 and (column := next(iter(rule.lhs))) in scores:
            scores[column] += rule.scored.score
    first = min(columns, key=lambda column: (-round(scores[column], 6), names.index(column)))
    return (first, *sorted(columns - {first}, key=names.index))


def _through_same(rule: Rule, once: Once, known: Mapping[tuple[frozenset[str], str], Rule]) -> tuple[str, ...]:
    """What a rule follows from that speaks of columns for which others stand."""
    lhs, rhs = frozenset(map(once.standing_for, rule.lhs)), once.standing_for(rule.rhs)
    if (lhs, rhs) == (rule.lhs, rule.rhs):
        return ()
    if rhs in lhs:  # within a set of equal columns only the pair with the one that stands for them is shown
        ends = [next(iter(rule.lhs)), rule.rhs] if len(rule.lhs) == 1 else []
        if rhs in ends:
            return ()
        steps = [(frozenset([ends[0]]), rhs), (frozenset([rhs]), rule.rhs)] if ends else []
        return tuple(known[step].text for step in steps if step in known) or ((_equal(once, rhs),))
    standing = known.get((lhs, rhs))
    if standing is None or standing.scored.to_remove > _MORE * rule.scored.to_remove:
        return ()
    moved = dict.fromkeys(_equal(once, column) for column in (*rule.lhs, rule.rhs))
    return (standing.text, *(text for text in moved if text))


def _equal(once: Once, column: str) -> str:
    return next((" = ".join(columns) for columns in once.same if column in columns), "")


# ---- what follows ---------------------------------------------------------------------------------------------------


def _from_key(rule: Rule, keys: Mapping[frozenset[str], str]) -> tuple[str, ...]:
    return next(((text,) for columns, text in keys.items() if columns <= rule.lhs), ())


def _implied(rules: Sequence[Rule]) -> dict[str, tuple[str, ...]]:
    """What each rule follows from that is not needed, the worst first."""
    needed = list(rules)
    implied = {}
    for rule in reversed(rules):
        limit = _MORE * rule.scored.to_remove
        others = [each for each in needed if each is not rule and each.scored.to_remove <= limit]
        if steps := _steps(rule.lhs, rule.rhs, others):
            needed.remove(rule)
            implied[rule.text] = steps
    return implied


def _implied_keys(keys: Sequence[Scored], rules: Sequence[Rule], once: Once) -> dict[str, tuple[str, ...]]:
    """What each key follows from: a better one, whose columns its own determine, or name in other words."""
    implied: dict[str, tuple[str, ...]] = {}
    for place, key in enumerate(keys):
        others = [each for each in rules if each.scored.to_remove <= _MORE * key.to_remove]
        for better in [each for each in keys[:place] if each.text not in implied]:
            if why := _same_key(key, better, once) or _determined_key(key, better, others):
                implied[key.text] = (better.text, *why)
                break
    return implied


def _same_key(key: Scored, better: Scored, once: Once) -> tuple[str, ...]:
    """The columns that are the same, if a key is another in other words."""
    words = [{once.standing_for(column) for column in each.columns} for each in (key, better)]
    return tuple(filter(None, (_equal(once, column) for column in key.columns))) if words[0] == words[1] else ()


def _determined_key(key: Scored, better: Scored, rules: Sequence[Rule]) -> tuple[str, ...]:
    """The rules by which the columns of a better key, that is as good, follow from those of a key, if they do."""
    steps = [_steps(frozenset(key.columns), column, rules) for column in better.columns]
    if better.to_remove > _MORE * key.to_remove or any(step is None for step in steps):
        return ()
    return tuple(dict.fromkeys(text for step in steps for text in step or ()))


def _steps(lhs: frozenset[str], rhs: str, others: Sequence[Rule]) -> tuple[str, ...] | None:
    """The rules by which a column is reached from others; None where it is not."""
    because: dict[str, Rule | None] = dict.fromkeys(lhs)
    grown = True
    while grown and rhs not in because:
        grown = False
        for each in others:
            if each.rhs not in because and each.lhs <= because.keys():
                because[each.rhs] = each
                grown = True
    if rhs not in because:
        return None
    used: list[Rule] = []
    wanted = [rhs]
    while wanted:
        step = because[wanted.pop()]
        if step is not None and step not in used:
            used.append(step)
            wanted += step.lhs
    return tuple(each.text for each in reversed(used))
