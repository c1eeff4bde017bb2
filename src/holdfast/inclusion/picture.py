"""The picture: tables as boxes, proposed foreign keys as arrows. Text for Graphviz and Mermaid, or drawn by `dot`."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from holdfast.errors import BadInput
from holdfast.inclusion.rank import Proposal, worthy


def draw(path: Path, tables: Sequence[str], found: Sequence[Proposal]) -> None:
    """Write the picture of the proposals worth drawing; the ending of the path tells the language."""
    chosen = worthy(found)
    if path.suffix == ".svg":
        drawn = svg(tables, chosen)
        if drawn is None:
            raise BadInput(f"{path}: drawing needs Graphviz's `dot`; install it, or write .dot or .mmd")
    elif path.suffix in (".dot", ".gv"):
        drawn = graphviz(tables, chosen)
    elif path.suffix in (".mmd", ".mermaid"):
        drawn = mermaid(tables, chosen)
    else:
        raise BadInput(f"{path}: unknown ending; use .dot, .mmd or .svg")
    path.write_text(drawn, encoding="utf-8")


def graphviz(tables: Iterable[str], found: Sequence[Proposal]) -> str:
    """The picture in Graphviz's language."""
    numbers = {name: f"t{i}" for i, name in enumerate(tables)}
    lines = ["digraph foreign_keys {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f'  {number} [label="{_escaped(name)}"];' for name, number in numbers.items()]
    for each in found:
        a, b = numbers[each.ind.dependent.table], numbers[each.ind.referenced.table]
        lines.append(f'  {a} -> {b} [label="{_escaped(_label(each))}"{_style(each)}];')
    return "\n".join([*lines, "}", ""])


def mermaid(tables: Iterable[str], found: Sequence[Proposal]) -> str:
    """The picture in Mermaid's language."""
    numbers = {name: f"t{i}" for i, name in enumerate(tables)}
    lines = ["flowchart LR", *(f'  {number}["{_entity(name)}"]' for name, number in numbers.items())]
    for each in found:
        a, b = numbers[each.ind.dependent.table], numbers[each.ind.referenced.table]
        arrow = "-.->" if each.ind.missing_rows else "-->"
        lines.append(f'  {a} {arrow}|"{_entity(_label(each))}"| {b}')
    return "\n".join([*lines, ""])


def svg(tables: Iterable[str], found: Sequence[Proposal]) -> str | None:
    """The picture as SVG, or None where `dot` is not installed."""
    dot = shutil.which("dot")
    if dot is None:
        return None
    drawn = subprocess.run([dot, "-Tsvg"], input=graphviz(tables, found), capture_output=True, text=True, check=True)
    return drawn.stdout


def _label(each: Proposal) -> str:
    left, right = ", ".join(each.ind.dependent.columns), ", ".join(each.ind.referenced.columns)
    share = "" if not each.ind.missing_rows else f" ({each.ind.row_coverage:.1%})"
    return f"{left} → {right}{share}"


def _style(each: Proposal) -> str:
    return ", style=dashed" if each.ind.missing_rows else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _entity(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("\n", " ")
