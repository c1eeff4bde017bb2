"""Why some rows break a rule, in words: one builder for the terminal, `explain`, pages and notebooks.

    Id 20017 and Id 41 violate fair: both have State 'CA'; Salary 9999999 of Id 20017 is above Salary 51137 of Id 41
    Id 3: Age 150 is not between 0 and 120

Rows that break a rule meet all predicates of one of its breaches, so the sentence states these with the rows' values.
Open is which breach it is, which row is t, and which sides of an `or` are true: an `Evaluator` decides, from values as
JSON has them (`PlainRows`), or from a table. Where it can't decide, the sentence says only what is certain.
"""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.changes.diff import Witness
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
    Row,
    cells_of,
)
from holdfast.rules.constants import Constant
from holdfast.rules.rule import Breach, NoPartner, Predicate, Rule, listed
from holdfast.table.nulls import Nulls
from holdfast.text.row_names import Values, short_names
from holdfast.visible import without_fraction

if TYPE_CHECKING:  # Arrow takes its time
    from holdfast.table.table import Schema

Show = Callable[[Any], str]  # a value as a text: as it is, or hashed

_ROWS: tuple[Row, Row] = ("t", "s")
_OPERATORS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "=": ("equals", operator.eq),
    "!=": ("differs from", operator.ne),
    "<": ("is below", operator.lt),
    "<=": ("is at most", operator.le),
    ">": ("is above", operator.gt),
    ">=": ("is at least", operator.ge),
}
_STARTS = ("both have ", "this row has ", "a split: ", "a swap: ")  # and not with the name of a column


class Evaluator(Protocol):
    """Evaluates conditions on rows t and s."""

    def truth(self, condition: Condition) -> bool | None:
        """Whether a condition is true, and not false or unknown; None: this evaluator can't decide."""

    def value(self, operand: Arithmetic | Call) -> Any | None:
        """The result of arithmetic or a function; None: this evaluator can't calculate it."""


@dataclass(frozen=True)
class Why:
    """Why rows break a rule. `order` has the places of the rows in the order in which it names them, t first; `marked`
    the columns that may be at fault; `kind` the name of the breach, if it has one: a split, a swap.
    """

    reason: str  # empty if the values are not known
    order: tuple[int, ...]
    marked: tuple[str, ...]
    kind: str = ""

    @property
    def text(self) -> str:
        """`a swap: both have Year 2016; …`."""
        return f"a {self.kind}: {self.reason}" if self.kind and self.reason else self.reason

    @property
    def closed(self) -> str:
        """As a full sentence. A column name stays as it is, also as the first word."""
        start = self.text[:1].upper() if self.text.startswith(_STARTS) else self.text[:1]
        return f"{start}{self.text[1:]}." if self.text else ""


def shown(value: Any) -> str:
    """A value as it is; a time without a fraction of zeros."""
    return "null" if value is None else repr(without_fraction(value) if isinstance(value, str) else value)


def why(
    rule: Rule,
    rows: Sequence[Values],
    names: Sequence[str],
    nulls: Nulls = Nulls.EQUAL,
    show: Show = shown,
    numeric: Container[str] = (),
    evaluator: Evaluator | None = None,
    directed: bool = False,
) -> Why:
    """Why rows break a rule, given that they do.

    `rows` are their values as JSON has them, `names` their names, and `numeric` the columns of numbers, which JSON may
    have as text. An `evaluator` that has the table decides better. `directed`: the rows are t and s, in this order.
    """
    places, breaches = tuple(range(len(rows))), rule.breaches(nulls)
    cases = [
        (breach, order)
        for breach in breaches
        for order in ((places, places[::-1]) if breach.is_pair and not directed else (places,))
    ]
    if not cases:
        own = PlainRows(dict(zip(_ROWS, rows, strict=False)))
        speaker, cells = Speaker(own.rows, {}, show, own), [Cell("t", column) for column in rule.columns]
        return Why(speaker.facts(cells) if len(rows) == 1 and speaker.has(cells) else "", places, rule.columns)
    breach, order, own = _met(cases, rows, numeric, evaluator)
    named = dict(zip(_ROWS, (names[place] for place in order), strict=False))
    whose = named if breach.is_pair or rule.verbatim else {}
    speaker = Speaker(own.rows, whose, show, evaluator or own, rule.verbatim)
    if not speaker.has(breach.cells):
        return Why("", places, breaches[0].faults)
    kind = rule.name_of(breach, own.rows["t"], own.rows.get("s", {}))
    return Why(speaker.breach(breach), order, speaker.faults(breach), kind)


_Case = tuple[Breach, tuple[int, ...]]  # and the order of rows in which they meet it


