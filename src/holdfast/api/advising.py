"""Advice on clauses of queries, from what a state knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.advice.advice import Advice, advise
from holdfast.advice.clauses import Clause, read_clause, read_order
from holdfast.advice.known import Known
from holdfast.advice.reasoning import Reasoner
from holdfast.changes.diff import Result
from holdfast.errors import BadInput
from holdfast.table.table import Schema

_GIVEN = ("named", "lod")
_FOUND = ("fd", "ucc", "od")


def advice_on(text: str, have: Sequence[str], schema: Schema, results: Mapping[str, Result]) -> Advice:
    """Advice on a clause about a table, from the results of the classes that are watched there."""
    clause = read_clause(text, schema.names)
    orders = [read_order(each, schema.names) for each in have]
    if schema.nulls.are_distinct:
        raise BadInput(
            "where nulls are distinct, rules say nothing of rows with nulls, which queries sort and group: "
            "advice needs a state with --nulls equal"
        )
    given = list(_findings(results, _GIVEN))
    listed = [name for finding in given if finding["kind"] == "lod" for name, _ in (*finding["by"], *finding["then"])]
    near = {*listed, *(column.name for columns in (clause.columns, *orders) for column in columns)}
    known = Known.of([*given, *_findings(results, _FOUND)], schema.names, near)
    return advise(schema.name, clause, Reasoner(known), orders, _notes(clause, results))


def _findings(results: Mapping[str, Result], classes: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    return (finding.to_json() for name in classes for finding in results.get(name, {}).values())


def _notes(clause: Clause, results: Mapping[str, Result]) -> list[str]:
    """What to watch, where more could be known."""
    if not any(name in results for name in (*_FOUND, *_GIVEN)):
        return ["nothing that is watched here tells of it; start the state with --watch fd,od"]
    if "od" in results:
        return []
    if clause.is_order:
        return ["which columns order others is known from given rules alone; --watch od finds more"]
    return [] if "fd" in results else ["which columns determine others is known in part; --watch fd finds more"]
