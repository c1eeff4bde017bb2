"""The rule: one frozen value that says when rows break it. From that follow its text, JSON, columns, renaming, the
sentence why rows break it (`sentences`), SQL (`sql`), and the given rule that it becomes (`promotion`).

Rows break a rule if they meet one of its **breaches**: conjunctions of predicates over one row t, over two rows t and
s, or over a row and another table. The breaches of a rule about two rows exclude each other, so violations add up (a
law: tests/rules). A rule about a whole table has a measure instead (`measure`). An approximate rule has the breaches of
its exact form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from holdfast.rules.conditions import Cell, Comparison, Condition, Row, cells_of, constants_of, swapped
from holdfast.rules.constants import Constant
from holdfast.rules.reader import refuse_unknown
from holdfast.rules.terms import Term, names_of, renamed
from holdfast.table.nulls import Nulls
from holdfast.text.row_names import Values

if TYPE_CHECKING:  # heavy; the command line needs only the examples of the classes
    from holdfast.table.table import Schema

Severity = Literal["error", "warn"]
# Of a given rule that no user wrote. alarm: it was found, and raised one; suggested: when the state was made; muted:
# the same, and new rows break it as often as chance does.
Origin = Literal["", "alarm", "suggested", "muted"]


@dataclass(frozen=True)
class NoPartner:
    """No row of another table has the values of row t. False where a value of t is null."""

    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]


Predicate = Condition | NoPartner


@dataclass(frozen=True)
class Breach:
    """Rows that meet all predicates break the rule; look for the fault in the columns `faults`."""

    predicates: tuple[Predicate, ...]
    faults: tuple[str, ...] = ()
    kind: str = ""  # its name, where the class has several kinds: a split, a swap

    @property
    def comparisons(self) -> list[Comparison]:
        """The predicates that are comparisons."""
        return [each for each in self.predicates if isinstance(each, Comparison)]

    @property
    def conditions(self) -> list[Condition]:
        """The predicates about rows of one table."""
        return [each for each in self.predicates if not isinstance(each, NoPartner)]

    def among(self, where: Condition) -> Breach:
        """The same for rows that satisfy a condition."""
        others = (swapped(where),) if self.is_pair else ()
        return replace(self, predicates=(where, *others, *self.predicates))

    @property
    def is_pair(self) -> bool:
        """Whether it is about two rows of the table; every pair of rows meets a breach without predicates."""
        return not self.predicates or any(cell.row == "s" for cell in self.cells)

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells in its predicates."""
        return [cell for each in self.conditions for cell in cells_of(each)]


@dataclass(frozen=True)
class Scope:
    """What a rule is checked against: the schemas of all tables, its own table, and the ordered text columns."""

    schemas: Mapping[str, Schema]
    table: str
    ordered: frozenset[str] = frozenset()

    @property
    def schema(self) -> Schema:
        """The columns of the rule's table."""
        return self.schemas[self.table]