def _met(
    cases: Sequence[_Case], rows: Sequence[Values], numeric: Container[str], evaluator: Evaluator | None
) -> tuple[Breach, tuple[int, ...], PlainRows]:
    """The case that applies: the first that certainly does, else the first that may."""
    possible = None
    for breach, order in cases:
        own = PlainRows(dict(zip(_ROWS, (rows[place] for place in order), strict=False)), numeric)
        truth = True if len(cases) == 1 else _all((evaluator or own).truth(each) for each in breach.conditions)
        if truth:
            return breach, order, own
        if possible is None or (truth is None and possible[0] is False):
            possible = truth, (breach, order, own)
    assert possible is not None
    return possible[1]


def sentence(rule: Rule, said: Why, names: Sequence[str], called: str = "") -> str:
    """Why rows break a rule, with the names of the rows and of the rule (`called`, or else its text)."""
    who = listed([names[place] for place in said.order])
    if len(names) == 1 and not rule.verbatim:
        return f"{who}: {said.text}"
    return f"{who} {'violates' if len(names) == 1 else 'violate'} {called or rule.text}: {said.text}"


def explained(rule: Rule, witness: Witness, schema: Schema, *, directed: bool = False) -> Witness:
    """The witness with a sentence why its rows break a rule: `row 7 and row 3: both have …`."""
    names = short_names(witness.rows, witness.keys)
    said = why(rule, witness.values, names, schema.nulls, numeric=schema.numeric, directed=directed)
    who = listed([names[place] for place in said.order])
    return Witness(witness.rows, witness.values, witness.keys, sentence=f"{who}: {said.text}")


def _all(truths: Iterator[bool | None]) -> bool | None:
    """Whether all are true; None: unknown."""
    found = list(truths)
    return False if False in found else None if None in found else True


# ---- words ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Speaker:
    """States conditions that are true of rows, with the rows' values, and whose these are if rows have names.

    `t.A <= s.A` is stated as it is met (both have the same, or one is below), unless `verbatim`.
    """

    rows: Mapping[Row, Values]
    names: Mapping[Row, str]
    show: Show
    evaluator: Evaluator
    verbatim: bool = False

    def has(self, cells: Sequence[Cell]) -> bool:
        """Whether the values of some cells are known."""
        return all(cell.column in self.rows.get(cell.row, ()) for cell in cells)

    def breach(self, breach: Breach) -> str:
        """All its predicates."""
        if not breach.predicates:
            return "these are two rows"
        return "; ".join(map(self.predicate, breach.predicates))

    def predicate(self, given: Predicate) -> str:
        """A predicate that is true."""
        if isinstance(given, Comparison):
            return self._comparison(given)
        if isinstance(given, NoPartner):
            own = [f"{column} {self.show(self.rows['t'].get(column))}" for column in given.columns]
            return f"{listed(own)} {'is' if len(own) == 1 else 'are'} no {listed(given.other_columns)} of {given.other}"
        if isinstance(given, Every):
            return ", and ".join(map(self.predicate, given.parts))
        if isinstance(given, Either):
            return "; ".join(map(self.predicate, self._true_sides(given))) or self.facts(cells_of(given))
        return self._test(given)

    def facts(self, cells: Sequence[Cell]) -> str:
        """What rows have in some cells."""
        said = []
        for row in self.rows:
            own = dict.fromkeys(cell.column for cell in cells if cell.row == row)
            values = [f"{column} {self.show(self.rows[row][column])}" for column in own]
            said += [f"{self.names.get(row, 'this row')} has {listed(values)}"] if values else []
        return " and ".join(said)

    def faults(self, breach: Breach) -> tuple[str, ...]:
        """The columns that may be at fault; of an `or`, those of its true sides."""
        if not any(isinstance(each, Every | Either) for each in breach.predicates):
            return breach.faults
        said = set().union(*map(self._columns, breach.conditions))
        return tuple(column for column in breach.faults if column in said)

    def _columns(self, given: Condition) -> set[str]:
        if not isinstance(given, Every | Either):
            return {cell.column for cell in cells_of(given)}
        sides = self._true_sides(given) if isinstance(given, Either) else []
        return set().union(*map(self._columns, sides or given.parts))

    def _true_sides(self, given: Either) -> list[Condition]:
        """The true sides. At least one is true: if only one may be, it is that one. Empty if undecided."""
        truths = {part: self.evaluator.truth(part) for part in given.parts}
        possible = [part for part, truth in truths.items() if truth is not False]
        return [part for part in possible if truths[part]] or (possible if len(possible) == 1 else [])

    def _comparison(self, given: Comparison) -> str:
        how: str = given.operator
        if given.is_same_column:
            column = given.left.column  # type: ignore[union-attr]  # a cell
            value = self.rows["t"][column]
            if how in ("<=", ">=") and not self.verbatim:
                how = "=" if value == self.rows["s"][column] else how[0]
            if how == "=":
                return f"both have {column} {self.show(value)}"
        return f"{self._operand(given.left)} {_OPERATORS[how][0]} {self._operand(given.right)}"

    def _test(self, given: conditions.Test) -> str:
        own, no = self._operand(given.operand), given.no
        if isinstance(given, conditions.IsNull):
            return f"{own} is not null" if given.negated else f"{self._named(given.operand)} is null"
        if isinstance(given, conditions.OneOf):
            return f"{own} is {no}in ({', '.join(value.text for value in given.values)})"
        if isinstance(given, conditions.Between):
            return f"{own} is {no}between {self._operand(given.low)} and {self._operand(given.high)}"
        if isinstance(given, conditions.Like):
            return f"{own} is {no}like {Constant(given.pattern).text}"
        return f"{own} {'does not match' if given.negated else 'matches'} {Constant(given.pattern).text}"

    def _operand(self, operand: Operand) -> str:
        """The name of an operand with its value."""
        if isinstance(operand, Cell):
            return f"{operand.column} {self.show(self.rows[operand.row][operand.column])}{self._whose(operand)}"
        if isinstance(operand, Constant):
            return operand.text
        value = self.evaluator.value(operand)
        cells = dict.fromkeys(self._operand(cell) for cell in cells_of(operand))
        return f"{operand.text} ({', '.join(cells) if value is None else value})"

    def _named(self, operand: Operand) -> str:
        """The name of an operand."""
        return f"{operand.column}{self._whose(operand)}" if isinstance(operand, Cell) else operand.text

    def _whose(self, cell: Cell) -> str:
        return f" of {self.names[cell.row]}" if cell.row in self.names else ""


