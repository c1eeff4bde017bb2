"""Binds rules to tables: finds the table of each rule, checks it against the columns, and hands it to its class."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from holdfast.errors import BadInput, suggest
from holdfast.rules.file import RuleEntry, Rules
from holdfast.rules.given import Given, GivenRule, TableRules
from holdfast.rules.registry import CLASSES, nearest_kind, parse, rule_type
from holdfast.rules.rule import Rule, Scope
from holdfast.table.table import Schema


@dataclass(frozen=True)
class BoundRules:
    """Rules by class and table, and notes on rules that are allowed but odd."""

    given: Given
    notes: tuple[str, ...]


def bind(rules: Rules, schemas: Mapping[str, Schema]) -> BoundRules:
    """Check rules against tables. A table can't have a rule twice, as results go by text."""
    _check_ordered(rules, schemas)
    bound: dict[str, dict[str, dict[str, GivenRule]]] = {}
    notes: list[str] = []
    for entry in rules.entries:
        kept_by = _type_of(entry)
        table = _dependent_table(entry) if kept_by.across else _table_of(entry, schemas)
        try:
            named, odd = entry.bound(Scope(schemas, table, rules.ordered_in(table)))
        except BadInput as error:
            raise BadInput(f"{entry.place}: {error}") from None
        notes += [f"rule {entry.name}: {note}" for note in odd]
        rule = GivenRule(entry.name, table, named.text, entry.severity, entry.note, entry.origin)
        known = bound.setdefault(kept_by.given_as, {}).setdefault(table, {}).setdefault(named.text, rule)
        if known.name != entry.name:
            raise BadInput(f"{entry.place} says the same as rule {known.name!r}; remove one")
    order = list(dict.fromkeys(each.given_as for each in CLASSES))
    given = {
        name: {table: TableRules(tuple(own.values()), rules.ordered_in(table)) for table, own in bound[name].items()}
        for name in sorted(bound, key=order.index)
    }
    return BoundRules(given, tuple(notes))


def _type_of(entry: RuleEntry) -> type[Rule]:
    found = rule_type(entry.text)
    if found is None or not found.given_as:
        where = entry.where if entry.numbered else entry.place
        which = "not a rule" if found is None else f"{found.described}, which can be found but not given"
        raise BadInput(f"{f'{where}: ' if where else ''}{entry.text!r} is {which}; {nearest_kind(entry.text)}")
    return found


def _dependent_table(entry: RuleEntry) -> str:
    """The table whose rows break a rule across tables, which its text names."""
    table = parse(entry.text).table
    if entry.table and entry.table != table:
        raise BadInput(f"{entry.place} is about rows of {table!r}, not of {entry.table!r}; leave out table:")
    return table


def _table_of(entry: RuleEntry, schemas: Mapping[str, Schema]) -> str:
    if entry.table in schemas:
        return entry.table
    if entry.table:
        hint = suggest(entry.table, schemas)
        raise BadInput(f"{entry.place} is about the table {entry.table!r}, which is not here; {hint}")
    if len(schemas) != 1:
        names = ", ".join(f"{name}:" for name in schemas)
        raise BadInput(f"{entry.place} names no table; begin it with one of {names}")
    return next(iter(schemas))


def _check_ordered(rules: Rules, schemas: Mapping[str, Schema]) -> None:
    """Refuse an `ordered:` that names a table or column which isn't there."""
    for table, columns in rules.ordered.items():
        tables = [table] if table else list(schemas)
        _refuse_unknown(rules, "table", tables, schemas)
        _refuse_unknown(rules, "column", columns, [name for each in tables for name in schemas[each].names])


def _refuse_unknown(rules: Rules, what: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            hint = suggest(name, known)
            raise BadInput(f"{rules.where}: ordered names the {what} {name!r}, which is not here; {hint}")
