"""Tables and their foreign keys, drawn in layers: a table is to the right of the tables that it refers to.

Sugiyama's layout: a layer for each table, dummy nodes where an edge skips layers, an order within each layer by the
mean place of the neighbours, and coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import floor

from holdfast.report.pictures import LINE_HEIGHT, at, cut_to, group, path, rect, room_of, svg, text
from holdfast.visible import counted

_WIDEST = 190.0  # of a table
_BETWEEN = 22.0  # boxes of one layer
_PORT = 20.0  # between the lines that leave a table
_ARROW = 9.0  # the length of an arrow's head
_TURN = 60.0  # the room that lines have to bend in
_PAD = 8.0
_LOOP = 36.0  # how far a table's reference to itself leads away from it
_SWEEPS = 4


@dataclass(frozen=True)
class Edge:
    """A foreign key: columns of a table that refer to columns of another, or of the same."""

    table: str
    columns: tuple[str, ...]
    referenced: str
    referenced_columns: tuple[str, ...]
    coverage: float  # the share of rows that refer to something that is there
    orphans: int  # the number of rows that don't

    @property
    def label(self) -> str:
        """The text on its line: a share is never rounded up to 100 %."""
        if not self.orphans:
            return "100 %"
        share = min(floor(self.coverage * 1000) / 10, 99.9)
        return f"{share:.1f} %, {counted(self.orphans, 'orphan')}"

    def __str__(self) -> str:
        left = ", ".join(f"{self.table}.{name}" for name in self.columns)
        right = ", ".join(f"{self.referenced}.{name}" for name in self.referenced_columns)
        return f"{left} in {right}: {self.label}"


@dataclass(eq=False)
class _Node:
    """A table, or a dummy node of a line that crosses a layer."""

    name: str  # "": a dummy node
    columns: tuple[str, ...]
    layer: int
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    layer_end: float = 0.0  # the right end of its layer
    wanted: float = 0.0  # the best place for its middle
    neighbours: list[_Node] = field(default_factory=list)

    @property
    def middle(self) -> float:
        return self.y + self.height / 2

    @property
    def right(self) -> float:
        return self.x + self.width

    def row(self, columns: Sequence[str]) -> float:
        """How far below the top some columns are, on average."""
        places = [self.columns.index(name) for name in columns if name in self.columns]
        mean = sum(places) / len(places) if places else 0.0
        return LINE_HEIGHT * (mean + 1.5) + _PAD


@dataclass(eq=False)
class _Route:
    """The nodes that an edge leads through, from the table to the referenced one."""

    edge: Edge
    nodes: list[_Node]
    port: float = 0.0  # how far below the top of its table it leaves

    @property
    def leftwards(self) -> bool:
        """Whether it leads to the left, as all do except those that close a cycle."""
        return self.nodes[0].layer > self.nodes[-1].layer

    @property
    def loop(self) -> bool:
        """Whether the table refers to itself."""
        return self.nodes[0] is self.nodes[-1]

    @property
    def start(self) -> float:
        """The height at which it leaves its table."""
        return self.nodes[0].y + self.port

    @property
    def end(self) -> float:
        """The height at which it arrives."""
        return self.nodes[-1].y + self.nodes[-1].row(self.edge.referenced_columns)


def tables(tables: Sequence[tuple[str, Sequence[str]]], edges: Sequence[Edge], label: str) -> str:
    """A box for each table with its relevant columns, and a line for each foreign key, with coverage and orphans.

    Arrows point at the referenced table. `str(edge)` is the tooltip of a line.
    """
    known = dict(tables)
    edges = [edge for edge in edges if edge.table in known and edge.referenced in known]
    layers = _layers(list(known), edges)
    nodes = {name: _box(name, columns, layers.get(name, 0), edges) for name, columns in tables}
    routes = [_route(edge, nodes) for edge in edges]
    _give_ports(routes)
    width, height = _place(_grid([nodes[name] for name in layers], routes), routes)
    width, height = _place_alone([node for name, node in nodes.items() if name not in layers], width, height)
    drawn = [*map(_line, routes), *map(_drawn, nodes.values()), *map(_label, routes)]
    return svg(width, height, label, "".join(drawn), kind="tables") if nodes else ""


# ---- layers ----------------------------------------------------------------------------------------------------------


def _layers(names: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """For each table with foreign keys, how many steps it is away from tables that refer to no other."""
    targets: dict[str, list[str]] = {}
    for edge in edges:
        targets.setdefault(edge.referenced, [])
        targets.setdefault(edge.table, []).append(edge.referenced)
    layers: dict[str, int] = {}
    under_way: set[str] = set()

    def visit(name: str) -> int:
        """The layer of a table; an edge that closes a cycle doesn't count."""
        if name not in layers:
            under_way.add(name)
            below = [visit(other) + 1 for other in targets[name] if other not in under_way]
            layers[name] = max(below, default=0)
            under_way.remove(name)
        return layers[name]

    for name in names:
        if name in targets:
            visit(name)
    return layers


