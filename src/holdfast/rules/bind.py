"""Rules meet tables: every denial constraint, FD and key goes to its table and is checked against its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.engines.denial.check import check, suggest
from holdfast.engines.denial.model import DenialConstraint
from holdfast.engines.functional.model import parse as dependency
from holdfast.errors import BadInput
from holdfast.rules.file import RuleEntry, Rules
from holdfast.table.table import Schema


def bind(rules: Rules, schemas: Mapping[str, Schema]) -> dict[str, tuple[DenialConstraint, ...]]:
    """The denial constraints of each table, with the table's name and with constants in the types of the columns.

    Rules of other classes are left to others. One table may not have the same constraint twice, as results go by text.
    """
    _check_ordered(rules, schemas)
    bound: dict[str, dict[str, DenialConstraint]] = {table: {} for table in schemas}
    for entry in rules.entries:
        if entry.kind != "dc":
            continue
        table = _table_of(entry, schemas)
        constraint = _checked(entry, table, schemas[table], rules.ordered_in(table))
        _refuse_twin(entry, bound[table].setdefault(constraint.text, constraint))
    return {table: tuple(constraints.values()) for table, constraints in bound.items()}


def bind_dependencies(rules: Rules, schemas: Mapping[str, Schema]) -> dict[str, tuple[RuleEntry, ...]]:
    """The FDs and keys of each table, with columns in its order."""
    bound: dict[str, dict[str, RuleEntry]] = {table: {} for table in schemas}
    for entry in rules.entries:
        if entry.kind != "fd":
            continue
        table = _table_of(entry, schemas)
        try:
            rule = dependency(entry.text, schemas[table].names, table)
        except BadInput as error:
            raise BadInput(f"{_where(entry)}rule {entry.name!r}: {error}") from None
        _refuse_twin(entry, bound[table].setdefault(rule.text, replace(entry, table=table, text=rule.text)))
    return {table: tuple(entries.values()) for table, entries in bound.items()}


def _refuse_twin(entry: RuleEntry, known: RuleEntry | DenialConstraint) -> None:
    if known.name != entry.name:
        raise BadInput(f"{_where(entry)}rule {entry.name!r} says the same as rule {known.name!r}; remove one")


def _checked(entry: RuleEntry, table: str, schema: Schema, ordered: frozenset[str]) -> DenialConstraint:
    constraint = DenialConstraint(entry.constraint().predicates, entry.name, table, entry.severity, entry.note)
    try:
        return check(constraint, schema, ordered)
    except BadInput as error:
        raise BadInput(f"{_where(entry)}{error}") from None


def _table_of(entry: RuleEntry, schemas: Mapping[str, Schema]) -> str:
    if entry.table in schemas:
        return entry.table
    rule = f"{_where(entry)}rule {entry.name!r}"
    if entry.table:
        raise BadInput(f"{rule} is about the table {entry.table!r}, which is not here; {suggest(entry.table, schemas)}")
    if len(schemas) != 1:
        raise BadInput(f"{rule} names no table; add table: to it, one of {', '.join(schemas)}")
    return next(iter(schemas))


def _check_ordered(rules: Rules, schemas: Mapping[str, Schema]) -> None:
    """Every table and column that is declared ordered must be there, or the declaration is a slip of the pen."""
    for table, columns in rules.ordered.items():
        if table and table not in schemas:
            raise BadInput(f"{rules.where}: ordered names the table {table!r}; {suggest(table, schemas)}")
        known = [name for each in ([schemas[table]] if table else schemas.values()) for name in each.names]
        for column in columns:
            if column not in known:
                raise BadInput(f"{rules.where}: ordered names the column {column!r}; {suggest(column, known)}")


def _where(entry: RuleEntry) -> str:
    return f"{entry.where}: " if entry.where else ""
