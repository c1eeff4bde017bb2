"""The given rule that a found rule becomes, and the denial constraint that is equivalent to a rule."""

from __future__ import annotations

from dataclasses import replace

from holdfast.errors import BadInput
from holdfast.rules.conditions import Arithmetic, Call
from holdfast.rules.denial import DenialConstraint
from holdfast.rules.dependency import FD
from holdfast.rules.rule import Rule, only_comparisons, shared_and_differing
from holdfast.table.nulls import Nulls

_ORDERS = ("<", "<=", ">", ">=")


def as_given(rule: Rule) -> tuple[Rule, tuple[str, ...]]:
    """A found rule as a given one, and the columns whose order it needs.

    Keys, FDs and references stay as they are. An order dependency, also a pointwise one, says that no two rows compare
    in some way. That is an FD if they agree on some columns and differ on one, else a denial constraint.

    >>> from holdfast.rules.registry import parse
    >>> given, ordered = as_given(parse("{State}: Salary ~ Rate"))
    >>> given.text, ordered
    ('not(t.State = s.State and t.Salary < s.Salary and t.Rate > s.Rate)', ('Salary', 'Rate'))
    """
    if rule.given_as:
        return rule, ()
    given = _dependency(rule) or denial_of(rule)
    if given is None:
        raise BadInput(f"{rule.text!r} can't be written as a denial constraint or a functional dependency")
    compared = [each for breach in given.breaches() for each in breach.comparisons if each.operator in _ORDERS]
    return given, tuple(dict.fromkeys(cell.column for each in compared for cell in each.cells))


def denial_of(rule: Rule) -> DenialConstraint | None:
    """The denial constraint that is equivalent to a rule, except that nulls mean what they do in SQL; None: there is
    none.

    >>> from holdfast.rules.registry import parse
    >>> denial_of(parse("{Salary<} -> Rate<=")).text
    'not(t.Salary < s.Salary and t.Rate > s.Rate)'
    """
    compared = only_comparisons(rule.breaches())
    if not compared or any(isinstance(side, Arithmetic | Call) for each in compared for side in each.operands):
        return None
    return DenialConstraint(tuple(replace(each, nulls=Nulls.SQL) for each in compared), table=rule.table)


def _dependency(rule: Rule) -> FD | None:
    """The FD that a rule is, if rows that break it agree on some columns and differ on one."""
    shared, unequal = shared_and_differing(rule.broken_by(Nulls.EQUAL)) or ((), ())
    return FD(rule.table, shared, unequal[0], where=rule.where) if shared and unequal else None
