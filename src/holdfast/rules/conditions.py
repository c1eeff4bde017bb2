"""The row language: conditions over cells of one row t, or of two rows t and s, as frozen values with one text form.

A condition is true, false or unknown of some rows, as in SQL. What a comparison with null means is part of it:

| nulls | meaning |
|---|---|
| `sql` | a comparison with null is unknown |
| `equal` | null equals null, and is less than every value |
| `distinct` | a null differs from everything, also from another null, and has no order |

Normal form, made by the constructors: no `not`, as each condition has an opposite (true where it is false, unknown
where it is unknown); a constant stands on the right of a comparison; an `and` within an `and` is merged, and so is an
`or` within an `or`. Otherwise conditions stay as they were written, and a text reads back as an equal condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self, TypeAlias, TypeVar

from holdfast.rules.constants import Constant
from holdfast.rules.terms import Term, changed
from holdfast.search.queries import MIRRORED, Operator
from holdfast.table.nulls import Nulls
from holdfast.text.quotes import in_quotes, quoted

Row = Literal["t", "s"]
Sign = Literal["+", "-", "*", "/"]
Function = Literal["length", "lower", "upper"]

Signs = frozenset[int]
TRUE_AT: dict[Operator, Signs] = {  # -1: the left side is below the right one; 0: they are equal; 1: it is above
    "=": frozenset([0]),
    "!=": frozenset([-1, 1]),
    "<": frozenset([-1]),
    "<=": frozenset([-1, 0]),
    ">": frozenset([1]),
    ">=": frozenset([0, 1]),
}
NEGATED: dict[Operator, Operator] = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_BINDS: dict[str, int] = {"+": 1, "-": 1, "*": 2, "/": 2}  # how tightly
_TEXT = "'"


# ---- operands -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell(Term):
    """A column of one of the rows."""

    row: Row
    column: str

    NAMES = ("column",)

    @property
    def text(self) -> str:
        """`t.Zip`, and `t."First Name"` where the name isn't a plain word."""
        return f"{self.row}.{quoted(self.column)}"

    @property
    def swapped(self) -> Cell:
        """The same column of the other row."""
        return Cell("s" if self.row == "t" else "t", self.column)


def of_t(column: str) -> Cell:
    """A column of row t."""
    return Cell("t", column)


class _OfOperands(Term):
    """A term that names columns only in its operands."""

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Its operands."""
        return tuple(getattr(self, name) for name in self.NAMES)


@dataclass(frozen=True)
class Arithmetic(_OfOperands):
    """A sum, difference, product or quotient."""

    left: Operand
    sign: Sign
    right: Operand

    NAMES = ("left", "right")

    @property
    def text(self) -> str:
        """`t.Gross - t.Tax`, with parentheses where needed."""
        own = _BINDS[self.sign]
        left, right = (_tight(self.left, own), _tight(self.right, own + 1))
        return f"{left} {self.sign} {right}"


@dataclass(frozen=True)
class Call(_OfOperands):
    """A function of a text: its length in characters, or the same in lower or upper case."""

    function: Function
    operand: Operand

    NAMES = ("operand",)

    @property
    def text(self) -> str:
        """`length(t.Name)`."""
        return f"{self.function}({self.operand.text})"


Operand: TypeAlias = Cell | Constant | Arithmetic | Call


def _tight(operand: Operand, least: int) -> str:
    loose = isinstance(operand, Arithmetic) and _BINDS[operand.sign] < least
    return f"({operand.text})" if loose else operand.text


def leaves(operand: Operand) -> Iterator[Cell | Constant]:
    """The cells and constants of an operand, from left to right."""
    if isinstance(operand, Arithmetic):
        yield from leaves(operand.left)
        yield from leaves(operand.right)
    elif isinstance(operand, Call):
        yield from leaves(operand.operand)
    else:
        yield operand


# ---- conditions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison(_OfOperands):
    """Two operands compare as an operator says; a constant is on the right."""

    left: Operand
    operator: Operator
    right: Operand
    nulls: Nulls = Nulls.SQL

    NAMES = ("left", "right")

    def __post_init__(self) -> None:
        if isinstance(self.left, Constant) and not isinstance(self.right, Constant):
            for name, value in vars(self.mirrored).items():
                object.__setattr__(self, name, value)

    @property
    def text(self) -> str:
        """`t.Net <= t.Gross`."""
        return f"{self.left.text} {self.operator} {self.right.text}"

    @property
    def opposite(self) -> Comparison:
        """True where it is false."""
        return replace(self, operator=NEGATED[self.operator])

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Its cells, from left to right."""
        return tuple(cells_of(self))

    @property
    def mirrored(self) -> Comparison:
        """The same with the sides swapped."""
        return Comparison(self.right, MIRRORED[self.operator], self.left, self.nulls)

    @property
    def canonical(self) -> Comparison:
        """One form for comparisons that mean the same: t on the left, then the first column by name."""
        if len(self.cells) != 2:
            return self
        one, other = ((cell.row == "s", cell.column) for cell in self.cells)
        return self.mirrored if one > other else self

    @property
    def is_same_column(self) -> bool:
        """Whether it compares a column of t with the same column of s."""
        one, other = self.left, self.right
        return isinstance(one, Cell) and isinstance(other, Cell) and one.column == other.column and one.row != other.row


