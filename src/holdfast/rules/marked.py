"""YAML that remembers its lines, so that an error found later can say where.

Plain YAML is what YAML's safe loader knows. Two things are refused that it would let pass, as rule files suffer from
them: a key given twice, and an unquoted value that starts with `!`, which YAML takes for a tag.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from holdfast.errors import BadInput

Steps = Sequence[str | int]


@dataclass(frozen=True)
class Marked:
    """The values of a file, and the nodes they were made from."""

    path: str
    data: Any
    root: yaml.Node | None

    def place(self, steps: Steps) -> str:
        """`rules.yaml, line 3`: where the value is to which keys and positions lead, past steps that lead nowhere."""
        node = self.root
        for step in steps:
            node = _child(node, step) or node
        return self.path if node is None else _place(self.path, node)


def read_marked(path: str | Path) -> Marked:
    """The one document of a YAML file."""
    text = _text_of(path)
    try:
        loader = yaml.SafeLoader(text)
        try:
            root = loader.get_single_node()
            if root is not None:
                _refuse_traps(str(path), text, root)
            return Marked(str(path), None if root is None else loader.construct_document(root), root)
        finally:
            loader.dispose()
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise _unreadable(str(path), error) from None


def _text_of(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file; check the path") from None
    except IsADirectoryError:
        raise BadInput(f"{path}: this is a folder; name a file in it") from None
    except PermissionError:
        raise BadInput(f"{path}: the file may not be read; check its permissions") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None


def _unreadable(path: str, error: Exception) -> BadInput:
    mark = getattr(error, "problem_mark", None)
    where = f"{path}, line {mark.line + 1}" if mark else path
    what = getattr(error, "problem", None) or str(error).splitlines()[0]
    return BadInput(f"{where}: not readable as YAML ({what}); put rules in double quotes, and check the indentation")


def _refuse_traps(path: str, text: str, root: yaml.Node) -> None:
    for node in _nodes(root):
        start = node.start_mark.index
        written = text[start : start + 2]
        if written.startswith("!") and written != "!!":
            raise BadInput(f"{_place(path, node)}: YAML reads what starts with ! as a tag; put it in double quotes")
        if isinstance(node, yaml.MappingNode):
            _refuse_twice(path, node)


def _refuse_twice(path: str, node: yaml.MappingNode) -> None:
    met: set[str] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode) and key.value in met:
            raise BadInput(f"{_place(path, key)}: the key {key.value!r} is there twice; remove one")
        met.add(str(key.value))


def _nodes(root: yaml.Node) -> Iterator[yaml.Node]:
    """Every node once, in the order of the file; an alias is the node it names."""
    waiting, met = [root], set()
    while waiting:
        node = waiting.pop()
        if id(node) in met:
            continue
        met.add(id(node))
        yield node
        if isinstance(node, yaml.MappingNode):
            waiting += [each for pair in reversed(node.value) for each in reversed(pair)]
        elif isinstance(node, yaml.SequenceNode):
            waiting += reversed(node.value)


def _child(node: yaml.Node | None, step: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
        return node.value[step] if step < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    return None


def _place(path: str, node: yaml.Node) -> str:
    return f"{path}, line {node.start_mark.line + 1}"
