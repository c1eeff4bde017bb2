"""Text has no order unless someone says so: one rule for all classes whose rules compare columns of a table by order.

By code point "9" comes after "10", and "Zoë" after "Zürich": what is found about such an order is mostly an accident.
So text columns are compared for equality alone, and by order only where `--ordered` names them, or all of them by `*`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import BadInput
from holdfast.text.quotes import listed_names

if TYPE_CHECKING:  # heavy; the command line needs only the help
    from holdfast.table.table import Schema

HELP = "Text columns whose order by code point means something: names with commas between, or * for all."
ALL = "*"  # in place of names


@dataclass(frozen=True)
class TextOrder:
    """Which text columns have an order: those that a setting names, or those that a state `knows`."""

    named: str | None = None
    known: frozenset[str] | None = None

    @staticmethod
    def of_state(schema: Schema, unordered: Collection[int]) -> TextOrder:
        """As in a state in which some columns have no order. A column that is text only later has none."""
        return TextOrder(known=frozenset(schema.names[c] for c in _text_columns(schema) if c not in unordered))

    def having(self, schema: Schema) -> tuple[int, ...]:
        """The text columns of a table that have an order; BadInput where a column that the setting names is missing."""
        text = _text_columns(schema)
        if self.known is not None:
            return tuple(c for c in text if schema.names[c] in self.known)
        if self.named == ALL:
            return text
        return tuple(c for c in columns_named("ordered", self.named, schema) or () if c in text)

    def without(self, schema: Schema) -> tuple[int, ...]:
        """The columns of a table that have none."""
        having = self.having(schema)
        return tuple(c for c in _text_columns(schema) if c not in having)


def _text_columns(schema: Schema) -> tuple[int, ...]:
    import pyarrow as pa  # slow to import

    return tuple(c for c, column in enumerate(schema.columns) if pa.types.is_string(column.type))


def refuse_unordered(text: str, names: Collection[str], unordered: Collection[str], instead: str = "") -> None:
    """Say so where a rule compares text columns that have no order."""
    for name in names:
        if name in unordered:
            raise BadInput(
                f"{text!r} asks for an order of the text column {name!r}; if its order by code point means something, "
                f"watch the rules with --ordered {name}{instead}"
            )


def columns_named(option: str, names: str | None, schema: Schema) -> tuple[int, ...] | None:
    """The columns of a table that a setting names; None where it is not given."""
    if names is None:
        return None
    named = listed_names(names)
    for name in named:
        if name not in schema.names:
            known = ", ".join(schema.names)
            raise BadInput(f"--{option}: there is no column {name!r} in {schema.name}; choose from: {known}")
    return tuple(sorted({schema.names.index(name) for name in named}))
