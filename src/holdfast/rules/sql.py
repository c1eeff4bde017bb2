"""Rules as SQL queries that list what breaks them. A rule holds iff its query gives no row.

Plain SQL for Spark, DuckDB and PostgreSQL. Each comparison says what null means in it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from holdfast.rules import conditions
from holdfast.rules.conditions import (
    Arithmetic,
    Call,
    Cell,
    Comparison,
    Condition,
    Either,
    Every,
    Operand,
    constants_of,
    of_t,
)
from holdfast.rules.constants import Constant
from holdfast.rules.measure import Limit, TableRule
from holdfast.rules.row import RowRule
from holdfast.rules.rule import NoPartner, Predicate, Rule, shared_and_differing
from holdfast.table.nulls import Nulls
from holdfast.text.quotes import in_quotes

_TEXT = "'"
_ESCAPES = "!#$^~|"
_MEASURES = {
    "rows": "COUNT(*)",
    "share": "SUM(CASE WHEN {} IS NULL THEN 1 ELSE 0 END)",
    "distinct": "COUNT(DISTINCT {})",
    "min": "MIN({})",
    "max": "MAX({})",
    "avg": "AVG({})",
    "sum": "SUM({})",
    "stddev": "STDDEV_SAMP({})",
    "median": "PERCENTILE_DISC({part}) WITHIN GROUP (ORDER BY {})",
    "quantile": "PERCENTILE_DISC({part}) WITHIN GROUP (ORDER BY {})",
}


def query(rule: Rule, table: str, key: Sequence[str], nulls: Nulls = Nulls.EQUAL) -> str:
    """The query; empty where only row numbers, which SQL doesn't have, would tell two rows apart."""
    own = in_quotes(table)
    if isinstance(rule, TableRule):
        return _measured(rule, own)
    if isinstance(rule, RowRule):
        return f"SELECT * FROM {own} t\nWHERE NOT ({condition_sql(rule.satisfied)})"
    if (grouped := _grouped(rule, own, nulls)) is not None:
        return grouped
    breaches = rule.breaches(nulls)
    cases = ["\n  AND ".join(map(_joined, breach.predicates)) for breach in breaches]
    where = cases[0] if len(cases) == 1 else "\n   OR ".join(f"({each})" for each in cases)
    if not any(breach.is_pair for breach in breaches):
        return f"SELECT * FROM {own} t\nWHERE {where or 'FALSE'}"
    if any(all(map(_may_meet_itself, breach.predicates)) for breach in breaches):
        if not key:
            return ""
        differ = " OR ".join(_distinct(f"t.{in_quotes(name)}", f"s.{in_quotes(name)}") for name in key)
        where = f"({where})\n  AND ({differ})"
    return f"SELECT * FROM {own} t JOIN {own} s\n  ON {where}"


def _grouped(rule: Rule, table: str, nulls: Nulls) -> str | None:
    """FDs and keys by groups, which is quicker than pairs of rows; None for other rules."""
    parts = shared_and_differing(rule.broken_by(nulls))
    if parts is None:
        return None
    shared, others = ([in_quotes(name) for name in names] for names in parts)
    distinct = nulls.are_distinct
    wanted = [] if rule.where is None else [_joined(rule.where)]
    wanted += [f"{name} IS NOT NULL" for name in shared] if distinct else []
    group = f"\nWHERE {' AND '.join(wanted)}" if wanted else ""
    group += f"\nGROUP BY {', '.join(shared)}" if shared else ""
    listed = "".join(f"{name}, " for name in shared)
    alias = "" if rule.where is None else " t"
    if not others:
        return f"SELECT {listed}COUNT(*) AS n FROM {table}{alias}{group}\nHAVING COUNT(*) > 1"
    (column,) = others
    several = f"MIN({column}) <> MAX({column}) OR COUNT({column}) BETWEEN 1 AND COUNT(*) - 1"
    if distinct:  # each null is a value of its own
        several = f"COUNT(DISTINCT {column}) + COUNT(*) - COUNT({column}) > 1"
    return f"SELECT {listed}COUNT(DISTINCT {column}) AS n FROM {table}{alias}{group}\nHAVING {several}"


def _may_meet_itself(predicate: Predicate) -> bool:
    """Whether a predicate could be true for a row and itself."""
    if isinstance(predicate, Either):
        return any(map(_may_meet_itself, predicate.parts))
    if isinstance(predicate, Every):
        return all(map(_may_meet_itself, predicate.parts))
    if not isinstance(predicate, Comparison) or not predicate.is_same_column:
        return True
    differs = predicate.operator == "!=" and not predicate.nulls.are_distinct
    return not differs and predicate.operator not in ("<", ">")


# ---- conditions -----------------------------------------------------------------------------------------------------


def condition_sql(condition: Predicate) -> str:
    """A condition. Not all databases know `regexp_like`, which matches any part of a text."""
    if isinstance(condition, NoPartner):
        return _without_partner(condition)
    if isinstance(condition, Every | Either):
        return (" AND " if isinstance(condition, Every) else " OR ").join(map(_joined, condition.parts))
    if isinstance(condition, Comparison):
        return _compared(condition)
    timed = _is_timed(condition)
    own, no = operand_sql(condition.operand, timed), "NOT " if condition.negated else ""
    if isinstance(condition, conditions.IsNull):
        return f"{own} IS {no}NULL"
    if isinstance(condition, conditions.OneOf):
        return f"{own} {no}IN ({', '.join(map(operand_sql, condition.values))})"
    if isinstance(condition, conditions.Between):
        return f"{own} {no}BETWEEN {operand_sql(condition.low, timed)} AND {operand_sql(condition.high, timed)}"
    if isinstance(condition, conditions.Like):
        return f"{own} {no}LIKE {in_quotes(condition.pattern, _TEXT)}{_escape(condition)}"
    return f"{no}regexp_like({own}, {expression_sql(Constant(condition.pattern)).text})"