def _box(name: str, columns: Sequence[str], layer: int, edges: Sequence[Edge]) -> _Node:
    lines = sum(edge.table == name for edge in edges)
    height = max(LINE_HEIGHT * (len(columns) + 1), _PORT * (lines + 1)) + 2 * _PAD
    width = min(max(map(room_of, [name, *columns])) + 3 * _PAD, _WIDEST)
    return _Node(name, tuple(columns), layer, width, height)


def _route(edge: Edge, nodes: Mapping[str, _Node]) -> _Route:
    """The route of an edge, with a dummy node in each layer that it crosses."""
    start, end = nodes[edge.table], nodes[edge.referenced]
    step = 1 if end.layer > start.layer else -1
    path = [start, *(_Node("", (), layer, 0.0, _PORT) for layer in range(start.layer + step, end.layer, step)), end]
    for one, other in pairwise(path):
        one.neighbours.append(other)
        other.neighbours.append(one)
    return _Route(edge, path)


def _give_ports(routes: Sequence[_Route]) -> None:
    """Let each edge leave its table next to its columns, and apart from the other edges on that side."""
    last: dict[tuple[str, bool], float] = {}
    for route in sorted(routes, key=lambda each: each.nodes[0].row(each.edge.columns)):
        side = (route.nodes[0].name, route.leftwards)
        route.port = max(route.nodes[0].row(route.edge.columns), last.get(side, 0.0) + _PORT)
        last[side] = route.port


def _grid(nodes: Sequence[_Node], routes: Sequence[_Route]) -> list[list[_Node]]:
    every = [*nodes, *(node for route in routes for node in route.nodes if not node.name)]
    count = max((node.layer for node in every), default=-1) + 1
    return [[node for node in every if node.layer == layer] for layer in range(count)]


# ---- coordinates -----------------------------------------------------------------------------------------------------


def _place(grid: Sequence[list[_Node]], routes: Sequence[_Route]) -> tuple[float, float]:
    """Give all nodes their places; returns the size of the picture."""
    for sweep in range(_SWEEPS):
        step = -1 if sweep % 2 else 1
        for layer in grid[::step]:
            _stack(layer, step)
    nodes = [node for layer in grid for node in layer]
    top = min((node.y for node in nodes), default=0.0) - 2
    for node in nodes:
        node.y -= top
    return _place_layers(grid, routes), max((node.y + node.height for node in nodes), default=0.0) + 2


def _stack(layer: list[_Node], step: int) -> None:
    """Order a layer by the mean height of the neighbours on one side, and place it as near to them as possible."""
    for node in layer:
        places = [other.middle for other in node.neighbours if (node.layer - other.layer) * step > 0]
        node.wanted = sum(places) / len(places) if places else node.middle
    layer.sort(key=lambda node: node.wanted)
    bottom = float("-inf")
    for node in layer:
        node.y = max(node.wanted - node.height / 2, bottom)
        bottom = node.y + node.height + _BETWEEN
    lower = sum(node.middle - node.wanted for node in layer) / len(layer)
    for node in layer:
        node.y -= lower


