"""Rules about a table as a whole: a quantity of it compares with a constant.

    rows >= 1000
    share(null Phone) <= 0.01      of all rows
    share(t.State = 'ok') >= 0.99  of all rows, those for which a condition is true; count(…) is their number
    distinct(State) = 50           values, nulls aside
    min(Salary) >= 0, max(Day) <= DATE '2030-01-01'
    avg(x) between 10 and 20, sum(x), stddev(x)      nulls aside
    median(x), quantile(x, 0.95)   values of the column
    rows_in_batch >= 20            of the last batch: rows inserted and updated
    newest(Day) >= now - 2 days    the greatest value among these rows

A quantity may be unknown: the share in a table without rows, the least value of a column without values, what a batch
brought before there was one. Then the table keeps the rule.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self, TypeAlias, get_args

from holdfast.errors import BadInput
from holdfast.rules.conditions import Between, Comparison, Condition, IsNull, constants_of, of_t
from holdfast.rules.constants import Constant
from holdfast.rules.language import AND, ConditionReader
from holdfast.rules.reader import OPERATORS, is_number, without_quoted
from holdfast.rules.rule import Breach, Rule, Scope
from holdfast.rules.terms import Term, names_of
from holdfast.search.queries import Operator
from holdfast.table.nulls import Nulls
from holdfast.text.quotes import quoted

if TYPE_CHECKING:  # Arrow is slow to import
    from holdfast.rules.check import Checker

Measure = Literal[
    "rows", "share", "count", "distinct", "min", "max", "avg", "sum", "stddev", "median", "quantile",
    "rows_in_batch", "newest",
]  # fmt: skip
Operation = Operator | Literal["between"]
_COUNTS = ("rows", "rows_in_batch")  # of no column
_MOMENTS = ("avg", "sum", "stddev")
_VALUES = ("min", "max", "median", "quantile", "newest")  # values of the column
OF_BATCH = ("rows_in_batch", "newest")
_START = re.compile(
    r"(?i)(?:(?:rows|rows_in_batch)\s*(?:[=<>!≠≤≥]|between\b)"
    rf"|(?:{'|'.join(each for each in get_args(Measure) if each not in _COUNTS)})\s*\((?![^()]*\)\s*in\b))"
)
_MEASURES = {
    "rows": "The number of rows",
    "share": "The share of rows with a null in {}",
    "distinct": "The number of values of {}",
    "min": "The least value of {}",
    "max": "The greatest value of {}",
    "avg": "The mean of {}",
    "sum": "The sum of {}",
    "stddev": "The standard deviation of {}",
    "median": "The median of {}",
    "rows_in_batch": "The number of rows that a batch brings",
    "newest": "The greatest value of {} that a batch brings",
}
_OPERATORS = {
    "=": "is", "!=": "is not", "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least",
    "between": "is between",
}  # fmt: skip


# ---- terms ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quantity(Term):
    """What is measured of a table: of a column, unless it is a number of rows; or of the rows for which a condition is
    true. `part` is the share of values that a quantile is above or equal to.
    """

    measure: Measure
    column: str = ""
    condition: Condition | None = None
    part: Constant | None = None

    NAMES = ("column", "condition")

    @property
    def text(self) -> str:
        """`share(null Phone)`."""
        if self.measure in _COUNTS:
            return self.measure
        if self.condition is not None:
            return f"{self.measure}({self.condition.text})"
        null = "null " if self.measure == "share" else ""
        part = "" if self.part is None else f", {self.part.text}"
        return f"{self.measure}({null}{quoted(self.column)}{part})"

    @property
    def says(self) -> str:
        """`The share of rows with a null in Phone`."""
        if self.condition is not None:
            return f"The {'share' if self.measure == 'share' else 'number'} of rows with {self.condition.text}"
        if self.part is not None:
            return f"The {self.part.text} quantile of {self.column}"
        return _MEASURES[self.measure].format(self.column)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names."""
        return names_of(self.condition) if self.measure in _COUNTS or self.condition else (self.column,)

    @property
    def is_value(self) -> bool:
        """Whether it is a value of its column, and not a number."""
        return self.measure in _VALUES

    @property
    def is_of_batch(self) -> bool:
        """Whether it is about the rows that the last batch brought."""
        return self.measure in OF_BATCH


