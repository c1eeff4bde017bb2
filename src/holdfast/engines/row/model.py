"""Rules about one row as frozen values, each with one text form.

`t.Age between 0 and 120` says what every row t of a table must satisfy. As with SQL's CHECK, a row violates a rule
where it is false; where a null makes it unknown, the row passes.

Normal form, made by the constructors: `not` is gone, as each condition has an opposite (true where it is false, and
unknown where it is unknown); a constant that is compared stands on the right; of `and` in `and` is made one, and of
`or` in `or`. Otherwise conditions stay as and where they were written, and `parse(rule.text) == rule.condition`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from holdfast.changes.names import in_quotes, quoted
from holdfast.engines.declared import Severity
from holdfast.engines.language.constants import Constant
from holdfast.engines.meaning import NEGATED
from holdfast.search.queries import MIRRORED, Operator

Sign = Literal["+", "-", "*", "/"]
_BINDS: dict[str, int] = {"+": 1, "-": 1, "*": 2, "/": 2}  # how tightly


# ---- operands -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A column of the row."""

    column: str

    @property
    def text(self) -> str:
        """`t.Zip`, and `t."First Name"` where the name isn't a plain word."""
        return f"t.{quoted(self.column)}"


@dataclass(frozen=True)
class Arithmetic:
    """Two numbers put together."""

    left: Operand
    sign: Sign
    right: Operand

    @property
    def text(self) -> str:
        """`t.Gross - t.Tax`, with parentheses where they are needed."""
        own = _BINDS[self.sign]
        left, right = (_tight(self.left, own), _tight(self.right, own + 1))
        return f"{left} {self.sign} {right}"


Operand: TypeAlias = Cell | Constant | Arithmetic


def _tight(operand: Operand, least: int) -> str:
    loose = isinstance(operand, Arithmetic) and _BINDS[operand.sign] < least
    return f"({operand.text})" if loose else operand.text


def leaves(operand: Operand) -> Iterator[Cell | Constant]:
    """The cells and constants of an operand, from left to right."""
    if isinstance(operand, Arithmetic):
        yield from leaves(operand.left)
        yield from leaves(operand.right)
    else:
        yield operand


# ---- conditions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """Two operands compare as an operator says; a constant stands on the right."""

    left: Operand
    operator: Operator
    right: Operand

    def __post_init__(self) -> None:
        if isinstance(self.left, Constant):
            sides = {"left": self.right, "operator": MIRRORED[self.operator], "right": self.left}
            for name, value in sides.items():
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
    def operands(self) -> tuple[Operand, ...]:
        """What it looks at."""
        return self.left, self.right


@dataclass(frozen=True)
class _Test:
    """One operand that is or is not something: `negated` says not."""

    operand: Operand

    @property
    def operands(self) -> tuple[Operand, ...]:
        """What it looks at."""
        return (self.operand,)


@dataclass(frozen=True)
class IsNull(_Test):
    """An operand is null, or is not. Never unknown."""

    negated: bool = False

    @property
    def text(self) -> str:
        """`t.Phone is not null`."""
        return f"{self.operand.text} is {_not(self)}null"

    @property
    def opposite(self) -> IsNull:
        """True where it is false."""
        return replace(self, negated=not self.negated)


@dataclass(frozen=True)
class OneOf(_Test):
    """An operand is one of some constants, or is none of them."""

    values: tuple[Constant, ...]
    negated: bool = False

    @property
    def text(self) -> str:
        """`t.State in ('NY', 'CA')`."""
        return f"{self.operand.text} {_not(self)}in ({', '.join(value.text for value in self.values)})"

    @property
    def opposite(self) -> OneOf:
        """True where it is false."""
        return replace(self, negated=not self.negated)