@dataclass(frozen=True)
class Rule(Term, ABC):
    """One rule: each class is a frozen dataclass."""

    kind: ClassVar[str]
    example: ClassVar[str]  # a rule of the class, such as `Zip -> City`
    described: ClassVar[str]  # what it is: `a key`
    prefix: ClassVar[str]  # what one without a name is called, before a number: `fd1`
    given_as: ClassVar[str] = ""  # the class of given rules that it belongs to; "": such rules are only found
    SETS: ClassVar[tuple[str, ...]] = ()  # fields that are sets of columns, kept in the order of the table
    ABOUT: ClassVar[tuple[str, ...]] = ()  # fields that JSON shows
    across: ClassVar[bool] = False  # it is about several tables
    verbatim: ClassVar[bool] = False  # whether sentences say predicates as they are written, each with its row

    # The table whose rows break it. A default would be a class attribute, and then no class could have `table` first.
    table: str = field(default_factory=str, kw_only=True)
    where: Condition | None = field(default=None, kw_only=True)  # the rows that it is about; None: all

    def __str__(self) -> str:
        return self.text

    # ---- text -------------------------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def means(cls, text: str) -> bool:
        """Whether a text without `where` looks like such a rule."""

    @classmethod
    @abstractmethod
    def parse(cls, text: str) -> Self:
        """Parse a text without `where`; BadInput on an error."""

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
        """The rule as a sentence."""

    @property
    def meaning(self) -> str:
        """The same with the rows that it is about."""
        return self.says if self.where is None else f"Of rows t with {self.where.text}: {self.says}"

    def breaches(self, nulls: Nulls = Nulls.EQUAL) -> tuple[Breach, ...]:
        """When rows break it, given the meaning of nulls."""
        own = self.broken_by(nulls)
        return own if self.where is None else tuple(each.among(self.where) for each in own)

    @abstractmethod
    def broken_by(self, nulls: Nulls) -> tuple[Breach, ...]:
        """The same for a rule without `where`."""

    def name_of(self, breach: Breach, t: Values, s: Values) -> str:  # noqa: ARG002  # the rows' values may decide
        """What a breach by rows t and s is called, such as a split; empty where it has no name."""
        return breach.kind

    @property
    def is_symmetric(self) -> bool:
        """Whether (s, t) breaks it iff (t, s) does. Then each pair counts once, the smaller row id first."""
        breaches = [breach.comparisons for breach in self.breaches()]
        own = {frozenset(each.canonical for each in breach) for breach in breaches}
        return own == {frozenset(swapped(each).canonical for each in breach) for breach in breaches}

    @property
    def counted(self) -> str:
        """What counts as a violation."""
        if not any(breach.is_pair for breach in self.breaches()):
            return "rows"
        return "pairs, each once" if self.is_symmetric else "ordered pairs"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names, each once."""
        return names_of(self)

    def columns_of_row(self, row: Row) -> list[str]:
        """The columns of row t or s in its breaches, in the order of mention."""
        cells = (cell for breach in self.breaches() for cell in breach.cells)
        return list(dict.fromkeys(cell.column for cell in cells if cell.row == row))

    @property
    def constants(self) -> list[Constant]:
        """The constants that it names."""
        return [constant for breach in self.breaches() for each in breach.conditions for constant in constants_of(each)]

    # ---- tables -----------------------------------------------------------------------------------------------------

    def checked(self, scope: Scope) -> tuple[Self, Sequence[str]]:
        """The rule, checked against its table and with its columns in their order; and notes on what is odd about it.
        What its `where` says is checked where rules are bound (`given`).
        """
        return self.in_table(scope.schema.names, scope.table), ()

    def in_table(self, names: Sequence[str], table: str) -> Self:
        """The rule as a rule of a table, its columns in the table's order; BadInput for an unknown column."""
        refuse_unknown(self.text, self.columns, names)
        sets: dict[str, Any] = {each: tuple(sorted(getattr(self, each), key=names.index)) for each in self.SETS}
        return replace(self, table=table, **sets)

    def mentions(self) -> Iterator[tuple[str, Sequence[str]]]:
        """The columns that it names, table by table."""
        yield self.table, self.columns

    def renamed(self, table: str, names: Mapping[str, str]) -> Self:  # noqa: ARG002  # the table is this rule's own
        """The same rule after columns of a table were renamed; `names` maps old names to new ones."""
        return renamed(self, names)

    # ---- JSON -------------------------------------------------------------------------------------------------------

    @property
    def about(self) -> dict[str, Any]:
        """Its parts, as JSON shows them."""
        return {name: _plain(getattr(self, name)) for name in self.ABOUT}

    @property
    def figures(self) -> dict[str, Any]:
        """How far it holds and the evidence for it, as JSON shows them, where they were computed."""
        return {}

    def to_json(self) -> dict[str, Any]:
        """The object that `--format json` prints for a found rule."""
        return {"kind": self.kind, "table": self.table, **self.about, **self.figures, "text": self.text}


def shared_and_differing(breaches: Sequence[Breach]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """For a rule that is broken by two rows that share some columns and differ in at most one: these columns, and that
    one. None for other rules.
    """
    compared = only_comparisons(breaches)
    if compared is None:
        return None
    if any(not each.is_same_column or each.nulls is Nulls.SQL or each.operator not in ("=", "!=") for each in compared):
        return None
    shared, others = (tuple(each.cells[0].column for each in compared if each.operator == sign) for sign in ("=", "!="))
    return (shared, others) if len(others) <= 1 else None


def only_comparisons(breaches: Sequence[Breach]) -> list[Comparison] | None:
    """The predicates of a rule's only breach, if all are comparisons. None: it has several breaches, or others."""
    if len(breaches) != 1 or len(breaches[0].comparisons) < len(breaches[0].predicates):
        return None
    return breaches[0].comparisons


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