@dataclass(frozen=True)
class Now:
    """The time at which a batch is applied, or a while before or after it."""

    later: dt.timedelta = dt.timedelta()

    @property
    def text(self) -> str:
        """`now - 2 days`."""
        if not self.later:
            return "now"
        return f"now {'-' if self.later < dt.timedelta() else '+'} {Constant(abs(self.later)).text}"

    def at(self, moment: dt.datetime, like: Constant) -> Constant:
        """The constant that it means at some moment, of the type of another one; a date is the day in UTC."""
        found = moment.astimezone(dt.UTC) + self.later
        if not isinstance(like.value, dt.datetime):
            return Constant(found.date())
        return Constant(found if like.value.tzinfo else found.replace(tzinfo=None))


Limit: TypeAlias = Constant | Now


# ---- the rule -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableRule(Rule):
    """A quantity of a table compares with a constant, or lies between two."""

    quantity: Quantity
    operator: Operation
    constant: Limit
    high: Limit | None = None  # of between, where the constant is the lower end

    NAMES = ("quantity", "where")
    ABOUT = ("columns",)
    kind = prefix = given_as = "table"
    example = "rows >= 1000"
    described = "a rule about a table"
    counted = "the table"  # one violation, or none

    @classmethod
    def means(cls, text: str) -> bool:
        """It starts with a quantity."""
        bare = without_quoted(text)
        return _START.match(bare) is not None and "->" not in bare

    @classmethod
    def parse(cls, text: str) -> Self:
        """`rows >= 1000`."""
        return cls(*_Reader(text).table_rule())

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The constants that it compares with."""
        return (self.constant,) if self.high is None else (self.constant, self.high)

    @property
    def compared(self) -> str:
        """What it compares with, as it is written: `1000`, or `10 and 20`."""
        return " and ".join(limit.text for limit in self.limits)

    @property
    def body(self) -> str:
        """`rows >= 1000`."""
        return f"{self.quantity.text} {self.operator} {self.compared}"

    @property
    def says(self) -> str:
        """`The number of rows is at least 1000.`"""
        return f"{self.quantity.says} {_OPERATORS[self.operator]} {self.compared}."

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it measures, if any, and those of its `where`."""
        return tuple(dict.fromkeys((*self.quantity.columns, *names_of(self.where))))

    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:  # noqa: ARG002
        """No row breaks it; the table does."""
        return ()

    @property
    def constants(self) -> list[Constant]:
        """All constants that it names."""
        conditions = [each for each in (self.quantity.condition, self.where) if each is not None]
        return [*self.ends, *(constant for each in conditions for constant in constants_of(each))]

    @property
    def ends(self) -> list[Constant]:
        """The constants of the comparison."""
        return [limit for limit in self.limits if isinstance(limit, Constant)]

    @property
    def has_now(self) -> bool:
        """Whether it compares with the present time: then it is judged with each batch, and only then."""
        return len(self.ends) < len(self.limits)

    @property
    def is_judged_by_batch(self) -> bool:
        """Whether the rows of the table alone don't decide it."""
        return self.has_now or self.quantity.is_of_batch

    def condition_at(self, moment: dt.datetime | None, like: Constant) -> Condition | None:
        """What a value of the column satisfies, at some moment; None where it is about a moment that is not known.
        `like` is a constant of the column's type.
        """
        if self.has_now and moment is None:
            return None
        cell = of_t(self.quantity.column)
        ends = [limit if isinstance(limit, Constant) else limit.at(moment, like) for limit in self.limits]  # type: ignore[arg-type]  # a moment is given
        return Between(cell, *ends) if self.operator == "between" else Comparison(cell, self.operator, ends[0])

    @property
    def of_rows(self) -> Condition | None:
        """A condition that rows violate which are worth a look, such as rows with a null; None: there is none."""
        cell, measure = of_t(self.quantity.column), self.quantity.measure
        below, above = self.operator in ("<", "<=", "between"), self.operator in (">", ">=", "between")
        if measure in ("share", "count") and (below or self.operator == "="):
            condition = self.quantity.condition
            return IsNull(cell, negated=True) if condition is None else condition.opposite
        if measure in ("share", "count") and above:
            return self.quantity.condition
        if self.is_judged_by_batch or measure not in ("min", "max"):
            return None
        limit = self.limits[-1 if measure == "max" else 0]
        assert isinstance(limit, Constant)
        if measure == "max" and below:
            return Comparison(cell, "<" if self.operator == "<" else "<=", limit)
        if measure == "min" and above:
            return Comparison(cell, ">" if self.operator == ">" else ">=", limit)
        return None

    def checked(self, scope: Scope) -> tuple[Self, Sequence[str]]:
        """With constants in the types of the columns."""
        from holdfast.rules.check import Checker  # Arrow is slow to import

        checker = Checker.of(scope.schema, scope.ordered)
        quantity = self.quantity
        if quantity.condition is not None:
            quantity = replace(quantity, condition=checker.condition(quantity.condition))
        own = replace(self, table=scope.table, quantity=quantity)
        if quantity.is_value:
            return own._of_values(checker), ()
        if quantity.column:
            checker.condition(IsNull(of_t(quantity.column)))
        if quantity.measure in _MOMENTS:
            checker.refuse_other_than_numbers(of_t(quantity.column), quantity.text)
        for limit in own.ends:
            _check_number(own, limit)
        return own, ()

    def _of_values(self, checker: Checker) -> Self:
        """The rule about a value of a column, with constants in its type."""
        cell = of_t(self.quantity.column)
        for limit in self.limits:
            if isinstance(limit, Now):
                checker.refuse_other_than_moments(cell, self.text)
            else:
                checker.condition(Comparison(cell, "<", limit))  # the least value needs an order
        if not self.ends:
            return self

        def fit(limit: Limit) -> Limit:
            if isinstance(limit, Now):
                return limit
            fitted = checker.condition(Comparison(cell, "=", limit)).operands[-1]
            assert isinstance(fitted, Constant)
            return fitted

        return replace(self, constant=fit(self.constant), high=None if self.high is None else fit(self.high))


