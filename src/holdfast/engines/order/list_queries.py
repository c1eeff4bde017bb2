"""List order dependencies as pair queries (papers: fastod, theorem 5, with a direction for each column).

Rows t and s violate `X orders Y` iff t is not after s by X, and after s by Y. How they compare by a list is decided by
the first column on which they differ. So for each column of X and each of Y that may decide there is one conjunction:
equal on the columns before both, t before s on the one (or equal, if it is the last of X: these are the splits), and t
after s on the other. No pair meets two of them. A column may be compared several times, upwards and downwards: what is
left is what all comparisons allow, and where that is nothing, the conjunction is never met and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from holdfast.engines.order.list_model import ListOD, SortColumn
from holdfast.search.queries import Condition, Operator, PairQuery
from holdfast.table.table import Schema

_BELOW, _EQUAL, _ABOVE = -1, 0, 1  # t's value beside that of s
_Allowed = Mapping[str, frozenset[int]]
_OPERATORS: Mapping[frozenset[int], Operator] = {
    frozenset([_EQUAL]): "=",
    frozenset([_BELOW]): "<",
    frozenset([_ABOVE]): ">",
    frozenset([_BELOW, _EQUAL]): "<=",
    frozenset([_EQUAL, _ABOVE]): ">=",
}


def queries_of(rule: ListOD, schema: Schema) -> list[PairQuery]:
    """The queries whose pairs (t, s) violate a rule in tables of a schema; none where no rows can."""
    number = {name: place for place, name in enumerate(schema.names)}
    return [
        PairQuery(tuple(Condition(number[name], _OPERATORS[signs], number[name]) for name, signs in allowed.items()))
        for allowed in _conjunctions(rule)
    ]


def _conjunctions(rule: ListOD) -> Iterator[_Allowed]:
    """What each conjunction allows of the columns that it compares."""
    for left in _not_after(rule):
        for j, column in enumerate(rule.then):
            allowed = _all_of([*left, *_equal(rule.then[:j]), (column.name, _after(column))])
            if all(allowed.values()):
                yield allowed


def _not_after(rule: ListOD) -> Iterator[list[tuple[str, frozenset[int]]]]:
    """The ways in which t is not after s by the left list."""
    last = len(rule.by) - 1
    for i, column in enumerate(rule.by):
        before = frozenset(-sign for sign in _after(column))
        yield [*_equal(rule.by[:i]), (column.name, before | {_EQUAL} if i == last else before)]
    if not rule.by:
        yield []


def _equal(columns: Iterable[SortColumn]) -> list[tuple[str, frozenset[int]]]:
    return [(column.name, frozenset([_EQUAL])) for column in columns]


def _after(column: SortColumn) -> frozenset[int]:
    """What t's value is beside that of s where t comes after s by a column."""
    return frozenset([_BELOW if column.descending else _ABOVE])


def _all_of(compared: Iterable[tuple[str, frozenset[int]]]) -> _Allowed:
    allowed: dict[str, frozenset[int]] = {}
    for name, signs in compared:
        allowed[name] = allowed.get(name, signs) & signs
    return allowed
