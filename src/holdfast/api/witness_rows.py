"""What a batch leaves to remember: rows that broke rules, with their values as they were then.

Of a given rule that has new violations, one of these is kept; of a found rule that broke, the rows that broke it. The
values of a row are kept once a batch, up to a limit: first those of given rules, then those of the found ones that
were worth the most.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice

import numpy as np

from holdfast.changes.diff import Diff, Witness
from holdfast.engines.registry import table_of_rows
from holdfast.store.events import turned
from holdfast.store.records import KeptRow, KeptRows
from holdfast.table.naming import witnesses_of
from holdfast.table.plain import plain_rows
from holdfast.table.table import Table
from holdfast.text.row_names import Values

MOST_ROWS = 200  # of which values are kept for a batch
MOST_CELLS = 20_000  # and so many values in all

Subject = tuple[str, str]  # an engine, and a table or all of them
Diffs = Mapping[Subject, Diff]
Witnesses = dict[Subject, dict[str, Witness]]  # by the text of the rule
Place = tuple[str, int]  # a table, and the number of a row
_Told = tuple[Subject, str, Witness]  # a rule that broke, and the rows that broke it


def given_witnesses(diffs: Diffs, tables: Mapping[str, Table]) -> Witnesses:
    """Of each given rule that has new violations one of these, unless only their number is kept."""
    found: Witnesses = {}
    rows: dict[str, dict[tuple[Subject, str], tuple[int, ...]]] = {}  # by table, so that each is read once
    for subject, diff in diffs.items():
        broken, worse, _ = turned(diff)
        for text in (*broken, *worse):
            if text in diff.violations and (new := diff.violations[text].example):
                rows.setdefault(table_of_rows(*subject, text), {})[subject, text] = new
    for table, own in rows.items():
        for (subject, text), witness in witnesses_of(tables[table], own).items():
            found.setdefault(subject, {})[text] = witness
    return found


def kept_rows(diffs: Diffs, given: Witnesses, tables: Mapping[str, Table]) -> KeptRows:
    """The rows that broke rules, with their values: as many as are kept of a batch."""
    rows = _rows_of(_told(diffs, given, ()), tables)
    if _fitting(rows, tables) < len(rows):  # only then it matters which come first
        rows = _rows_of(_told(diffs, given, _by_worth(diffs)), tables)
    most = _fitting(rows, tables)
    return KeptRows(dict(_with_values(dict(islice(rows.items(), most)), tables)), len(rows) - most)


def _told(diffs: Diffs, given: Witnesses, first: Iterable[tuple[Subject, str]]) -> Iterator[_Told]:
    """The given rules that have new violations, and then the found ones that broke, some of them first: of those that
    the same rows broke one alone.
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
    """The found rules that broke, and of which it is known what they were worth: the best first."""
    scores = {
        (subject, text): worth.score
        for subject, diff in diffs.items()
        for text, worth in (diff.worth or {}).items()
        if text in diff.witnesses
    }
    return sorted(scores, key=lambda rule: -scores[rule])


def _rows_of(told: Iterable[_Told], tables: Collection[str]) -> dict[Place, tuple[str, Values]]:
    """The rows of tables in their order: of each the first rule that it broke, and what the witness tells of it."""
    rows: dict[Place, tuple[str, Values]] = {}
    for (engine, subject), text, witness in told:
        table = table_of_rows(engine, subject, text)
        known = witness.values or ({},) * len(witness.rows)  # a class may leave them to us
        if table in tables:
            for number, values in zip(witness.rows, known, strict=True):
                rows.setdefault((table, number), (text, values))
    return rows


def _fitting(rows: Iterable[Place], tables: Mapping[str, Table]) -> int:
    """How many of some rows are kept."""
    cells = np.cumsum([len(tables[table].schema.columns) for table, _ in rows])
    return min(MOST_ROWS, int(np.searchsorted(cells, MOST_CELLS, side="right")))


def _with_values(
    rows: Mapping[Place, tuple[str, Values]], tables: Mapping[str, Table]
) -> Iterator[tuple[Place, KeptRow]]:
    """Rows with all of their values; witnesses of some classes tell those of a few columns."""
    for name, table in tables.items():
        own = {number: told for (at, number), told in rows.items() if at == name}
        part = [number for number, (_, values) in own.items() if len(values) < len(table.schema.columns)]
        read = dict(zip(part, plain_rows(table.values(np.array(part, np.int64))), strict=True)) if part else {}
        for number, (rule, values) in own.items():
            yield (name, number), KeptRow(rule, read.get(number, values))