def _place_layers(grid: Sequence[Sequence[_Node]], routes: Sequence[_Route]) -> float:
    """Place the layers next to each other, with room for the labels of lines; returns where they end."""
    x = 2.0
    for number, layer in enumerate(grid):
        end = x + max(node.width for node in layer)
        for node in layer:
            node.x, node.layer_end, node.width = x, end, node.width or end - x
        labels = [room_of(route.edge.label) + 2 * _PAD for route in routes if _gap_of(route) == number]
        loops = any(route.loop for route in routes if _gap_of(route) == number)
        x = end + max(labels, default=0.0) + (_TURN + 2 * _ARROW if number + 1 < len(grid) or loops else 2.0)
    return x


def _gap_of(route: _Route) -> int:
    """The layer left of an edge's label."""
    return route.nodes[0].layer - route.leftwards


def _place_alone(nodes: Sequence[_Node], width: float, top: float) -> tuple[float, float]:
    """Place tables without foreign keys below the others, in rows; returns the size of the picture."""
    x, y, height, room = 2.0, top + _BETWEEN, 0.0, max(width, 3 * _WIDEST)
    for node in nodes:
        if x > 2 and x + node.width > room:
            x, y, height = 2.0, y + height + _BETWEEN, 0.0
        node.x, node.y = x, y
        x, height = x + node.width + _BETWEEN, max(height, node.height)
        width = max(width, x - _BETWEEN + 2)
    return width, (y + height + 2 if nodes else top)


# ---- drawing ---------------------------------------------------------------------------------------------------------


def _drawn(node: _Node) -> str:
    """A table's box, its name and its columns."""
    room = node.width - 2 * _PAD
    head = text(node.x + _PAD, node.y + LINE_HEIGHT, cut_to(node.name, room), "strong", title=node.name)
    under = path("axis", f"M{at(node.x)} {at(node.y + LINE_HEIGHT + _PAD - 1)}h{at(node.width)}")
    columns = "".join(
        text(node.x + _PAD, node.y + node.row([name]) + 5, cut_to(name, room), "soft", title=name)
        for name in node.columns
    )
    return rect("box", node.x, node.y, node.width, node.height) + head + under + columns


def _line(route: _Route) -> str:
    """An edge with its arrow and its tooltip."""
    kind = "-broken" if route.edge.orphans else ""
    last = route.nodes[-1]
    from_left = not route.leftwards and not route.loop
    x, way = (last.x, -1) if from_left else (last.right, 1)
    steps = _loop(route) if route.loop else _curve(route)
    arrow = path(f"arrow{kind}", f"M{at(x)} {at(route.end)}l{at(way * _ARROW)} -5v10z")
    return group(str(route.edge), path(f"edge{kind}", steps) + arrow)


def _curve(route: _Route) -> str:
    """Straight lines past the label and through the layers, and a curve before each layer."""
    first, last = route.nodes[0], route.nodes[-1]
    y, side = route.start, 1 if route.leftwards else -1
    steps = f"M{at(first.x if route.leftwards else first.right)} {at(y)}"
    for node in route.nodes[1:]:
        x = (node.layer_end if route.leftwards else node.x) + _ARROW * side
        bend, half = at(x + _TURN * side), at(x + _TURN / 2 * side)
        end = route.end if node is last else node.middle
        steps += f"H{bend}C{half} {at(y)} {half} {at(end)} {at(x)} {at(end)}"
        if node is not last:
            steps += f"H{at(node.x if route.leftwards else node.layer_end)}"
        y = end
    return f"{steps}H{at((last.right if route.leftwards else last.x) + _ARROW * side)}"


def _loop(route: _Route) -> str:
    """A curve out of a table's right side and back into it."""
    x, out = route.nodes[0].right, at(route.nodes[0].right + _LOOP)
    start, end = at(route.start), at(route.end)
    return f"M{at(x)} {start}C{out} {start} {out} {end} {at(x + _ARROW)} {end}"


def _label(route: _Route) -> str:
    """The label of an edge, where it leaves its table."""
    first = route.nodes[0]
    if route.leftwards:
        return text(first.x - 6, route.start - 6, route.edge.label, "label", "end")
    right, down = (_LOOP, 14) if route.loop else (6, -6)
    return text(first.right + right, route.start + down, route.edge.label, "label")
