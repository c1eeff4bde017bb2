"""List order dependencies (papers: fastod, section 2.1).

    [Year, Salary desc] orders [Year, Bin]     rows sorted by the first list are sorted by the second
    [] orders [Country]                        rows in any order are sorted by Country: all have the same

Rows compare as in ORDER BY: by the first column of a list on which they differ, downwards where it is `desc`. Text
compares by code point. Null equals null and comes before every value, so it comes last in a `desc` column. Names that
aren't plain words stand in double quotes, doubled within.

Two rows t and s violate `X orders Y` iff t comes before s by X, or is equal to it, and comes after s by Y
(definition 2): a split if they are equal by X, else a swap (definitions 4 and 5). No pair does so in both orders, so
each violating pair counts once.

The first column on which two rows differ decides how they compare by a list. So there is one breach for each column of
X and each column of Y that may decide (theorem 5, with a direction for each column): rows are equal on the columns
before both, t is before s on the column of X (or equal, if it is the last one: a split), and after s on that of Y. No
pair meets two breaches. A column may be compared several times; a breach whose comparisons contradict is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from holdfast.errors import BadInput
from holdfast.rules.conditions import TRUE_AT, Signs, compared
from holdfast.rules.reader import Reader
from holdfast.rules.rule import Breach, Rule, Scope
from holdfast.rules.terms import Term
from holdfast.table.nulls import Nulls
from holdfast.text.quotes import quoted
from holdfast.text.row_names import Values

_BELOW, _EQUAL, _ABOVE = -1, 0, 1  # t's value compared with that of s
_OPERATORS = {signs: operator for operator, signs in TRUE_AT.items()}


@dataclass(frozen=True)
class SortColumn(Term):
    """A column of an ORDER BY, upwards or downwards."""

    name: str
    descending: bool = False

    NAMES = ("name",)

    @property
    def text(self) -> str:
        """`Salary`, or `Salary desc`."""
        return quoted(self.name) + (" desc" if self.descending else "")

    def to_json(self) -> list[str]:
        """`["Salary", "desc"]`."""
        return [self.name, "desc" if self.descending else "asc"]


SortList = tuple[SortColumn, ...]


def sort_text(columns: Iterable[SortColumn]) -> str:
    """`Year, Salary desc`."""
    return ", ".join(column.text for column in columns)


class SortReader(Reader):
    """Reads sorted columns."""

    hint = "write [A, B desc] orders [C]"

    def column(self) -> SortColumn:
        """A name, perhaps with a direction. The first word is the name, even if it is `desc`."""
        return SortColumn(self.name(), self.takes("asc", "desc") == "desc")

    def bracketed(self) -> SortList:
        """A list of columns in brackets, perhaps empty."""
        self.expect("[")
        return tuple(self.items(self.column, "]"))


@dataclass(frozen=True)
class ListOD(Rule):
    """Rows sorted by `by` are sorted by `then`."""

    by: SortList
    then: SortList

    NAMES = ("by", "then", "where")
    ABOUT = ("by", "then")
    kind = prefix = given_as = "lod"
    example = "[Year, Salary] orders [Year, Bin]"
    described = "a list order dependency"
    counted = "pairs, each once"  # (t, s) violates it in one order of t and s only

    @classmethod
    def means(cls, text: str) -> bool:
        """Nothing else begins with a bracket."""
        return text.lstrip().startswith("[")

    @classmethod
    def parse(cls, text: str) -> Self:
        """`[A, B desc] orders [C]`."""
        reader = SortReader(text)
        by = reader.bracketed()
        reader.expect("orders")
        then = reader.bracketed()
        reader.end()
        if not then:
            raise reader.wrong("the list on the right is empty, so it says nothing; name a column")
        return cls(by, then)

    @property
    def body(self) -> str:
        """`[Year, Salary desc] orders [Year, Bin]`."""
        return f"[{sort_text(self.by)}] orders [{sort_text(self.then)}]"

    @property
    def says(self) -> str:
        """`Rows sorted by Year are sorted by Bin, too.`"""
        by = f"sorted by {sort_text(self.by)}" if self.by else "in any order"
        return f"Rows {by} are sorted by {sort_text(self.then)}, too."

    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:  # noqa: ARG002  # nulls come first
        """The splits and swaps, for each two columns that may decide."""
        return tuple(
            Breach(
                tuple(compared(name, _OPERATORS[signs], Nulls.EQUAL) for name, signs in allowed.items()),
                tuple(dict.fromkeys((*decides, column.name))),
            )
            for before, decides in self._not_after()
            for place, column in enumerate(self.then)
            if all((allowed := _all_of([*before, *_equal(self.then[:place]), (column.name, _after(column))])).values())
        )

    def name_of(self, breach: Breach, t: Values, s: Values) -> str:  # noqa: ARG002
        """A split if the rows are equal by the first list, else a swap."""
        return "split" if all(t[column.name] == s[column.name] for column in self.by) else "swap"

    def _not_after(self) -> Iterator[tuple[list[tuple[str, Signs]], list[str]]]:
        """The cases in which t is not after s by the left list, each with the deciding column."""
        last = len(self.by) - 1
        for place, column in enumerate(self.by):
            before = frozenset(-sign for sign in _after(column))
            signs = before | {_EQUAL} if place == last else before
            yield [*_equal(self.by[:place]), (column.name, signs)], [column.name]
        if not self.by:
            yield [], []

    def checked(self, scope: Scope) -> tuple[Self, Sequence[str]]:
        """Text columns have the order that ORDER BY gives them. Distinct nulls have no place in an order."""
        own, _ = super().checked(scope)
        if scope.schema.nulls.are_distinct:
            raise BadInput("with distinct nulls, rows with nulls have no order; use --nulls equal (nulls come first)")
        if not own.breaches():
            return own, ("no rows can violate this rule: rows sorted by the first list are sorted by the second",)
        return own, _repeated("first", own.by) + _repeated("second", own.then)


def _equal(columns: Iterable[SortColumn]) -> list[tuple[str, Signs]]:
    return [(column.name, frozenset([_EQUAL])) for column in columns]


def _after(column: SortColumn) -> Signs:
    """How t's value compares with that of s where t comes after s by a column."""
    return frozenset([_BELOW if column.descending else _ABOVE])


def _all_of(compared: Iterable[tuple[str, Signs]]) -> dict[str, Signs]:
    """What all comparisons of a column allow."""
    allowed: dict[str, Signs] = {}
    for name, signs in compared:
        allowed[name] = allowed.get(name, signs) & signs
    return allowed


def _repeated(which: str, columns: SortList) -> tuple[str, ...]:
    """Notes about columns that stand in a list twice: only the first place decides."""
    names = [column.name for column in columns]
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    return tuple(f"the column {name!r} stands in the {which} list twice; only the first place counts" for name in twice)
