"""What `discover` found in some tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from holdfast.changes.diff import Finding, Result
from holdfast.engines.registry import drawable, rule_class
from holdfast.lazy_rules import LazyRules, for_people, with_bound
from holdfast.results.drawn import Drawn, Shapes, section, shape_lines
from holdfast.results.outputs import PICTURE, write_text
from holdfast.rules.denial import DenialConstraint
from holdfast.table.frames import Framed
from holdfast.table.nulls import GivenNulls
from holdfast.visible import Printed


@dataclass(frozen=True, repr=False)
class Found(Printed, Drawn, Framed):
    """The rules that were found, for each class and table, and the columns that could not be compared.

    There may be a million rules: each is made when it is read.

    >>> import holdfast as hf, pyarrow as pa
    >>> found = hf.discover(pa.table({"id": [1, 2, 3], "zip": [1, 1, 2]}), "ucc")
    >>> found
    table: 3 rows, 2 columns
    keys: 1
      key(id)
    >>> [rule.text for rule in found], found.to_json()[0]["columns"]
    (['key(id)'], ['id'])
    """

    results: tuple[Result, ...]
    left_out: Mapping[str, tuple[str, ...]]
    nulls: GivenNulls
    ranked: tuple[Result, ...] = ()  # the same in the order of their ranks, with what only a look at all of them gives
    shapes: Shapes = field(default_factory=dict)

    def __iter__(self) -> Iterator[Finding]:
        return (finding for result in self.results for finding in result.values())

    def __len__(self) -> int:
        return sum(len(result) for result in self.results)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them."""
        return tuple(self)

    def to_json(self) -> list[dict[str, Any]]:
        """One object a finding, with its rank where there is one."""
        return [finding.to_json() for result in self.ranked for finding in result.values()]

    def denials(self) -> Iterator[dict[str, Any]]:
        """The found rules as denial constraints, which `check` and rule files take: one object each.

        Pointwise order dependencies (`pod`) give one for all readings of a rule. Those across columns (`cross`) are
        denial constraints themselves.
        """
        for result in [each for each in self.ranked if isinstance(each, LazyRules)]:
            for first in islice(result.values(), 1):
                table = first.to_json()["table"]
                yield from ({"kind": DenialConstraint.kind, "table": table, "text": text} for text in result.denials())

    def picture(self, path: str | Path) -> None:
        """Draw tables and proposed foreign keys: .svg, or text for Graphviz (.dot) or Mermaid (.mmd)."""
        import holdfast  # which imports its exports on demand: what draws lies above

        path, tables = Path(path), list(self.left_out)
        for each in drawable():
            pictures = each.pictures()
            pictures.refuse_undrawable(path)
            rules = [rule for result in self.ranked for rule in result.values() if rule.kind == each.name]
            chosen = pictures.worth_drawing(rules)
            drawn = holdfast.svg_of if path.suffix == ".svg" else partial(pictures.draw, path)
            write_text(path, drawn(tables, chosen), PICTURE)

    def to_arrow(self) -> pa.Table:
        """The findings as an Arrow table; values that differ in type from row to row are text."""
        return arrow_table(self.to_json())

    def lines(self) -> list[str]:
        """The tables, and of each class how many rules there are and the first ones."""
        lines = shape_lines(self.shapes)
        firsts = [(first.kind, result) for result in self.ranked for first in islice(result.values(), 1)]
        for kind, result in firsts:
            some, left_out = for_people(result, {kind for kind, _ in firsts})
            hidden = f"; not shown: {left_out}" if left_out else ""
            title = with_bound(rule_class(kind).title, result)
            lines += section(f"{title}: {len(some):,}{hidden}", len(some), map(str, some.values()))
        return lines if self else [*lines, "nothing was found"]


def arrow_table(findings: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Findings as an Arrow table. Values other than numbers and texts become JSON text, and so do mixed columns."""
    names = list(dict.fromkeys(name for finding in findings for name in finding))
    return pa.table({name: _arrow_column([finding.get(name) for finding in findings]) for name in names})


def _arrow_column(values: list[Any]) -> pa.Array:
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} or kinds <= {str} or kinds <= {bool} or kinds <= {int, float}:
        return pa.array(values)
    return pa.array([None if v is None else v if isinstance(v, str) else json.dumps(v) for v in values], pa.string())