def _check_number(rule: TableRule, limit: Constant) -> None:
    number = limit.value
    if isinstance(number, float) and not math.isfinite(number):
        raise BadInput(f"{rule.text} does not compare with a number; write one")
    if rule.quantity.measure == "share" and not 0 <= number <= 1:  # type: ignore[operator]  # it is a number
        raise BadInput(f"{rule.text}: a share is from 0 to 1; write 0.01 for one in a hundred")


# ---- its text -------------------------------------------------------------------------------------------------------


class _Reader(ConditionReader):
    """Reads a rule about a table."""

    def table_rule(self) -> tuple[Quantity, Operation, Limit, Limit | None]:
        """The whole text."""
        quantity = self._quantity()
        token = self.one_of(
            [*OPERATORS, "between"], f"expected an operator after {self.last}, such as =, >= or between"
        )
        low, high = self._limit(quantity), None
        if token.word == "between":
            self.one_of(AND, f"expected and after {self.last}: between has two ends")
            high = self._limit(quantity)
        self.end(f"expected the end after {self.last}: a rule about a table is one comparison")
        return quantity, "between" if token.word == "between" else OPERATORS[token.word], low, high

    def _limit(self, quantity: Quantity) -> Limit:
        token = self.peek
        if token.word == "now":
            if quantity.measure not in ("min", "max", "newest"):
                raise self.error(token, f"{quantity.text} is no time; now compares with newest(…), min(…) or max(…)")
            return self._now()
        constant = self.constant()
        if not quantity.is_value and not is_number(constant):
            raise self.error(token, f"expected a number: {quantity.text} is one")
        return constant

    def _now(self) -> Now:
        self.take()
        sign = self.takes("+", "-")
        if not sign:
            return Now()
        token = self.peek
        later = self.constant().value
        if not isinstance(later, dt.timedelta):
            raise self.error(token, f"expected a while after {sign}, such as 2 days")
        return Now(later if sign == "+" else -later)

    def _quantity(self) -> Quantity:
        token = self.take()
        measure = next((each for each in get_args(Measure) if each == token.word), None)
        if measure is None:
            raise self.error(token, "expected a quantity of a table, such as rows, share(null …), min(…) or avg(…)")
        if measure in _COUNTS:
            return Quantity(measure)
        self.expect("(")
        if measure == "count" or (measure == "share" and not self._is_of_nulls()):
            condition = self.either()
            self._close()
            return Quantity(measure, condition=condition)
        if measure == "share":
            self.take()
        column = self.name(f"expected a column after {self.last}; put names that aren't plain words in double quotes")
        part = self._part() if measure == "quantile" else None
        self._close()
        return Quantity(measure, column, part=part)

    def _is_of_nulls(self) -> bool:
        return self.peek.word == "null"

    def _close(self) -> None:
        if self.peek.word != ")":
            raise self.error(self.peek, f"expected ) after {self.last}")
        self.take()

    def _part(self) -> Constant:
        self.one_of([","], f"expected , after {self.last}, and a share, such as quantile(x, 0.95)")
        token = self.peek
        part = self.constant()
        if not is_number(part) or not 0 <= part.value <= 1:  # type: ignore[operator]  # it is a number
            raise self.error(token, "expected a share from 0 to 1, such as quantile(x, 0.95)")
        return part
