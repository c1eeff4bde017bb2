"""Rules as SQL queries that list what breaks them: no row where a rule holds.

Plain SQL that Spark, DuckDB and PostgreSQL read. Where null equals null and comes first, the query says so; where a
null equals nothing, there are queries for keys, dependencies, references and denial constraints.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.changes.names import in_quotes
from holdfast.engines.meaning import Breach, Cell, Comparison, Meaning, Partner
from holdfast.table.nulls import Nulls


def query(meaning: Meaning, table: str, key: Sequence[str], nulls: Nulls = Nulls.EQUAL) -> str:
    """The query; nothing where only row numbers, which SQL doesn't know, would tell a row from itself."""
    if meaning.partner is not None:
        return _orphans(meaning.partner)
    own = in_quotes(table)
    if meaning.condition:
        return _unsatisfied(meaning, own)
    if (grouped := _grouped(meaning, own, nulls)) is not None:
        return grouped
    if nulls == "distinct" and meaning.nulls_compare:
        return ""
    conditions = [_condition(breach, meaning.nulls_compare) for breach in meaning.breaches]
    where = conditions[0] if len(conditions) == 1 else "\n   OR ".join(f"({each})" for each in conditions)
    if not any(cell.row == "s" for cell in _cells(meaning)):
        return f"SELECT * FROM {own} t\nWHERE {where}"
    if any(_may_meet_itself(breach) for breach in meaning.breaches):
        if not key:
            return ""
        differ = " OR ".join(_distinct(f"t.{in_quotes(name)}", f"s.{in_quotes(name)}") for name in key)
        where = f"({where})\n  AND ({differ})"
    return f"SELECT * FROM {own} t JOIN {own} s\n  ON {where}"


def _unsatisfied(meaning: Meaning, table: str) -> str:
    """The rows of which a condition is false; or what is measured of the table, where that is."""
    if meaning.quantity:
        return f"SELECT {meaning.quantity} AS value FROM {table} t\nHAVING NOT ({meaning.condition})"
    return f"SELECT * FROM {table} t\nWHERE NOT ({meaning.condition})"


def _cells(meaning: Meaning) -> list[Cell]:
    comparisons = [each for breach in meaning.breaches for each in breach.comparisons]
    return [cell for each in comparisons for cell in (each.left, each.right) if isinstance(cell, Cell)]


def _orphans(partner: Partner) -> str:
    own, other = in_quotes(partner.table), in_quotes(partner.other)
    pairs = [
        (f"t.{in_quotes(a)}", f"s.{in_quotes(b)}") for a, b in zip(partner.columns, partner.other_columns, strict=True)
    ]
    known = " AND ".join(f"{a} IS NOT NULL" for a, _ in pairs)
    same = " AND ".join(f"{a} = {b}" for a, b in pairs)
    return f"SELECT * FROM {own} t\nWHERE {known}\n  AND NOT EXISTS (SELECT 1 FROM {other} s WHERE {same})"


def _grouped(meaning: Meaning, table: str, nulls: Nulls) -> str | None:
    """FDs and keys by their groups, which is quicker than pairs of rows."""
    if len(meaning.breaches) != 1 or not meaning.nulls_compare:
        return None
    comparisons = meaning.breaches[0].comparisons
    if any(not isinstance(each.right, Cell) or each.left.column != each.right.column for each in comparisons):
        return None
    shared = [in_quotes(each.left.column) for each in comparisons if each.sign == "="]
    others = [each for each in comparisons if each.sign != "="]
    if len(others) > 1 or (others and others[0].sign != "!="):
        return None
    known = " AND ".join(f"{name} IS NOT NULL" for name in shared) if nulls == "distinct" else ""
    group = f"\nWHERE {known}" if known else ""
    group += f"\nGROUP BY {', '.join(shared)}" if shared else ""
    listed = "".join(f"{name}, " for name in shared)
    if not others:
        return f"SELECT {listed}COUNT(*) AS n FROM {table}{group}\nHAVING COUNT(*) > 1"
    column = in_quotes(others[0].left.column)
    several = f"MIN({column}) <> MAX({column}) OR COUNT({column}) BETWEEN 1 AND COUNT(*) - 1"
    if nulls == "distinct":  # each null is a value of its own
        several = f"COUNT(DISTINCT {column}) + COUNT(*) - COUNT({column}) > 1"
    return f"SELECT {listed}COUNT(DISTINCT {column}) AS n FROM {table}{group}\nHAVING {several}"


def _condition(breach: Breach, nulls: bool) -> str:
    return "\n  AND ".join(_compared(each, nulls) for each in breach.comparisons)


def _compared(comparison: Comparison, nulls: bool) -> str:
    left, sign, right = _written(comparison.left), comparison.sign, comparison.right
    if not isinstance(right, Cell):
        return f"{left} {_sql(sign)} {right.text}"
    other = _written(right)
    if not nulls:
        return f"{left} {_sql(sign)} {other}"
    if sign == "=":
        return f"{left} IS NOT DISTINCT FROM {other}"
    if sign == "!=":
        return _distinct(left, other)
    low, high = (left, other) if sign in ("<", "<=") else (other, left)
    if sign in ("<", ">"):
        return f"({low} < {high} OR ({low} IS NULL AND {high} IS NOT NULL))"
    return f"({low} <= {high} OR {low} IS NULL)"


def _written(cell: Cell) -> str:
    return f"{cell.row}.{in_quotes(cell.column)}"


def _distinct(one: str, other: str) -> str:
    return f"{one} IS DISTINCT FROM {other}"


def _sql(sign: str) -> str:
    return "<>" if sign == "!=" else sign


def _may_meet_itself(breach: Breach) -> bool:
    """Whether a row could break the rule with itself: no comparison tells it from itself."""
    return all(
        not isinstance(each.right, Cell)
        or each.left.row == each.right.row
        or each.left.column != each.right.column
        or each.sign in ("=", "<=", ">=")
        for each in breach.comparisons
    )