@dataclass(frozen=True)
class Between(_Test):
    """An operand is at least one other and at most another, or is not."""

    low: Operand
    high: Operand
    negated: bool = False

    @property
    def text(self) -> str:
        """`t.Age between 0 and 120`."""
        return f"{self.operand.text} {_not(self)}between {self.low.text} and {self.high.text}"

    @property
    def opposite(self) -> Between:
        """True where it is false."""
        return replace(self, negated=not self.negated)

    @property
    def operands(self) -> tuple[Operand, ...]:
        """What it looks at."""
        return self.operand, self.low, self.high

    @property
    def ends(self) -> tuple[Comparison, Comparison]:
        """The comparisons that both are true where it is, `negated` or not."""
        return Comparison(self.operand, ">=", self.low), Comparison(self.operand, "<=", self.high)


@dataclass(frozen=True)
class Like(_Test):
    """A text is like a pattern, as a whole: % stands for any characters, _ for one; or it is not. The character
    `escape`, if there is one, makes the next one stand for itself.
    """

    pattern: str
    escape: str = ""
    negated: bool = False

    @property
    def text(self) -> str:
        """`t.Zip like '1%'`."""
        escape = f" escape {in_quotes(self.escape, _TEXT)}" if self.escape else ""
        return f"{self.operand.text} {_not(self)}like {in_quotes(self.pattern, _TEXT)}{escape}"

    @property
    def opposite(self) -> Like:
        """True where it is false."""
        return replace(self, negated=not self.negated)


@dataclass(frozen=True)
class Matches(_Test):
    """A text matches a regular expression, as a whole; or it does not."""

    pattern: str
    negated: bool = False

    @property
    def text(self) -> str:
        """`t.Phone matches '[0-9]{3}-[0-9]{4}'`."""
        return f"{self.operand.text} {_not(self)}matches {in_quotes(self.pattern, _TEXT)}"

    @property
    def opposite(self) -> Matches:
        """True where it is false."""
        return replace(self, negated=not self.negated)


@dataclass(frozen=True)
class Every:
    """All of some conditions."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _flat(self.parts, Every))

    @property
    def text(self) -> str:
        """`t.A = 1 and (t.B = 2 or t.C = 3)`."""
        return " and ".join(_grouped(part) for part in self.parts)

    @property
    def opposite(self) -> Either:
        """True where it is false."""
        return Either(tuple(part.opposite for part in self.parts))

    @property
    def operands(self) -> tuple[Operand, ...]:
        """What it looks at."""
        return tuple(operand for part in self.parts for operand in part.operands)


@dataclass(frozen=True)
class Either:
    """At least one of some conditions."""

    parts: tuple[Condition, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _flat(self.parts, Either))

    @property
    def text(self) -> str:
        """`t.A = 1 or (t.B = 2 and t.C = 3)`."""
        return " or ".join(_grouped(part) for part in self.parts)

    @property
    def opposite(self) -> Every:
        """True where it is false."""
        return Every(tuple(part.opposite for part in self.parts))

    @property
    def operands(self) -> tuple[Operand, ...]:
        """What it looks at."""
        return tuple(operand for part in self.parts for operand in part.operands)


Condition: TypeAlias = Comparison | IsNull | OneOf | Between | Like | Matches | Every | Either
_TEXT = "'"


def _not(test: IsNull | OneOf | Between | Like | Matches) -> str:
    return "not " if test.negated else ""


def _grouped(part: Condition) -> str:
    return f"({part.text})" if isinstance(part, Every | Either) else part.text


def _flat(parts: Sequence[Condition], kind: type[Every] | type[Either]) -> tuple[Condition, ...]:
    return tuple(own for part in parts for own in (part.parts if isinstance(part, kind) else (part,)))


def columns_of(condition: Condition | Operand) -> tuple[str, ...]:
    """The columns that a condition or an operand mentions, each once, in the order of mention."""
    operands = (condition,) if isinstance(condition, Cell | Constant | Arithmetic) else condition.operands
    cells = (leaf for operand in operands for leaf in leaves(operand) if isinstance(leaf, Cell))
    return tuple(dict.fromkeys(cell.column for cell in cells))


@dataclass(frozen=True)
class RowRule:
    """What every row of a table must satisfy."""

    condition: Condition
    name: str = ""
    table: str = ""
    severity: Severity = "error"
    note: str = ""

    @property
    def text(self) -> str:
        """The canonical form."""
        return self.condition.text

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it mentions."""
        return columns_of(self.condition)
