"""The rows of new violations, in words, and what most other rows say: stored in an outcome, for people.

    row 3415: postcode 80331, city Stuttgard (Munich in 793 of 794)

Cost: nothing where no rule got worse. A given FD knows what most rows say; each found one that is shown costs a pass
over the codes of its left side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.changes.diff import NOBODY, ChangedClusters, Finding, ViolationChange, Witness
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
from holdfast.table.row_names import naming_key, some_values
from holdfast.table.table import Table
from holdfast.text.row_names import naming_columns, shown
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
            pairs = new_pairs(worse.change, first_of_batch(outcome, table))
            made = _given(worse.finding, table, pairs, worse.change.clusters)
            found[worse.key] = made._replace(columns=_columns_in(worse.finding, table))
        elif worse.witness is not None:
            made = _found(worse.finding, table, worse.witness)
            found[worse.key] = made._replace(columns=_columns_in(worse.finding, table, by_values=True))
    return {key: each for key, each in found.items() if each.lines}


def _found(finding: Finding, table: Table, witness: Witness) -> Examples:
    """The rows that broke a found rule."""
    if witness.sentence or len(witness.rows) > 2:
        return Examples((witness.named(getattr(finding, "columns", ())),), frozenset(witness.rows), whole=True)
    pair = tuple(sorted(witness.rows, reverse=True))  # the new row first
    return Examples(tuple(lines_of(rule_of(finding), table, [pair])), frozenset(pair), whole=True)


def _columns_in(finding: Finding, table: Table, by_values: bool = False) -> frozenset[str]:
    """The columns of a table whose values lines about a rule may have: its own, and those that name rows, perhaps by
    some of their values.
    """
    own, schema = rule_of(finding).columns, table.schema
    naming = naming_key(schema) or (naming_columns(schema.names, own) if by_values else ())
    return frozenset(own).union(naming)


def rule_of(finding: Finding) -> Rule:
    """The rule that a finding is about."""
    if isinstance(finding, Status):
        rule: Rule = finding.named.rule
        return rule
    return finding if isinstance(finding, Rule) else parse(finding.text)


def _given(finding: Finding, table: Table, pairs: Sequence[Pair], clusters: ChangedClusters | None) -> Examples:
    """The first new violations of a given rule."""
    said = finding.tally.said if isinstance(finding, Status) else ""
    if said:  # a rule about a table: no rows are the violation
        return Examples((said,), whole=True)
    rule = rule_of(finding)
    at_fault = frozenset(pair[0] for pair in pairs)
    if (empty := _without_key(rule, table, pairs)) is not None:
        return Examples((empty,), at_fault, whole=True)
    culprit = _culprit(pairs)
    lines = tuple(lines_of(rule, table, pairs[: _MOST_ROWS if culprit is None else 1], clusters))
    if culprit is None:
        return Examples(lines, at_fault)
    (name,) = short_names(table, np.array([culprit], np.int64))
    return Examples((*lines, f"{name} takes part in all {len(pairs):,} of them"), at_fault, whole=True)


def first_of_batch(outcome: Outcome, table: Table) -> int:
    """The id of the first row that a batch, the last one, inserted into a table."""
    return table.next_id - sum(part.inserted for part in outcome.batch.by_table if part.table == table.schema.name)


def new_pairs(change: ViolationChange, first: int) -> list[Pair]:
    """The rows of new violations, as far as they are known; rows from the id `first` on are new. Where some of those
    added are old ones with other rows, they are those with new rows.
    """
    pairs = plain_pairs(change.added)
    if change.restated:
        pairs = [pair for pair in pairs if max(pair) >= first]
    return pairs or ([change.example] if change.example else [])


def plain_pairs(pairs: Ids) -> list[Pair]:
    """The rows of violations."""
    return [tuple(row for row in pair if row != NOBODY) for pair in pairs.tolist()]


def _culprit(pairs: Sequence[Pair]) -> int | None:
    """The one row that takes part in all of several violations of two rows each."""
    if len(pairs) < 3 or any(len(pair) < 2 for pair in pairs):
        return None
    shared = set(pairs[0]).intersection(*map(set, pairs[1:]))
    return next(iter(shared)) if len(shared) == 1 else None


def lines_of(rule: Rule, table: Table, pairs: Sequence[Pair], clusters: ChangedClusters | None = None) -> Iterator[str]:
    """A line for each violation."""
    if isinstance(rule, FD) and pairs and rule.lhs and rule.where is None:
        yield from _fd_lines(rule, table, pairs, clusters)
    elif isinstance(rule, Key) and rule.where is None:
        yield from _key_lines(rule, table, pairs)
    else:
        yield from plain_lines(rule, table, pairs)


def plain_lines(rule: Rule, table: Table, pairs: Sequence[Pair]) -> Iterator[str]:
    """A line for each violation, of which only its own rows are read."""
    for pair in pairs:
        ids = np.array(pair, np.int64)
        names = short_names(table, ids)
        said = why_rows(rule, table, ids, names)
        who = " and ".join(names[place] for place in said.order)
        yield f"{who}: {said.text}" if said.text else who


# ---- functional dependencies -----------------------------------------------------------------------------------------


class _Usual(NamedTuple):
    """What most rows say that agree on a left side: the code on the right side, how many have it, and of how many."""

    code: int
    rows: int
    of: int


def _fd_lines(rule: FD, table: Table, pairs: Sequence[Pair], clusters: ChangedClusters | None) -> Iterator[str]:
    """Each row with what it says, and what most rows say that agree with it on the left side."""
    names = table.schema.names
    columns = [*(names.index(name) for name in rule.lhs), names.index(rule.rhs)]
    codes = table.codes(np.array(pairs, np.int64).ravel(), columns).reshape(len(columns), len(pairs), -1)
    for place, pair in enumerate(pairs):
        usual = _usual(table, columns, codes[:-1, place, 0], clusters)
        odd = next((at for at in range(len(pair)) if codes[-1, place, at] != usual.code), 0)
        yield _fd_line(rule, table, pair[odd], usual, codes[-1, place, odd] != usual.code)


def _fd_line(rule: FD, table: Table, row: int, usual: _Usual, is_odd: bool) -> str:
    """`row 3415: postcode 80331, city Stuttgard (Munich in 793 of 794)`."""
    ids = np.array([row], np.int64)
    (name,), (own,) = short_names(table, ids), some_values(table, ids, [*rule.lhs, rule.rhs])
    more = ""
    if is_odd and 2 * usual.rows >= usual.of:  # else no value is the usual one
        dictionary = table.dictionaries[table.schema.names.index(rule.rhs)]
        (said,) = plain_values(dictionary.values(np.array([usual.code], np.uint32)))
        more = f" ({shown(said, _LONGEST)} in {usual.rows:,} of {usual.of:,})"
    return f"{name}: {_facts(own)}{more}"


def _facts(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {shown(value, _LONGEST)}" for name, value in values.items())


def _usual(table: Table, columns: Sequence[int], left: NDArray[Any], clusters: ChangedClusters | None) -> _Usual:
    """What most rows say on the right side, the last of the columns, that have some codes on the left."""
    at = clusters.place_of(left) if clusters is not None else None
    if clusters is not None and at is not None:
        return _Usual(*(int(each[at]) for each in (clusters.usual, clusters.usual_counts, clusters.sizes)))
    found = TableFinder(table).rows_with(columns[:-1], left[:, None])
    values = np.concatenate([table.codes(ids, columns[-1:])[0] for ids, _ in found])
    each, counts = np.unique(values, return_counts=True)
    most = int(np.argmax(counts))
    return _Usual(int(each[most]), int(counts[most]), len(values))


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
