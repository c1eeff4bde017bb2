"""The rule: one frozen value that says when rows break it. Text, JSON, columns, new names, the sentence why some rows
break it (`sentences`), SQL (`sql`), and the given rule that it becomes (`promotion`) follow from that.

A rule is broken by rows that meet one of its **breaches**: conjunctions of predicates over one row t, over two rows t
and s, or over a row and another table. The breaches of a rule about two rows exclude each other, so that counts of
violations add up (a law: tests/rules). A rule about a whole table has a measure instead (`table_rule`). Of a rule that
holds but for some error the breaches are those of its exact form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from holdfast.errors import BadInput
from holdfast.rules.conditions import Cell, Comparison, Condition, Row, cells_of, constants_of, swapped
from holdfast.rules.constants import Constant
from holdfast.rules.parts import Part, names_of, renamed
from holdfast.rules.reader import refuse_unknown
from holdfast.table.nulls import Nulls
from holdfast.text.row_names import Values

if TYPE_CHECKING:  # heavy, and the command line asks classes for their examples
    from holdfast.table.table import Schema

Severity = Literal["error", "warn"]


@dataclass(frozen=True)
class NoPartner:
    """No row of another table has in some columns what row t has in its own; false where one of t's is null."""

    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]


Predicate = Condition | NoPartner


