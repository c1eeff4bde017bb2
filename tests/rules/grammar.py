"""A grammar in EBNF, as the docs have it: random sentences of it, and whether a text is one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from hypothesis import strategies as st

_SYMBOLS = re.compile(r'"[^"]*"|\w+|[=;|()\[\]{}]')
_TOKENS = re.compile(
    r"""(?P<string>'(?:[^']|'')*')|(?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)"""
    r"""|(?P<number>(?:\d+(?:\.\d*)?|(?<![\w"`])\.\d+)(?:[eE][+-]?\d+)?)|(?P<word>[^\W\d]\w*)"""
    r"""|(?P<mark>->|<=|>=|!=|<>|==|&&|\|\||[^\s\w'"`])|(?P<space>\s+)"""
)
_POOLS = {
    "WORD": ["a", "Zip", "first_name", "é", "u"],
    "QUOTED": ['"a b"', '"where"', "`x`", '"a ""b"""', '"not"', '"->"'],
    "STRING": ["'a'", "'!'", "'2024-02-29'", "'2024-02-29'", "'12:30'", "''", "'it''s'", "' where t.a = 1'"],
    "INTEGER": ["0", "3", "17"],
    "NUMBER": ["0", "1", "2.50", ".5", "1e3", "0.25"],
}
_DEEP = 12


@dataclass(frozen=True)
class Node:
    """A part of a definition: a literal, a name, or several parts in a row, to choose from, optional or repeated."""

    kind: str
    text: str = ""
    parts: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Token:
    """A piece of a sentence."""

    kind: str
    text: str

    def fits(self, name: str) -> bool:
        """Whether it is of a class of tokens."""
        if name == "INTEGER":
            return self.kind == "number" and self.text.isdecimal()
        return self.kind == name.lower()


@dataclass(frozen=True)
class Grammar:
    """Definitions by their names."""

    rules: Mapping[str, Node]
    heights: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def of(text: str) -> Grammar:
        """The grammar that a text defines."""
        symbols = _SYMBOLS.findall(text)
        rules: dict[str, Node] = {}
        while symbols:
            name, equals = symbols.pop(0), symbols.pop(0)
            assert equals == "=", f"{name}: a definition needs ="
            rules[name] = _choice(symbols)
            assert symbols.pop(0) == ";", f"{name}: a definition ends with ;"
        return Grammar(rules)

    # ---- sentences --------------------------------------------------------------------------------------------------

    @cached_property
    def least(self) -> dict[str, int]:
        """How deep the flattest sentence of each definition is."""
        found = dict.fromkeys(self.rules, 10**6)
        for _ in self.rules:
            found |= {name: 1 + self._least(node, found) for name, node in self.rules.items()}
        return found

    def _least(self, node: Node, known: Mapping[str, int]) -> int:
        if node.kind == "name":
            return known.get(node.text, 0)
        if node.kind == "choice":
            return min(self._least(part, known) for part in node.parts)
        return max((self._least(part, known) for part in node.parts), default=0) if node.kind == "row" else 0

    def sentence(self, draw: st.DrawFn, start: str) -> list[str]:
        """The tokens of a random sentence."""
        return list(self._derived(draw, Node("name", start), 0))

    def _derived(self, draw: st.DrawFn, node: Node, depth: int) -> Iterator[str]:
        deep = depth > _DEEP
        if node.kind == "literal":
            yield node.text
        elif node.kind == "name" and node.text in _POOLS:
            yield draw(st.sampled_from(_POOLS[node.text]))
        elif node.kind == "name":
            yield from self._derived(draw, self.rules[node.text], depth + 1)
        elif node.kind == "choice":
            flattest = min(node.parts, key=lambda part: self._least(part, self.least))
            yield from self._derived(draw, flattest if deep else draw(st.sampled_from(node.parts)), depth)
        else:
            times = 1
            if node.kind != "row":
                times = 0 if deep else draw(st.integers(0, 1 if node.kind == "option" else 2))
            for _ in range(times):
                for part in node.parts:
                    yield from self._derived(draw, part, depth)

    # ---- recognising ------------------------------------------------------------------------------------------------

    def accepts(self, text: str, start: str) -> bool:
        """Whether a text is a sentence."""
        tokens = tokens_of(text)
        return tokens is not None and len(tokens) in _Recogniser(self, tokens).ends(Node("name", start), 0)


class _Recogniser:
    """Where each part of a definition may end that begins at a token. No definition begins with itself."""

    def __init__(self, grammar: Grammar, tokens: Sequence[Token]) -> None:
        self._grammar, self._tokens = grammar, tokens
        self._known: dict[tuple[str, int], frozenset[int]] = {}

    def ends(self, node: Node, at: int) -> frozenset[int]:
        if node.kind == "choice":
            return frozenset().union(*(self.ends(part, at) for part in node.parts))
        if node.kind == "row":
            return self._in_a_row(node.parts, at)
        if node.kind == "option":
            return self._in_a_row(node.parts, at) | {at}
        if node.kind == "repeat":
            found, fresh = {at}, {at}
            while fresh:
                fresh = {end for each in fresh for end in self._in_a_row(node.parts, each)} - found
                found |= fresh
            return frozenset(found)
        if node.kind == "name" and node.text in self._grammar.rules:
            key = node.text, at
            if key not in self._known:
                self._known[key] = self.ends(self._grammar.rules[node.text], at)
            return self._known[key]
        if at == len(self._tokens):
            return frozenset()
        token = self._tokens[at]
        if node.kind == "name":
            fits = token.fits(node.text)
        else:
            fits = token.kind in ("word", "mark") and token.text.lower() == node.text
        return frozenset([at + 1] if fits else [])

    def _in_a_row(self, parts: Sequence[Node], at: int) -> frozenset[int]:
        places = frozenset([at])
        for part in parts:
            places = frozenset(end for place in places for end in self.ends(part, place))
        return places


def tokens_of(text: str) -> list[Token] | None:
    """The tokens of a text; None where one is not closed."""
    found, at = [], 0
    while at < len(text):
        match = _TOKENS.match(text, at)
        if match is None:
            return None
        if match.lastgroup != "space":
            found.append(Token(str(match.lastgroup), match.group()))
        at = match.end()
    return found


# ---- reading EBNF ---------------------------------------------------------------------------------------------------


def _choice(symbols: list[str]) -> Node:
    parts = [_row(symbols)]
    while symbols[0] == "|":
        symbols.pop(0)
        parts.append(_row(symbols))
    return parts[0] if len(parts) == 1 else Node("choice", parts=tuple(parts))


def _row(symbols: list[str]) -> Node:
    parts: list[Node] = []
    while symbols[0] not in ("|", ")", "]", "}", ";"):
        parts.append(_part(symbols))
    return Node("row", parts=tuple(parts))


def _part(symbols: list[str]) -> Node:
    symbol = symbols.pop(0)
    closing: Any = {"(": (")", "row"), "[": ("]", "option"), "{": ("}", "repeat")}.get(symbol)
    if closing is None:
        return Node("literal", symbol[1:-1]) if symbol.startswith('"') else Node("name", symbol)
    inner = Node(closing[1], parts=(_choice(symbols),))
    assert symbols.pop(0) == closing[0]
    return inner
