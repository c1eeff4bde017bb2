"""Likely equations between columns: `t.amount = t.quantity * t.unit_price`, sums, differences, ratios, a constant
factor, and columns that are equal.

An equation is exact where rules reckon exactly, with integers and decimals. Elsewhere the sides may differ by half a
unit of the last decimal that the left column has. Some rows refute nearly all equations: first 32, then a few thousand.
Those that are left are evaluated in all rows, as rules are.

An equation says something only where its parts matter: rows in which a term is 0, or a factor 1, show nothing, and nor
do rows with the same numbers. Of equations between the same columns the one that leaves least room stands for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from holdfast.engines.row.seen import SeenColumn, evenly
from holdfast.engines.row.tails import Floats
from holdfast.rules.conditions import Arithmetic, Between, Comparison, Condition, Operand, Sign, of_t
from holdfast.rules.constants import Constant
from holdfast.table.plain import plain_values

FIRST, MORE = 32, 4096  # rows that refute
SHOWN = 20  # rows with different numbers that show an equation
_NEARLY = 0.01
_MOST_COLUMNS = 64  # that may be parts of an equation
_MOST_OF_FOUR = 14  # the same of sums of three
_SLACK = 1.002  # half a unit, and what floating point adds to a half
_NOISE = 1e-9  # of floating point
_FINE = 0.05  # what sides may differ by is at most this share of how the left one varies

Formula = Callable[..., Floats]


@dataclass(frozen=True)
class _Form:
    """A kind of equation: what the left column is made of, in numbers and as an operand of rules."""

    name: str
    reckon: Formula
    written: Callable[..., Operand]
    neutral: Sequence[float]  # the numbers with which each part makes no difference
    symmetric: bool
    divides: bool = False


def _join(left: Operand, sign: Sign, right: Operand) -> Arithmetic:
    return Arithmetic(left, sign, right)


_ONE = Constant(1)
_FORMS = (
    _Form("sum", lambda b, c: b + c, lambda b, c: _join(b, "+", c), (0.0, 0.0), True),
    _Form("product", lambda b, c: b * c, lambda b, c: _join(b, "*", c), (1.0, 1.0), True),
    _Form("with a rate", lambda b, c: b * (1 + c), lambda b, c: _join(b, "*", _join(_ONE, "+", c)), (0.0, 0.0), False),
    _Form("less a rate", lambda b, c: b * (1 - c), lambda b, c: _join(b, "*", _join(_ONE, "-", c)), (0.0, 0.0), False),
    _Form("ratio", lambda b, c: b / c, lambda b, c: _join(b, "/", c), (0.0, 1.0), False, divides=True),
)
_FORMS_OF_THREE = (
    _Form("sum", lambda b, c, d: b + c + d, lambda b, c, d: _join(_join(b, "+", c), "+", d), (0.0,) * 3, True),
    _Form(
        "sum less one", lambda b, c, d: b + c - d, lambda b, c, d: _join(_join(b, "+", c), "-", d), (0.0,) * 3, False
    ),
)


@dataclass(frozen=True)
class LikelyEquation:
    """An equation that some rows do not refute."""

    left: SeenColumn
    parts: tuple[SeenColumn, ...]
    condition: Condition
    slack: float = 0.0  # by which the sides may differ

    @property
    def looseness(self) -> float:
        """The slack as a share of how much the left column varies."""
        return self.slack / _spread(self.left) if self.slack else 0.0

    @property
    def places(self) -> frozenset[int]:
        """The columns that it is about."""
        return frozenset([self.left.place, *(part.place for part in self.parts)])


def equations(columns: Sequence[SeenColumn], rows: int) -> list[LikelyEquation]:
    """The equations that some rows do not refute, at most one between the same columns."""
    search = _Search([each for each in columns if _may_be_part(each)], rows)
    found: dict[frozenset[int], LikelyEquation] = {}
    seen = [*search.of_two(), *search.of_three(), *search.of_four()]
    for each in sorted(seen, key=lambda each: (len(each.parts), each.looseness)):
        shorter = any(places < each.places for places in found)
        if not shorter:
            found.setdefault(each.places, each)
    return list(found.values())


def equal_texts(columns: Sequence[SeenColumn], rows: int) -> Iterator[LikelyEquation]:
    """Columns of texts, dates or moments that are equal wherever both have a value."""
    others = [each for each in columns if (each.is_text or each.is_time) and each.distinct >= 2]
    first = evenly(rows, FIRST)
    some = [plain_values(each.texts_at(first)) for each in others]
    for one, other in combinations(range(len(others)), 2):
        if others[one].family != others[other].family:
            continue
        both = [(a, b) for a, b in zip(some[one], some[other], strict=True) if a is not None and b is not None]
        if len(both) >= FIRST // 2 and sum(a != b for a, b in both) <= 1 and len({a for a, _ in both}) > 1:
            left, right = others[one], others[other]
            yield LikelyEquation(left, (right,), Comparison(of_t(left.name), "=", of_t(right.name)))


def _may_be_part(column: SeenColumn) -> bool:
    return column.is_number and column.distinct >= 2 and column.is_finite and column.decimals is not None


def _may_be_left(column: SeenColumn) -> bool:
    return column.distinct >= SHOWN // 2


class _Search:
    """Some rows of the columns that may be parts."""

    def __init__(self, columns: Sequence[SeenColumn], rows: int) -> None:
        most = sorted(columns, key=lambda each: -each.distinct)[:_MOST_COLUMNS]
        self._columns = sorted(most, key=lambda each: each.place)
        first, self._more = evenly(rows, FIRST), evenly(rows, MORE)
        shape = (len(self._columns), len(first))
        self._first = np.array([each.floats_at(first) for each in self._columns]).reshape(shape)
        self._lefts = [place for place, each in enumerate(self._columns) if _may_be_left(each)]
        self._left_rows = self._first[self._lefts]
        self._most = np.array([_slack(self._columns[place], None) for place in self._lefts])[:, None]
        self._known: dict[int, Floats] = {}

    def of_two(self) -> Iterator[LikelyEquation]:
        """Columns that are equal, or a multiple of one another."""
        for right in range(len(self._columns)):
            for left in self._lefts:
                if left != right and (factor := self._factor(left, right)) is not None:
                    if factor == 1.0 and right < left and right in self._lefts:
                        continue  # the same the other way round
                    yield self._multiple(left, right, factor)

    def of_three(self) -> Iterator[LikelyEquation]:
        """Columns that follow from two others."""
        return self._of(_FORMS, 2)

    def of_four(self) -> Iterator[LikelyEquation]:
        """Columns that are sums of three others."""
        return self._of(_FORMS_OF_THREE, 3) if len(self._columns) <= _MOST_OF_FOUR else iter(())

    def _of(self, forms: Sequence[_Form], count: int) -> Iterator[LikelyEquation]:
        for form in forms:
            for some in combinations(range(len(self._columns)), count):
                for parts in [some] if form.symmetric else [some[place:] + some[:place] for place in range(count)]:
                    yield from self._made_of(form, parts)

    def _made_of(self, form: _Form, parts: tuple[int, ...]) -> Iterator[LikelyEquation]:
        """The equations of a form with some parts on the right."""
        with np.errstate(all="ignore"):
            made = form.reckon(*(self._first[part] for part in parts))
            apart = np.abs(self._left_rows - made)
        compared = np.isfinite(apart)
        refuted = np.count_nonzero(compared & (apart > self._most), axis=1)
        for place in np.flatnonzero((refuted <= 1) & (np.count_nonzero(compared, axis=1) >= FIRST // 4)):
            left = self._lefts[place]
            if left not in parts and self._is_shown(form, left, parts):
                yield self._equation(form, left, parts)

    def _is_shown(self, form: _Form, left: int, parts: tuple[int, ...]) -> bool:
        """Whether enough rows with different numbers show an equation, and hardly any refutes it."""
        numbers = [self._rows_of(part) for part in parts]
        with np.errstate(all="ignore"):
            apart = np.abs(self._rows_of(left) - form.reckon(*numbers))
        compared = np.isfinite(apart)
        column = self._columns[left]
        refuted = np.count_nonzero(compared & (apart > _slack(column, self._is_exact(form, left, parts))))
        if refuted > _NEARLY * np.count_nonzero(compared):
            return False
        matter = compared & np.logical_and.reduce(
            [own != neutral for own, neutral in zip(numbers, form.neutral, strict=True)]
        )
        if any(len(np.unique(own[matter])) < 2 for own in numbers):
            return False
        lefts = self._rows_of(left)[matter]
        return len(np.unique(lefts)) >= SHOWN // 2 and _slack(column, None) <= _FINE * float(lefts.std()) + _NOISE

    def _rows_of(self, place: int) -> Floats:
        if place not in self._known:
            self._known[place] = self._columns[place].floats_at(self._more)
        return self._known[place]

    def _is_exact(self, form: _Form, left: int, parts: tuple[int, ...]) -> bool:
        """Whether both sides are reckoned exactly, and need not be rounded."""
        if form.divides or not all(self._columns[place].is_exact for place in (left, *parts)):
            return False
        digits = [self._columns[part].decimals or 0 for part in parts]
        made = sum(digits) if form.neutral[-1] == 1.0 or form.name.endswith("rate") else max(digits)
        return made <= (self._columns[left].decimals or 0)

    def _equation(self, form: _Form, left: int, parts: tuple[int, ...]) -> LikelyEquation:
        columns = tuple(self._columns[part] for part in parts)
        cell, made = of_t(self._columns[left].name), form.written(*(of_t(each.name) for each in columns))
        exact = self._is_exact(form, left, parts)
        return _written(self._columns[left], columns, cell, made, exact)

    # ---- two columns ------------------------------------------------------------------------------------------------

    def _factor(self, left: int, right: int) -> float | None:
        """How many times one column another is, in some rows: 1, or a number of few digits."""
        quick = _factor_of(self._first[left], self._first[right], _slack(self._columns[left], None))
        if quick is None:
            return None
        one, other = self._rows_of(left), self._rows_of(right)
        both = ~(np.isnan(one) | np.isnan(other))
        refuted = np.count_nonzero(np.abs(one - quick * other)[both] > _slack(self._columns[left], None))
        shown = len(np.unique(one[both & (other != 0)]))
        return quick if refuted <= _NEARLY * np.count_nonzero(both) and shown >= SHOWN // 2 else None

    def _multiple(self, left: int, right: int, factor: float) -> LikelyEquation:
        one, other = self._columns[left], self._columns[right]
        made: Operand = of_t(other.name)
        exact = one.is_exact and other.is_exact and factor == int(factor)
        if factor != 1.0:
            number = int(factor) if factor == int(factor) else factor
            made = _join(made, "*", Constant(number))
        equal = factor == 1.0 and one.decimals == other.decimals
        return _written(one, (other,), of_t(one.name), made, exact or equal)


def _factor_of(left: Floats, right: Floats, slack: float) -> float | None:
    both = ~(np.isnan(left) | np.isnan(right)) & (right != 0)
    if np.count_nonzero(both) < FIRST // 4:
        return None
    largest = np.argmax(np.where(both, np.abs(right), -1.0))
    factor = float(f"{left[largest] / right[largest]:.4g}")
    if factor == 0.0 or (abs(factor) < 1.0):
        return None  # the other way round it has fewer digits
    refuted = np.count_nonzero(np.abs(left - factor * right)[both] > slack)
    return factor if refuted <= 1 else None


def _slack(column: SeenColumn, exact: bool | None) -> float:
    """How far the sides of an equation may be apart: nothing but noise if both are exact; None: not known yet."""
    slack = _SLACK * 0.5 * 10.0 ** -(column.decimals or 0)
    return _NOISE if exact or slack > _FINE * _spread(column) else slack


def _spread(column: SeenColumn) -> float:
    """How much the distinct values of a column vary."""
    return float(column.numbers.values.std())


def _written(
    left: SeenColumn, parts: tuple[SeenColumn, ...], cell: Operand, made: Operand, exact: bool
) -> LikelyEquation:
    """`t.a = t.b + t.c`, or that the sides differ by half a unit of the left one's last decimal at most."""
    if exact:
        return LikelyEquation(left, parts, Comparison(cell, "=", made))
    limit = float(f"{_slack(left, exact=False):.4g}")
    condition = Between(_join(cell, "-", made), Constant(-limit), Constant(limit))
    return LikelyEquation(left, parts, condition, limit)


def compared_by(found: Sequence[LikelyEquation]) -> set[frozenset[int]]:
    """The pairs of columns that equations compare: the left one and a part, as the others hardly change."""
    return {frozenset([each.left.place, part.place]) for each in found for part in each.parts}
