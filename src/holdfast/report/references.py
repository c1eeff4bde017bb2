"""A picture of tables and the references among them in a file of its own: SVG, as pages draw it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.report import diagram
from holdfast.report.document.tables import edge_of
from holdfast.rules.inclusion import IND

# Plain colours: programs that draw SVG know no variables of CSS, and lay the picture on any background.
_STYLE = """
.hf-picture { font: 12px/1 system-ui, sans-serif; }
.hf-text, .hf-strong, .hf-label { fill: #1f2328; }
.hf-strong { font-weight: 600; }
.hf-box { fill: #f6f8fa; stroke: #c4ccd4; }
.hf-axis { stroke: #c4ccd4; fill: none; }
.hf-soft { fill: #59636e; }
.hf-edge { stroke: #59636e; stroke-width: 1.4; fill: none; }
.hf-arrow { fill: #59636e; }
.hf-edge-broken { stroke: #c4291d; stroke-width: 1.8; fill: none; }
.hf-arrow-broken { fill: #c4291d; }
.hf-label { paint-order: stroke; stroke: #fff; stroke-width: 3px; }
"""
_PAPER = '<rect width="100%" height="100%" fill="#fff"/>'


def svg_of(tables: Iterable[str], references: Sequence[IND]) -> str:
    """Tables with the columns that refer and are referred to, and a line for each reference.

    >>> import holdfast as hf
    >>> print(hf.svg_of(["orders", "customers"], [])[:57])
    <svg xmlns="http://www.w3.org/2000/svg" class="hf-picture
    """
    edges = [edge_of(each.to_json()) for each in references]
    used: dict[str, dict[str, None]] = {name: {} for name in tables}
    for edge in edges:
        used[edge.table] |= dict.fromkeys(edge.columns)
        used[edge.referenced] |= dict.fromkeys(edge.referenced_columns)
    drawn = diagram.tables([(name, list(columns)) for name, columns in used.items()], edges, "foreign_keys")
    opening, end, body = drawn.partition("</title>")
    return f"{opening}{end}<style>{_STYLE}</style>{_PAPER}{body}\n"
