"""Suggestions about one row as lines: column by column, and the columns that always have a value in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.ranking.suggestion import Suggestion
from holdfast.rules.conditions import IsNull, of_t
from holdfast.rules.row import RowRule
from holdfast.table.table import Schema
from holdfast.visible import first_of

_FILLED = 8  # columns with values that are named
_LONGEST = 60  # letters of a rule among others


def row_lines(own: Sequence[Suggestion], schema: Schema) -> Iterator[tuple[str, list[Suggestion]]]:
    """Lines, each with the rules that it is about: those of several columns, the columns without nulls, then the others
    column by column. A rule with exceptions has a line of its own.
    """
    exact = [each for each in own if not each.scored.to_remove]
    filled = [each for each in exact if _is_filled(each)]
    several = [each for each in exact if len(_columns(each)) > 1]
    for each in several:
        yield each.text, [each]
    if filled:
        yield f"never null: {_named(filled, schema)}", filled
    by_column: dict[str, list[Suggestion]] = {}
    for each in exact:
        if len(_columns(each)) == 1 and not _is_filled(each):
            by_column.setdefault(_columns(each)[0], []).append(each)
    for column in sorted(by_column, key=schema.names.index):
        yield f"{column}: {', '.join(_short(each, column) for each in by_column[column])}", by_column[column]
    for each in own:
        if each.scored.to_remove:
            yield each.text, [each]


def _columns(each: Suggestion) -> tuple[str, ...]:
    return tuple(each.scored.rule.to_json()["columns"])


def _is_filled(each: Suggestion) -> bool:
    rule = each.scored.rule
    return isinstance(rule, RowRule) and isinstance(rule.condition, IsNull) and rule.condition.negated


def _named(filled: Iterable[Suggestion], schema: Schema) -> str:
    columns = sorted((_columns(each)[0] for each in filled), key=schema.names.index)
    return f"all {len(columns):,} columns" if len(columns) == len(schema.names) else first_of(columns, _FILLED)


def _short(each: Suggestion, column: str) -> str:
    """A rule about a column without the column: `between 0 and 120`."""
    text = each.text.replace(f"{of_t(column).text} ", "")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