def _is_timed(condition: Condition) -> bool:
    """Whether a condition has a while: then its columns are times, which databases subtract as timestamps."""
    return any(isinstance(each.value, dt.timedelta) for each in constants_of(condition))


def expression_sql(pattern: Constant) -> Constant:
    """The regular expression that only the whole text matches."""
    return Constant(f"^(?:{pattern.value})$")


def _joined(part: Predicate) -> str:
    """As part of an `and` or an `or`."""
    return f"({condition_sql(part)})" if isinstance(part, Every | Either) else condition_sql(part)


def _without_partner(given: NoPartner) -> str:
    own = [f"t.{in_quotes(name)}" for name in given.columns]
    other = [f"s.{in_quotes(name)}" for name in given.other_columns]
    known = " AND ".join(f"{name} IS NOT NULL" for name in own)
    same = " AND ".join(f"{a} = {b}" for a, b in zip(own, other, strict=True))
    return f"{known}\n  AND NOT EXISTS (SELECT 1 FROM {in_quotes(given.other)} s WHERE {same})"


def _compared(given: Comparison) -> str:
    timed = _is_timed(given)
    left, sign, right = operand_sql(given.left, timed), given.operator, operand_sql(given.right, timed)
    if given.nulls.are_distinct and sign == "!=":
        return f"({left} <> {right} OR {left} IS NULL OR {right} IS NULL)"
    if not given.nulls.are_equal:
        return f"{left} {_sql(sign)} {right}"
    if sign == "=":
        return f"{left} IS NOT DISTINCT FROM {right}"
    if sign == "!=":
        return _distinct(left, right)
    low, high = (left, right) if sign in ("<", "<=") else (right, left)
    if sign in ("<", ">"):
        return f"({low} < {high} OR ({low} IS NULL AND {high} IS NOT NULL))"
    return f"({low} <= {high} OR {low} IS NULL)"


def _distinct(one: str, other: str) -> str:
    return f"{one} IS DISTINCT FROM {other}"


def _sql(sign: str) -> str:
    return "<>" if sign == "!=" else sign


def _escape(condition: conditions.Like) -> str:
    """An escape character that the pattern doesn't have: some databases take a backslash unless one is named."""
    if not condition.escape and "\\" not in condition.pattern:
        return ""
    free = (character for character in _ESCAPES if character not in condition.pattern)
    return f" ESCAPE {in_quotes(condition.escape or next(free, ''), _TEXT)}"


def operand_sql(operand: Operand, timed: bool = False) -> str:
    """An operand; of times that are calculated with, those of a date, too, are timestamps."""
    if isinstance(operand, Cell):
        own = f"{operand.row}.{in_quotes(operand.column)}"
        return f"CAST({own} AS TIMESTAMP)" if timed else own
    if isinstance(operand, Constant):
        if isinstance(operand.value, dt.timedelta):
            count, unit = operand.text.split()
            return f"INTERVAL '{count}' {unit.removesuffix('s').upper()}"
        word = operand.text.removeprefix("-")
        return f"CAST('{operand.text}' AS FLOAT)" if word in ("NaN", "Infinity") else operand.text
    if isinstance(operand, Call):
        return f"{operand.function.upper()}({operand_sql(operand.operand)})"
    sides = [(side, operand_sql(side, timed)) for side in (operand.left, operand.right)]
    left, right = (f"({own})" if isinstance(side, Arithmetic) else own for side, own in sides)
    if operand.sign == "/":  # in floating point; unknown for a division by zero
        return f"{left} * 1e0 / NULLIF({right}, 0)"
    return f"{left} {operand.sign} {right}"


# ---- tables ---------------------------------------------------------------------------------------------------------


def _measured(rule: TableRule, table: str) -> str:
    """The quantity of a table, if it breaks the rule; empty for what a batch brings, which no table shows."""
    if rule.quantity.is_of_batch:
        return ""
    measure, condition = rule.quantity.measure, rule.quantity.condition
    if condition is not None:
        case = f"CASE WHEN {condition_sql(condition)} THEN 1"
        quantity = f"COUNT({case} END)" if measure == "count" else f"SUM({case} ELSE 0 END)"
    else:
        part = "0.5" if rule.quantity.part is None else rule.quantity.part.text
        quantity = _MEASURES[measure].format(operand_sql(of_t(rule.quantity.column)), part=part)
    ends = [_limit(limit) for limit in rule.limits]
    compared = quantity
    if measure == "share":  # a division would round
        compared, ends = quantity, [f"{end} * COUNT(*)" for end in ends]
        quantity = f"{quantity} * 1e0 / COUNT(*)"
    operator = "BETWEEN" if rule.operator == "between" else _sql(rule.operator)
    where = "" if rule.where is None else f"\nWHERE {condition_sql(rule.where)}"
    broken = f"NOT ({compared} {operator} {' AND '.join(ends)})"
    return f"SELECT {quantity} AS value FROM {table} t{where}\nHAVING {broken}"


def _limit(limit: Limit) -> str:
    if isinstance(limit, Constant):
        return operand_sql(limit)
    if not limit.later:
        return "CURRENT_TIMESTAMP"
    sign = "-" if limit.later < dt.timedelta() else "+"
    return f"CURRENT_TIMESTAMP {sign} {operand_sql(Constant(abs(limit.later)))}"
