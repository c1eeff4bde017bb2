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
from collections.abc import Mapping

import numpy as np

from holdfast.api.workspace import Subject
from holdfast.changes.diff import Diff, Pairs, ViolationChange
from holdfast.engines.given.baseline import hash_of
from holdfast.engines.registry import rule_class, table_of_rows
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
from holdfast.table.plain import plain_values
from holdfast.table.table import Table


def incidents_of(
    diffs: Mapping[Subject, Diff], batch: Batch, tables: Mapping[str, Table], store: Store
) -> tuple[list[IncidentChange], dict[RuleKey, Repeat]]:
    """What a batch does to the incidents of rules of severity error; and the rules whose new violations all belong to
    incidents that were there before.
    """
    changes, repeats = [], {}
    for at, diff in diffs.items():
        for text, change in diff.violations.items() if rule_class(at[0]).given else ():
            key = *at, text
            if not _is_error(diff, text) or not (change.new or change.gone):
                continue
            known = store.incidents(*key)
            if not known and not change.new:
                continue
            rule, table = parse(text), tables[table_of_rows(*key)]
            new, gone = _new(rule, change, batch, table), _hashes(rule, change.resolved, table)
            if change.new and new and all(each in known for each in new):
                repeats[key] = Repeat(store.numbers().of(min(known[each] for each in new)))
            steps = Counter(new)
            steps.subtract({each: count for each, count in gone.items() if each in known or each in new})
            changes += [IncidentChange(*key, each, step) for each, step in steps.items() if step]
    return changes, repeats


def incidents_now(key: RuleKey, violations: Pairs, table: Table) -> list[IncidentChange]:
    """The incidents that some violations of a rule are."""
    return [IncidentChange(*key, each, count) for each, count in _hashes(parse(key[2]), violations, table).items()]


def _is_error(diff: Diff, text: str) -> bool:
    changed = diff.changed.get(text)
    return changed is not None and changed[1].to_json().get("severity") == "error"


def _new(rule: Rule, change: ViolationChange, batch: Batch, table: Table) -> Counter[str]:
    """The violations that a batch added, by their values; none where not all are listed. Rows that only changed places
    with others are left out where rows came that are violations.
    """
    if change.new is None or len(change.added) < change.new:
        return Counter()
    own = batch.of(table.schema.name)
    born = change.added.max(axis=1) >= (own.born.start if own is not None else table.next_id)
    added = change.added[born] if born.any() else change.added
    found = _hashes(rule, added, table)
    return found if found.total() == len(added) else Counter()


def _hashes(rule: Rule, violations: Pairs, table: Table) -> Counter[str]:
    """Some violations by the values of row t in the columns of the rule; those with a null are left out."""
    columns = _columns(rule)
    if not len(violations) or not columns:
        return Counter()
    places = [table.schema.names.index(name) for name in columns]
    each, times = np.unique(table.codes(violations[:, 0], places), axis=1, return_counts=True)
    values = [plain_values(table.dictionaries[place].values(own)) for place, own in zip(places, each, strict=True)]
    rows = zip(zip(*values, strict=True), times.tolist(), strict=True)
    return Counter({hash_of(row): count for row, count in rows if None not in row})


def _columns(rule: Rule) -> list[str]:
    """The columns whose values are wrong; none of rules that pairs of rows or a table violate."""
    if isinstance(rule, IND):
        return list(dict.fromkeys(rule.dependent.columns))
    return list(dict.fromkeys(rule.columns)) if isinstance(rule, Dependency | RowRule) else []
