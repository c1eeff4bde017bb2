"""The rows that broke rules with a batch, stored with their values as they were then.

Of a given rule with new violations one violation is stored; of a found rule that broke, its witness. The values of a
row are stored once a batch, up to a limit: first those of given rules, then those of found rules, the best scores
first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice

import numpy as np

from holdfast.api.workspace import Subject
from holdfast.changes.diff import Diff, Witness
from holdfast.engines.registry import table_of_rows
from holdfast.store.records import WitnessRow, WitnessRows
from holdfast.store.rule_events import given_changes
from holdfast.table.plain import plain_rows
from holdfast.table.row_names import witnesses_of
from holdfast.table.table import Table

MOST_ROWS = 200  # with values, for a batch
MOST_CELLS = 20_000  # values of them in all

Diffs = Mapping[Subject, Diff]
GivenWitnesses = dict[Subject, dict[str, Witness]]  # by the text of the rule
Place = tuple[str, int]  # a table, and the number of a row
_Broken = tuple[Subject, str, Witness]  # a rule that broke, and the rows that broke it


def given_witnesses(diffs: Diffs, tables: Mapping[str, Table]) -> GivenWitnesses:
    """One new violation of each given rule that has some, unless only their number is known."""
    found: GivenWitnesses = {}
    rows: dict[str, dict[tuple[Subject, str], tuple[int, ...]]] = {}  # by table, so that each is read once
    for subject, diff in diffs.items():
        broken, worse, _ = given_changes(diff)
        for text in (*broken, *worse):
            if text in diff.violations and (new := diff.violations[text].example):
                rows.setdefault(table_of_rows(*subject, text), {})[subject, text] = new
    for table, own in rows.items():
        for (subject, text), witness in witnesses_of(tables[table], own).items():
            found.setdefault(subject, {})[text] = witness
    return found


def witness_rows(diffs: Diffs, given: GivenWitnesses, tables: Mapping[str, Table]) -> WitnessRows:
    """The rows that broke rules, with their values: as many as are stored for a batch."""
    rows = _rows_of(_broken(diffs, given, ()), tables)
    if _fitting(rows, tables) < len(rows):  # only then it matters which come first
        rows = _rows_of(_broken(diffs, given, _by_worth(diffs)), tables)
    most = _fitting(rows, tables)
    return WitnessRows(_with_values(dict(islice(rows.items(), most)), tables), len(rows) - most)


def _broken(diffs: Diffs, given: GivenWitnesses, first: Iterable[tuple[Subject, str]]) -> Iterator[_Broken]:
    """The given rules that have new violations, and then the found ones that broke, some of them first. Of rules that
    the same rows broke, only one is listed.
    """
    for subject, witnesses in given.items():
        yield from ((subject, text, witness) for text, witness in witnesses.items())
    known: set[tuple[Subject, str, tuple[int, ...]]] = set()
    for subject, text in chain(first, ((at, text) for at, diff in diffs.items() for text in diff.witnesses)):
        witness = diffs[subject].witnesses[text]
        rows = subject, table_of_rows(*subject, text), witness.rows  # across tables, equal numbers are other rows
        if rows not in known:
            known.add(rows)
            yield subject, text, witness


def _by_worth(diffs: Diffs) -> list[tuple[Subject, str]]:
    """The found rules that broke and had a score, the best first."""
    scores = {
        (subject, text): worth.score
        for subject, diff in diffs.items()
        for text, worth in (diff.worth or {}).items()
        if text in diff.witnesses
    }
    return sorted(scores, key=lambda rule: -scores[rule])


def _rows_of(broken: Iterable[_Broken], tables: Collection[str]) -> dict[Place, WitnessRow]:
    """The rows of tables in their order, each with the first rule that it broke and the values that the witness has."""
    rows: dict[Place, WitnessRow] = {}
    for (engine, subject), text, witness in broken:
        table = table_of_rows(engine, subject, text)
        known = witness.values or ({},) * len(witness.rows)  # some classes leave them out
        if table in tables:
            for number, values in zip(witness.rows, known, strict=True):
                rows.setdefault((table, number), WitnessRow(text, values))
    return rows


def _fitting(rows: Iterable[Place], tables: Mapping[str, Table]) -> int:
    """How many of the rows fit the limits."""
    cells = np.cumsum([len(tables[table].schema.columns) for table, _ in rows])
    return min(MOST_ROWS, int(np.searchsorted(cells, MOST_CELLS, side="right")))


def _with_values(rows: Mapping[Place, WitnessRow], tables: Mapping[str, Table]) -> dict[Place, WitnessRow]:
    """Rows with all of their values; witnesses of some classes have those of a few columns."""
    whole = dict(rows)
    for name, table in tables.items():
        width = len(table.schema.columns)
        part = [number for (at, number), row in rows.items() if at == name and len(row.values) < width]
        read = plain_rows(table.values(np.array(part, np.int64))) if part else []
        for number, values in zip(part, read, strict=True):
            whole[name, number] = WitnessRow(rows[name, number].rule, values)
    return whole
