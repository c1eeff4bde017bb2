"""Agree-sets of a table that is read once, and of the tables of a state: counted, or with a word about the cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.api.workspace import Workspace, workspace_of
from holdfast.borders.strategy_choice import AGREE_SETS, seconds_to_count
from holdfast.engines.functional.agree_sets import CountedAgreeSets
from holdfast.errors import BadInput
from holdfast.intake.source import ReadOptions
from holdfast.pairs.multiset import MOST_COLUMNS, Signatures
from holdfast.progress import SILENT, Progress
from holdfast.results.agree_sets import AgreeSets, Changes
from holdfast.rules.error_measures import pairs_of
from holdfast.table.nulls import GivenNulls
from holdfast.table.table import Table
from holdfast.visible import counted

MOST_PAIRS = AGREE_SETS.pairs  # of rows that are counted without `count`


def agree_sets(
    source: Any,
    *,
    columns: str | Sequence[str] = (),
    nulls: GivenNulls = "equal",
    options: ReadOptions | None = None,
    spark: Any = None,
    count: bool = False,
    progress: Progress | None = None,
) -> AgreeSets:
    """The agree-sets of a table, which may be given by name: on which columns two rows agree, and how many pairs do.

    Every pair of rows is compared. Where there are more than 100 million pairs, `count=True` is needed; without it, an
    error says how long that takes. `columns` names the columns to read; none means all.

    >>> import holdfast as hf, pyarrow as pa
    >>> towns = pa.table({"zip": ["10115", "10115", "20095"], "city": ["Berlin", "Berlin", "Hamburg"]})
    >>> hf.agree_sets({"towns": towns})
    towns: 2 agree-sets of 3 pairs of rows
      1 pair: all columns
      2 pairs: no column
    """
    if isinstance(source, Mapping) and len(source) != 1:
        raise BadInput(f"agree-sets are those of one table, and {counted(len(source), 'table')} are given; give one")
    progress = progress or SILENT
    with workspace_of(source, columns, nulls, options, spark, progress) as tables:
        ((name, watched),) = tables.tables.items()
        pairs = _pairs_to_count(watched.table)
        if pairs > MOST_PAIRS and not count:
            raise BadInput(f"{name}: {_cost(watched.table)}; to count them all the same, add --count (count=True)")
        found = _counted_now(tables, name, progress)
        return _result(watched.table, found, tables.left_out[name])


def agree_sets_in(now: Workspace, name: str, changes: Changes, progress: Progress, *, count: bool) -> AgreeSets:
    """The agree-sets of a watched table: those that an engine keeps counted, or, if wanted, counted now. `changes`
    gives what a batch did.
    """
    watched, own = now.tables[name], now.left_out[name]
    known = watched.known_part(CountedAgreeSets)
    if known is not None:  # a copy: the next batch changes what the engine keeps
        sets = known.sets
        found = Signatures.of(sets.columns, sets.sets, sets.counts)
    elif count:
        found = _counted_now(now, name, progress)
    else:
        raise BadInput(
            f"{name}: this state does not keep agree-sets counted, as it finds neither keys nor FDs of this table by "
            f"counting; {_cost(watched.table)}; to count them now, add --count (count=True)"
        )
    return _result(watched.table, found, own, changes)


def _counted_now(tables: Workspace, name: str, progress: Progress) -> Signatures:
    _pairs_to_count(tables.tables[name].table)
    return CountedAgreeSets.of(tables.tables[name].table, tables.runner, progress).sets


def _pairs_to_count(table: Table) -> int:
    """How many pairs of rows a table has; refuses a table with too many columns."""
    columns = len(table.schema.columns)
    if columns > MOST_COLUMNS:
        raise BadInput(
            f"{table.schema.name}: agree-sets span at most {MOST_COLUMNS} columns, and this table has {columns}; "
            "in Python, choose some with columns=…"
        )
    return pairs_of(table.rows)


def _cost(table: Table) -> str:
    """What it would cost to count: `4,999,950,000 pairs of rows would take about 4 seconds`."""
    pairs = pairs_of(table.rows)
    seconds = seconds_to_count(pairs, len(table.schema.columns))
    lasting = f"about {counted(round(seconds), 'second')}" if seconds >= 1 else "less than a second"
    return f"{counted(pairs, 'pair')} of rows would take {lasting}"


def _result(table: Table, found: Signatures, left_out: tuple[str, ...], changes: Changes | None = None) -> AgreeSets:
    schema = table.schema
    return AgreeSets(
        schema.name, tuple(schema.names), table.rows, schema.nulls, found, left_out=left_out, changes=changes
    )
