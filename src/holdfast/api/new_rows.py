"""The rows of new violations, in words, and what most other rows say: stored in an outcome, for people.

    row 3415: postcode 80331, city Stuttgard (Munich in 793 of 794)

Cost: for each shown FD a pass over the codes of its left side, and nothing where no rule got worse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import NOBODY, Finding, ViolationChange, Witness
from holdfast.engines.given.finder import TableFinder
from holdfast.engines.given.listing import short_names, why_rows
from holdfast.engines.given.status import Status
from holdfast.engines.registry import table_of_rows
from holdfast.results.alarms import FailOn
from holdfast.results.memory import RuleKey
from holdfast.results.outcome import Outcome
from holdfast.results.verdict import Examples
from holdfast.rules.dependency import FD, Key
from holdfast.rules.registry import parse
from holdfast.rules.rule import Rule
from holdfast.table.dictionary import NULL_CODE
from holdfast.table.plain import plain_values
from holdfast.table.row_names import some_values
from holdfast.table.table import Table
from holdfast.text.row_names import shown
from holdfast.visible import counted

_MOST_RULES = 10
_MOST_ROWS = 3  # of a rule
_LONGEST = 40  # of a value

Ids = NDArray[np.int64]
Pair = tuple[int, ...]


def examples_of(outcome: Outcome, fail_on: FailOn, tables: Mapping[str, Table]) -> dict[RuleKey, Examples]:
    """The first new violations of the rules that matter most, given which broken rules are an alarm."""
    found: dict[RuleKey, Examples] = {}
    shown = [worse for worse in outcome.worse(fail_on) if not worse.is_aside]  # the others may come with every batch
    for worse in shown[:_MOST_RULES]:
        table = tables.get(table_of_rows(*worse.key))
        if table is None:
            continue
        if worse.change is not None:
            first = table.next_id - sum(
                part.inserted for part in outcome.batch.by_table if part.table == table.schema.name
            )
            found[worse.key] = _given(worse.finding, table, worse.change, first)
        elif worse.witness is not None:
            found[worse.key] = _found(worse.finding, table, worse.witness)
    return {key: each for key, each in found.items() if each.lines}


def _found(finding: Finding, table: Table, witness: Witness) -> Examples:
    """The rows that broke a found rule."""
    if witness.sentence or len(witness.rows) > 2:
        return Examples((witness.named(getattr(finding, "columns", ())),), frozenset(witness.rows), whole=True)
    pair = tuple(sorted(witness.rows, reverse=True))  # the new row first
    return Examples(tuple(_lines(_rule_of(finding), table, [pair])), frozenset(pair), whole=True)


def _rule_of(finding: Finding) -> Rule:
    """The rule that a finding is about."""
    if isinstance(finding, Status):
        rule: Rule = finding.named.rule
        return rule
    return finding if isinstance(finding, Rule) else parse(finding.text)


def _given(finding: Finding, table: Table, change: ViolationChange, first: int) -> Examples:
    """The first new violations of a given rule; rows from the id `first` on are new."""
    said = finding.tally.said if isinstance(finding, Status) else ""
    if said:  # a rule about a table: no rows are the violation
        return Examples((said,), whole=True)
    rule, pairs = _rule_of(finding), _new_pairs(change, first)
    at_fault = frozenset(pair[0] for pair in pairs)
    if (empty := _without_key(rule, table, pairs)) is not None:
        return Examples((empty,), at_fault, whole=True)
    culprit = _culprit(pairs)
    lines = tuple(_lines(rule, table, pairs[: _MOST_ROWS if culprit is None else 1]))
    if culprit is None:
        return Examples(lines, at_fault)
    (name,) = short_names(table, np.array([culprit], np.int64))
    return Examples((*lines, f"{name} takes part in all {len(pairs):,} of them"), at_fault, whole=True)


def _new_pairs(change: ViolationChange, first: int) -> list[Pair]:
    """The rows of new violations, as far as they are known. Where some of those added are old ones with other rows,
    they are those with new rows.
    """
    pairs = [tuple(row for row in pair if row != NOBODY) for pair in change.added.tolist()]
    if change.restated:
        pairs = [pair for pair in pairs if max(pair) >= first]
    return pairs or ([change.example] if change.example else [])


def _culprit(pairs: Sequence[Pair]) -> int | None:
    """The one row that takes part in all of several violations of two rows each."""
    if len(pairs) < 3 or any(len(pair) < 2 for pair in pairs):
        return None
    shared = set(pairs[0]).intersection(*map(set, pairs[1:]))
    return next(iter(shared)) if len(shared) == 1 else None


def _lines(rule: Rule, table: Table, pairs: Sequence[Pair]) -> Iterator[str]:
    """A line for each violation."""
    if isinstance(rule, FD) and pairs and rule.lhs and rule.where is None:
        yield from _fd_lines(rule, table, pairs)
    elif isinstance(rule, Key) and rule.where is None:
        yield from _key_lines(rule, table, pairs)
    else:
        for pair in pairs:
            ids = np.array(pair, np.int64)
            names = short_names(table, ids)
            said = why_rows(rule, table, ids, names)
            who = " and ".join(names[place] for place in said.order)
            yield f"{who}: {said.text}" if said.text else who


# ---- functional dependencies -----------------------------------------------------------------------------------------


def _fd_lines(rule: FD, table: Table, pairs: Sequence[Pair]) -> Iterator[str]:
    """Each row with what it says, and what most rows say that agree with it on the left side."""
    names = table.schema.names
    lhs, rhs = [names.index(name) for name in rule.lhs], names.index(rule.rhs)
    first = np.array([pair[0] for pair in pairs], np.int64)
    codes, own = table.codes(first, lhs), table.codes(first, [rhs])[0]
    tuples, number = np.unique(codes, axis=1, return_inverse=True)
    said = _counts(table, lhs, rhs, tuples)
    for place, pair in enumerate(pairs):
        values, counts = said[int(number.ravel()[place])]
        best = int(np.argmax(counts)) if len(counts) else 0
        row = pair[0]
        if len(pair) > 1 and len(counts) and values[best] == own[place]:  # the other row is the odd one
            row = pair[1]
        yield _fd_line(rule, table, row, values, counts)


def _fd_line(rule: FD, table: Table, row: int, values: Ids, counts: Ids) -> str:
    """`row 3415: postcode 80331, city Stuttgard (Munich in 793 of 794)`."""
    ids = np.array([row], np.int64)
    (name,), (own,) = short_names(table, ids), some_values(table, ids, [*rule.lhs, rule.rhs])
    column = table.schema.names.index(rule.rhs)
    others = values != table.codes(ids, [column])[0, 0]
    more = ""
    best = int(np.argmax(np.where(others, counts, 0))) if others.any() else None
    if best is not None and 2 * counts[best] >= counts.sum():  # else no value is the usual one
        (usual,) = plain_values(table.dictionaries[column].values(values[best : best + 1]))
        more = f" ({shown(usual, _LONGEST)} in {counts[best]:,} of {counts.sum():,})"
    return f"{name}: {_facts(own)}{more}"


def _facts(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {shown(value, _LONGEST)}" for name, value in values.items())


def _counts(table: Table, lhs: Sequence[int], rhs: int, tuples: NDArray[np.uint32]) -> list[tuple[Ids, Ids]]:
    """For each of some left sides, what its rows have on the right, as codes, and how many rows each."""
    parts: list[list[Ids]] = [[] for _ in range(tuples.shape[1])]
    for ids, numbers in TableFinder(table).rows_with(lhs, tuples):
        found = table.codes(ids, [rhs])[0].astype(np.int64)
        for number in np.unique(numbers).tolist():
            parts[number].append(found[numbers == number])
    return [np.unique(np.concatenate([np.empty(0, np.int64), *each]), return_counts=True) for each in parts]


# ---- keys ------------------------------------------------------------------------------------------------------------


def _key_lines(rule: Key, table: Table, pairs: Sequence[Pair]) -> Iterator[str]:
    """Each row with its key, and the oldest row that has it, too."""
    places = [table.schema.names.index(name) for name in rule.lhs]
    for row, *_ in pairs:
        ids = np.array([row], np.int64)
        (name,), (own,) = short_names(table, ids, rule.lhs), some_values(table, ids, list(rule.lhs))
        alike = (found for found, _ in TableFinder(table).rows_with(places, table.codes(ids, places)))
        other = next((other for found in alike for other in found.tolist() if other != row), None)
        also = "" if other is None else f", as {short_names(table, np.array([other], np.int64), rule.lhs)[0]} has"
        yield f"{name}: {_facts(own)}{also}"


def _without_key(rule: Rule, table: Table, pairs: Sequence[Pair]) -> str | None:
    """How many rows have no value where a key needs one, if that is all that is wrong with them."""
    if not isinstance(rule, Key) or not pairs:
        return None
    rows = some_values(table, np.array([pair[0] for pair in pairs], np.int64), list(rule.lhs))
    empty = [tuple(name for name, value in row.items() if value is None) for row in rows]
    return without_values(table, empty[0]) if empty[0] and len(set(empty)) == 1 else None


def without_values(table: Table, columns: Sequence[str]) -> str:
    """`8 rows have no email`."""
    places = [table.schema.names.index(name) for name in columns]
    nulls = np.full((len(places), 1), NULL_CODE, np.uint32)
    count = sum(len(ids) for ids, _ in TableFinder(table).rows_with(places, nulls))
    return f"{counted(count, 'row')} {'has' if count == 1 else 'have'} no {' and no '.join(columns)}"
