"""The picture: tables as boxes, proposed foreign keys as arrows, as text for Graphviz and Mermaid.

`report/references.py` draws it as SVG.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from holdfast.changes.diff import Finding
from holdfast.engines.inclusion.rank import best_first, worthy
from holdfast.errors import BadInput
from holdfast.rules.inclusion import IND
from holdfast.visible import visible

_GRAPHVIZ = (".dot", ".gv")
ENDINGS = (*_GRAPHVIZ, ".mmd", ".mermaid", ".svg")


def refuse_undrawable(path: Path) -> None:
    """Refuse a path with an ending that names no kind of picture."""
    if path.suffix not in ENDINGS:
        raise BadInput(f"{path}: unknown ending; use .dot, .mmd or .svg")


def worth_drawing(findings: Sequence[Finding]) -> Sequence[IND]:
    """The proposals worth drawing, the best first."""
    return worthy(best_first([each for each in findings if isinstance(each, IND) and each.score is not None]))


def draw(path: Path, tables: Sequence[str], chosen: Sequence[IND]) -> str:
    """The picture of some proposals as text; the ending of the path decides the language."""
    return graphviz(tables, chosen) if path.suffix in _GRAPHVIZ else mermaid(tables, chosen)


def graphviz(tables: Iterable[str], found: Sequence[IND]) -> str:
    """The picture in Graphviz's language."""
    numbers = {name: f"t{i}" for i, name in enumerate(tables)}
    lines = ["digraph foreign_keys {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f'  {number} [label="{_escaped(name)}"];' for name, number in numbers.items()]
    for each in found:
        a, b = numbers[each.dependent.table], numbers[each.referenced.table]
        style = ", style=dashed" if each.missing_rows else ""
        lines.append(f'  {a} -> {b} [label="{_escaped(_label(each))}"{style}];')
    return "\n".join([*lines, "}", ""])


def mermaid(tables: Iterable[str], found: Sequence[IND]) -> str:
    """The picture in Mermaid's language."""
    numbers = {name: f"t{i}" for i, name in enumerate(tables)}
    lines = ["flowchart LR", "  %% foreign_keys"]
    lines += [f'  {number}["{_entity(name)}"]' for name, number in numbers.items()]
    for each in found:
        a, b = numbers[each.dependent.table], numbers[each.referenced.table]
        arrow = "-.->" if each.missing_rows else "-->"
        lines.append(f'  {a} {arrow}|"{_entity(_label(each))}"| {b}')
    return "\n".join([*lines, ""])


def _label(each: IND) -> str:
    left, right = ", ".join(each.dependent.columns), ", ".join(each.referenced.columns)
    share = "" if not each.missing_rows else f" ({each.row_coverage:.1%})"
    return f"{left} → {right}{share}"


def _escaped(text: str) -> str:
    """A text within Graphviz's quotes: there, a backslash and an ampersand mean something, too."""
    return visible(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


def _entity(text: str) -> str:
    """A text within Mermaid's quotes, where HTML and Markdown mean something: signs with a meaning are numbers."""
    return "".join(f"#{ord(sign)};" if sign in '&<>#`"' else sign for sign in visible(text))