# ---- from values as JSON has them -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlainRows:
    """Evaluates conditions on the values that JSON has, except arithmetic and patterns: these need the table."""

    rows: Mapping[Row, Values]
    numeric: Container[str] = ()

    def value(self, operand: Arithmetic | Call) -> None:
        """Not known: the result depends on the types of the numbers."""

    def truth(self, condition: Condition) -> bool | None:
        """Whether a condition is true."""
        if isinstance(condition, Every):
            return _all(self.truth(part) for part in condition.parts)
        if isinstance(condition, Either):
            truths = [self.truth(part) for part in condition.parts]
            return True if True in truths else None if None in truths else False
        if isinstance(condition, Comparison):
            return self._compared(condition)
        if isinstance(condition, conditions.Between):
            ends = condition.ends
            return self.truth(Either(tuple(end.opposite for end in ends)) if condition.negated else Every(ends))
        if not isinstance(condition.operand, Cell):
            return None
        is_null = self._value(condition.operand) is None
        if isinstance(condition, conditions.IsNull):
            return is_null != condition.negated
        if is_null or not isinstance(condition, conditions.OneOf):
            return False if is_null else None
        found = [self._compared(Comparison(condition.operand, "=", value)) for value in condition.values]
        return None if None in found else (True in found) != condition.negated

    def _value(self, cell: Cell) -> Any:
        return self.rows.get(cell.row, {}).get(cell.column)

    def _compared(self, given: Comparison) -> bool | None:
        if not given.nulls.are_equal and any(self._value(cell) is None for cell in given.cells):
            return given.nulls.are_distinct and given.operator == "!="
        left, right = given.operands
        one, other = self._key(left, right), self._key(right, left)
        _, compare = _OPERATORS[given.operator]
        try:
            return None if one is None or other is None else bool(compare(one, other))
        except TypeError:  # of different types in JSON; the engine has compared them
            return None

    def _key(self, operand: Operand, other: Operand) -> tuple[int, Any] | None:
        """A key that orders as the engines do: null first, NaN last; None: not known."""
        if isinstance(operand, Arithmetic | Call):
            return None
        if isinstance(operand, Cell):
            value = self._value(operand)
            return _key(_number(value) if operand.column in self.numeric else value)
        return _key(_like(operand.value, self._value(other) if isinstance(other, Cell) else None))


def _key(value: Any) -> tuple[int, Any] | None:
    if value is None:
        return 0, 0
    if isinstance(value, dt.datetime | dt.time):  # may be written in several ways
        return None
    return (1, value) if value == value else (2, 0)


def _number(value: Any) -> Any:
    """JSON has no decimals, no NaN and no infinities."""
    try:
        return Decimal(value) if isinstance(value, str) else value
    except InvalidOperation:
        return value


def _like(constant: Any, value: Any) -> Any:
    """A constant as it compares with a value: with a float as the nearest float, with other numbers exactly."""
    if isinstance(constant, dt.date) and not isinstance(constant, dt.datetime):
        return constant.isoformat()
    if isinstance(value, float) and isinstance(constant, int | Decimal):
        return float(constant)
    return Decimal(repr(constant)) if isinstance(constant, float) and not isinstance(value, float) else constant