@dataclass(frozen=True)
class Breach:
    """Rows that meet all predicates break the rule; `faults` are the columns in which one looks for the fault."""

    predicates: tuple[Predicate, ...]
    faults: tuple[str, ...] = ()
    kind: str = ""  # what it is called, where rules of the class are broken in several ways: a split, a swap

    @property
    def comparisons(self) -> list[Comparison]:
        """The predicates that are comparisons."""
        return [each for each in self.predicates if isinstance(each, Comparison)]

    @property
    def conditions(self) -> list[Condition]:
        """The predicates about rows of one table."""
        return [each for each in self.predicates if not isinstance(each, NoPartner)]

    def among(self, where: Condition) -> Breach:
        """The same, of rows that satisfy a condition."""
        others = (swapped(where),) if self.is_pair else ()
        return replace(self, predicates=(where, *others, *self.predicates))

    @property
    def is_pair(self) -> bool:
        """Whether it speaks of two rows of the table; without any predicate, all pairs of rows meet it."""
        return not self.predicates or any(cell.row == "s" for cell in self.cells)

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells that its predicates look at."""
        return [cell for each in self.conditions for cell in cells_of(each)]


@dataclass(frozen=True)
class Bounds:
    """What rules are bound to: the columns of their table, those of all tables, and text columns that have an order."""

    schemas: Mapping[str, Schema]
    table: str
    ordered: frozenset[str] = frozenset()

    @property
    def schema(self) -> Schema:
        """The columns of the table that the rule is about."""
        return self.schemas[self.table]


@dataclass(frozen=True)
class Rule(Part, ABC):
    """One rule: each class is a frozen dataclass."""

    kind: ClassVar[str]
    example: ClassVar[str]  # a rule of the class, such as `Zip -> City`
    described: ClassVar[str]  # what it is: `a key`
    prefix: ClassVar[str]  # what one without a name is called, before a number: `fd1`
    given_as: ClassVar[str] = ""  # the class of given rules that keeps it; "": it is only found
    SETS: ClassVar[tuple[str, ...]] = ()  # the fields that are sets of columns, which stand in the order of the table
    ABOUT: ClassVar[tuple[str, ...]] = ()  # what it is about, as JSON has it beside the text
    across: ClassVar[bool] = False  # it speaks of several tables
    verbatim: ClassVar[bool] = False  # whether sentences say predicates as they are written, each with its row

    # Whose rows break it. A factory leaves no attribute of the class: classes may ask for the table first.
    table: str = field(default_factory=str, kw_only=True)
    where: Condition | None = field(default=None, kw_only=True)  # which rows it is about; None: all

    def __str__(self) -> str:
        return self.text

    # ---- text -------------------------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def means(cls, text: str) -> bool:
        """Whether a text, without `where`, means to be such a rule."""

    @classmethod
    @abstractmethod
    def parse(cls, text: str) -> Self:
        """The rule of a text without `where`; BadInput where it is none."""

    @property
    @abstractmethod
    def body(self) -> str:
        """The text without `where`."""

    @property
    def text(self) -> str:
        """The one text form, which parses back."""
        return self.body if self.where is None else f"{self.body} where {self.where.text}"

    # ---- meaning ----------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def says(self) -> str:
        """What it says, in a sentence."""

    def breaches(self, nulls: Nulls = Nulls.EQUAL) -> tuple[Breach, ...]:
        """When rows break it, in a table with some meaning of nulls."""
        own = self.broken_by(nulls)
        return own if self.where is None else tuple(each.among(self.where) for each in own)

    @abstractmethod
    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:
        """When rows break it that it is about."""

    def way(self, breach: Breach, t: Values, s: Values) -> str:  # noqa: ARG002  # what both rows have may decide
        """What a breach by rows t and s is called; empty where it has no name."""
        return breach.kind

    @property
    def is_symmetric(self) -> bool:
        """Whether rows (s, t) break it wherever (t, s) do: then each pair counts once, the smaller row id first."""
        breaches = [breach.comparisons for breach in self.breaches()]
        own = {frozenset(each.canonical for each in breach) for breach in breaches}
        return own == {frozenset(swapped(each).canonical for each in breach) for breach in breaches}

    @property
    def counted(self) -> str:
        """What a violation is."""
        if not any(breach.is_pair for breach in self.breaches()):
            return "rows"
        return "pairs, each once" if self.is_symmetric else "ordered pairs"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the rows that break it, each once."""
        return names_of(self)

    def columns_of_row(self, row: Row) -> list[str]:
        """The columns that it looks at in row t or s, in the order of mention."""
        cells = (cell for breach in self.breaches() for cell in breach.cells)
        return list(dict.fromkeys(cell.column for cell in cells if cell.row == row))

    @property
    def constants(self) -> list[Constant]:
        """The values that it names."""
        return [constant for breach in self.breaches() for each in breach.conditions for constant in constants_of(each)]

    # ---- tables -----------------------------------------------------------------------------------------------------

    def bound(self, to: Bounds) -> tuple[Self, Sequence[str]]:
        """The rule checked against the columns of its table, in their order and their types; and what is odd about it.

        A `where` is refused where a class can't keep it.
        """
        if self.where is not None:
            raise BadInput(f"{self.text!r}: such a rule can't be kept for some rows yet; leave out where")
        return self.in_table(to.schema.names, to.table), ()

    def refuse_nulls(self, nulls: Nulls) -> None:
        """Say so where it can't be asked of a table with some meaning of nulls."""

    def in_table(self, names: Sequence[str], table: str) -> Self:
        """The rule as a table with some columns writes it; BadInput where it names another one."""
        refuse_unknown(self.text, self.columns, names)
        sets: dict[str, Any] = {each: tuple(sorted(getattr(self, each), key=names.index)) for each in self.SETS}
        return replace(self, table=table, **sets)

    def mentions(self) -> Iterator[tuple[str, Sequence[str]]]:
        """The columns that it names, table by table."""
        yield self.table, self.columns

    def renamed(self, table: str, names: Mapping[str, str]) -> Self:  # noqa: ARG002  # the table is this rule's own
        """The same rule where some columns of a table have other names now, given by their old ones."""
        return renamed(self, names)

    # ---- JSON -------------------------------------------------------------------------------------------------------

    @property
    def about(self) -> dict[str, Any]:
        """What it is about, as JSON has it beside the text."""
        return {name: _plain(getattr(self, name)) for name in self.ABOUT}

    @property
    def figures(self) -> dict[str, Any]:
        """How far it holds, and what speaks for it, as JSON has it; nothing where nobody asked."""
        return {}

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints of a rule that was found."""
        return {"kind": self.kind, "table": self.table, **self.about, **self.figures, "text": self.text}


def shared_and_differing(breaches: Sequence[Breach]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The columns that two rows share, and the one in which they differ, if any, wherever they break a rule; None
    where it is broken in another way.
    """
    compared = breaches[0].comparisons if len(breaches) == 1 else []
    if len(breaches) != 1 or len(compared) < len(breaches[0].predicates):
        return None
    if any(not each.is_beside or each.nulls is Nulls.SQL or each.operator not in ("=", "!=") for each in compared):
        return None
    shared, others = (tuple(each.cells[0].column for each in compared if each.operator == sign) for sign in ("=", "!="))
    return (shared, others) if len(others) <= 1 else None


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value.to_json() if hasattr(value, "to_json") else value


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: `a`, `a and b`, `a, b and c`.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
