"""YAML with line numbers, so that a later error can name the line.

Reads what YAML's safe loader reads, and refuses more: a key that is there twice; an unquoted value that starts with
`!`, which YAML takes for a tag; and files that would exhaust the reader by size, by depth, or by aliases of aliases,
which are measured before they are followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from holdfast.errors import BadInput, clear_sentences
from holdfast.sources.file_errors import readable

Steps = Sequence[str | int]

MOST_BYTES = 1 << 20
_DEEPEST = 20
_MOST_VALUES = 200_000  # aliases counted as what they name
_SHOWN = 100


@dataclass(frozen=True)
class YamlFile:
    """The values of a file, and the nodes that they come from."""

    path: str
    data: Any
    root: yaml.Node | None

    def place(self, steps: Steps) -> str:
        """`rules.yaml, line 3`: the line of the value at a path of keys and positions; unknown steps are skipped."""
        node = self.root
        for step in steps:
            node = _child(node, step) or node
        return self.path if node is None else _place(self.path, node)


def read_yaml(path: str | Path) -> YamlFile:
    """The one document of a YAML file."""
    with clear_sentences(path), readable(path, "YAML"):
        text = _text_of(path)
    try:
        loader = _Loader(text, str(path))
        try:
            root = loader.get_single_node()
            if root is not None:
                _measure(str(path), text, root, {})
            return YamlFile(str(path), None if root is None else loader.construct_document(root), root)
        finally:
            loader.dispose()
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise _unreadable(str(path), error) from None


class _Loader(yaml.SafeLoader):
    """YAML's safe loader with a limit on depth."""

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text)
        self._path, self._depth = path, 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """A node with all its children."""
        self._depth += 1
        if self._depth > _DEEPEST:
            line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
            raise BadInput(
                f"{self._path}, line {line}: nested deeper than {_DEEPEST} levels, which no rule needs; flatten it"
            )
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _text_of(path: str | Path) -> str:
    with Path(path).open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise BadInput(f"{path}: the file is larger than {MOST_BYTES >> 20} MiB, too large for rules; split it")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None


def _unreadable(path: str, error: Exception) -> BadInput:
    mark = getattr(error, "problem_mark", None)
    where = f"{path}, line {mark.line + 1}" if mark else path
    what = (getattr(error, "problem", None) or str(error).splitlines()[0])[:_SHOWN]
    return BadInput(f"{where}: not readable as YAML ({what}); put rules in double quotes, and check the indentation")


def _measure(path: str, text: str, node: yaml.Node, sizes: dict[int, int]) -> int:
    """How many values a node holds, aliases counted as what they name. Refuses too many values, and traps in any of
    them. An alias is the node that it names; `sizes` has those that were measured, and 0 for those under way.
    """
    place = _place(path, node)
    if id(node) in sizes:
        if not sizes[id(node)]:
            raise BadInput(f"{place}: this alias refers to itself; write the value out")
        return sizes[id(node)]
    written = text[node.start_mark.index : node.start_mark.index + 2]
    if written.startswith("!") and written != "!!":
        raise BadInput(f"{place}: YAML takes ! at the start for a tag; put the value in double quotes")
    if isinstance(node, yaml.MappingNode):
        _refuse_twice(path, node)
    sizes[id(node)] = 0
    size = 1 + sum(_measure(path, text, child, sizes) for child in _children(node))
    if size > _MOST_VALUES:
        more = f"with its aliases, the file has more than {_MOST_VALUES:,} values"
        raise BadInput(f"{place}: {more}; write them out, or split it")
    sizes[id(node)] = size
    return size


def _refuse_twice(path: str, node: yaml.MappingNode) -> None:
    met: set[str] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode) and key.value in met:
            raise BadInput(f"{_place(path, key)}: the key {key.value[:_SHOWN]!r} is there twice; remove one")
        met.add(str(key.value))


def _children(node: yaml.Node) -> list[yaml.Node]:
    """The nodes that a node holds, in order."""
    if isinstance(node, yaml.MappingNode):
        return [each for pair in node.value for each in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _child(node: yaml.Node | None, step: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        return node.value[step] if step < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    return None


def _place(path: str, node: yaml.Node) -> str:
    return f"{path}, line {node.start_mark.line + 1}"