def compared(column: str, operator: Operator, nulls: Nulls) -> Comparison:
    """A column of t compares with the same column of s."""
    return Comparison(Cell("t", column), operator, Cell("s", column), nulls)


def alike(columns: Sequence[str], nulls: Nulls) -> tuple[Comparison, ...]:
    """Rows t and s agree on some columns."""
    return tuple(compared(column, "=", nulls) for column in columns)


@dataclass(frozen=True)
class _Test(_OfOperands):
    """A test of one operand, perhaps `negated`."""

    operand: Operand
    negated: bool = field(default=False, kw_only=True)

    NAMES: ClassVar[tuple[str, ...]] = ("operand",)

    @property
    def opposite(self) -> Self:
        """True where it is false."""
        return replace(self, negated=not self.negated)

    @property
    def no(self) -> str:
        """`not `, if it is negated."""
        return "not " if self.negated else ""


@dataclass(frozen=True)
class IsNull(_Test):
    """An operand is null, or is not. Never unknown."""

    @property
    def text(self) -> str:
        """`t.Phone is not null`."""
        return f"{self.operand.text} is {self.no}null"


@dataclass(frozen=True)
class OneOf(_Test):
    """An operand is one of some constants, or is none of them."""

    values: tuple[Constant, ...]

    @property
    def text(self) -> str:
        """`t.State in ('NY', 'CA')`."""
        return f"{self.operand.text} {self.no}in ({', '.join(value.text for value in self.values)})"


@dataclass(frozen=True)
class Between(_Test):
    """An operand is at least one other and at most another, or is not."""

    low: Operand
    high: Operand

    NAMES = ("operand", "low", "high")

    @property
    def text(self) -> str:
        """`t.Age between 0 and 120`."""
        return f"{self.operand.text} {self.no}between {self.low.text} and {self.high.text}"

    @property
    def ends(self) -> tuple[Comparison, Comparison]:
        """The two comparisons that it stands for, leaving `negated` aside."""
        return Comparison(self.operand, ">=", self.low), Comparison(self.operand, "<=", self.high)


@dataclass(frozen=True)
class Like(_Test):
    """A whole text is like a pattern, or is not: % stands for any characters, _ for one. A character after `escape`
    stands for itself.
    """

    pattern: str
    escape: str = ""

    @property
    def text(self) -> str:
        """`t.Zip like '1%'`."""
        escape = f" escape {in_quotes(self.escape, _TEXT)}" if self.escape else ""
        return f"{self.operand.text} {self.no}like {in_quotes(self.pattern, _TEXT)}{escape}"


@dataclass(frozen=True)
class Matches(_Test):
    """A whole text matches a regular expression, or does not."""

    pattern: str

    @property
    def text(self) -> str:
        """`t.Phone matches '[0-9]{3}-[0-9]{4}'`."""
        return f"{self.operand.text} {self.no}matches {in_quotes(self.pattern, _TEXT)}"


@dataclass(frozen=True)
class _Several(Term):
    """Conditions joined by `and` or by `or`; one within another of its kind is merged."""

    parts: tuple[Condition, ...]

    NAMES = ("parts",)
    word: ClassVar[str]

    def __post_init__(self) -> None:
        kind = type(self)
        flat = (own for part in self.parts for own in (part.parts if isinstance(part, kind) else (part,)))
        object.__setattr__(self, "parts", tuple(flat))

    @property
    def text(self) -> str:
        """`t.A = 1 and (t.B = 2 or t.C = 3)`."""
        return f" {self.word} ".join(_grouped(part) for part in self.parts)

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands of all its parts."""
        return tuple(operand for part in self.parts for operand in part.operands)

    @property
    def opposite(self) -> Condition:
        """True where it is false: an `or` of the opposites for an `and`, and the other way round."""
        other = Either if isinstance(self, Every) else Every
        return other(tuple(part.opposite for part in self.parts))


class Every(_Several):
    """All of some conditions."""

    word = "and"


class Either(_Several):
    """At least one of some conditions."""

    word = "or"


Test: TypeAlias = IsNull | OneOf | Between | Like | Matches
Condition: TypeAlias = Comparison | Test | Every | Either
_C = TypeVar("_C", bound=Condition)


def _grouped(part: Condition) -> str:
    return f"({part.text})" if isinstance(part, _Several) else part.text


def swapped(condition: _C) -> _C:
    """The condition with rows t and s swapped."""
    return changed(condition, lambda leaf: leaf.swapped if isinstance(leaf, Cell) else leaf)


def cells_of(part: Condition | Arithmetic | Call) -> list[Cell]:
    """All cells of a condition, or of what it calculates, from left to right."""
    return [leaf for each in part.operands for leaf in leaves(each) if isinstance(leaf, Cell)]


def constants_of(condition: Condition) -> list[Constant]:
    """All constants of a condition, its patterns included."""
    if isinstance(condition, Every | Either):
        return [constant for part in condition.parts for constant in constants_of(part)]
    found = [leaf for operand in condition.operands for leaf in leaves(operand) if isinstance(leaf, Constant)]
    if isinstance(condition, OneOf):
        found += condition.values
    if isinstance(condition, Like | Matches):
        found.append(Constant(condition.pattern))
    return found
