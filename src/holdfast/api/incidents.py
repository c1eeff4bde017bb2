"""Incidents: wrong values that raised an alarm. Rows that come later and copy such a value are shown and counted, and
raise no alarm again.

An incident of a rule is the values of a violation in the columns of the rule: of an FD `X -> A` a value of A that is
not the usual one for its X, of a key the repeated one, of a reference the missing one. A null is no value that rows
copy. Rules that pairs of rows violate have no incidents: which of the two is wrong, nobody knows. A state stores a hash
of the values, with the batch that brought the first and how many violations have them: once none is left, the next one
is a new incident, and raises an alarm. Only the newest incidents of a rule are stored (`MOST_INCIDENTS`).

Cost: nothing where no given rule has new violations; otherwise a look at the values of these. Where they are more than
a diff lists, the batch is an alarm anyway, and none of them is an incident.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.api.workspace import Subject
from holdfast.changes.diff import NOBODY, Diff, Pairs, ViolationChange
from holdfast.engines.given.baseline import hash_of
from holdfast.engines.given.status import Status
from holdfast.engines.registry import table_of_rows
from holdfast.results.memory import RuleKey
from holdfast.results.verdict import Repeat
from holdfast.rules.dependency import Dependency
from holdfast.rules.inclusion import IND
from holdfast.rules.registry import parse
from holdfast.rules.row import RowRule
from holdfast.rules.rule import Rule
from holdfast.store.records import IncidentChange
from holdfast.store.store import Store
from holdfast.table.change import Batch
from holdfast.table.plain import Plain, plain_values
from holdfast.table.table import Table


def incidents_of(
    diffs: Mapping[Subject, Diff], batch: Batch, tables: Mapping[str, Table], store: Store
) -> tuple[list[IncidentChange], dict[RuleKey, Repeat]]:
    """What a batch does to the incidents of rules of severity error; and the rules whose new violations all belong to
    incidents that were there before.
    """
    moved = {
        (*at, text): change
        for at, diff in diffs.items()
        for text, change in diff.violations.items()
        if (change.new or change.gone) and _is_error(diff, text)
    }
    known = store.rules.incidents(moved)
    changes, repeats = [], {}
    for name, own in _by_table(key for key, change in moved.items() if change.new or known[key]).items():
        looks = {key: (_new(moved[key], batch, tables[name]), moved[key].resolved) for key in own}
        read = _Read(tables[name], own, [pairs for look in looks.values() for pairs in look])
        for key, (added, resolved) in looks.items():
            new, gone, before = read.hashes(key, added), read.hashes(key, resolved), known[key]
            new = new if new.total() == len(added) else Counter()
            if new and all(each in before for each in new):
                repeats[key] = Repeat(store.numbers().of(min(before[each] for each in new)))
            steps = Counter(new)
            steps.subtract({each: count for each, count in gone.items() if each in before or each in new})
            changes += [IncidentChange(*key, each, step) for each, step in steps.items() if step]
    return changes, repeats


def incidents_now(key: RuleKey, violations: Pairs, table: Table) -> list[IncidentChange]:
    """The incidents that some violations of a rule are."""
    hashes = _Read(table, [key], [violations]).hashes(key, violations)
    return [IncidentChange(*key, each, count) for each, count in hashes.items()]


def _is_error(diff: Diff, text: str) -> bool:
    changed = diff.changed.get(text)
    return changed is not None and isinstance(changed[1], Status) and changed[1].named.severity == "error"


def _by_table(keys: Iterable[RuleKey]) -> dict[str, list[RuleKey]]:
    """Rules by the table whose rows violate them."""
    found: dict[str, list[RuleKey]] = {}
    for key in keys:
        found.setdefault(table_of_rows(*key), []).append(key)
    return found


def _new(change: ViolationChange, batch: Batch, table: Table) -> Pairs:
    """The violations that a batch added; none where not all are listed. Rows that only changed places with others are
    left out where rows came that are violations.
    """
    if not change.new or len(change.added) < change.new:
        return change.added[:0]
    own = batch.of(table.schema.name)
    born = change.added.max(axis=1) >= (own.born.start if own is not None else table.next_id)
    return change.added[born] if born.any() else change.added


class _Read:
    """The values of the rows t of some violations in the columns of their rules, each read once for all rules."""

    def __init__(self, table: Table, keys: Iterable[RuleKey], violations: Sequence[Pairs]) -> None:
        names = table.schema.names
        self._columns = {key: [names.index(name) for name in _columns(parse(key[2]))] for key in keys}
        columns = sorted({column for own in self._columns.values() for column in own})
        ids = np.unique(np.concatenate([np.empty(0, np.int64), *(pairs[:, 0] for pairs in violations)]))
        self._ids = ids[ids != NOBODY]  # a whole table violates a rule about it
        codes = zip(columns, table.codes(self._ids, columns), strict=True)
        self._values = {column: _values(table, column, own) for column, own in codes}

    def hashes(self, key: RuleKey, violations: Pairs) -> Counter[str]:
        """Some violations of a rule by their values; those with a null are left out."""
        if not len(violations) or not self._columns[key]:
            return Counter()
        places = np.searchsorted(self._ids, violations[:, 0]).tolist()
        columns = [self._values[column] for column in self._columns[key]]
        rows = Counter(zip(*([own[place] for place in places] for own in columns), strict=True))
        return Counter({hash_of(row): count for row, count in rows.items() if None not in row})


def _values(table: Table, column: int, codes: NDArray[np.uint32]) -> list[Plain]:
    """The values of some codes of a column."""
    each, places = np.unique(codes, return_inverse=True)
    values = plain_values(table.dictionaries[column].values(each))
    return [values[place] for place in places.tolist()]


def _columns(rule: Rule) -> list[str]:
    """The columns whose values are wrong; none of rules that pairs of rows or a table violate."""
    if isinstance(rule, IND):
        return list(dict.fromkeys(rule.dependent.columns))
    return list(dict.fromkeys(rule.columns)) if isinstance(rule, Dependency | RowRule) else []
