"""From text to lists of sorted columns, `Year, Salary desc`, and to the rules about two of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from holdfast.changes.names import QUOTED, WORD, unquoted
from holdfast.engines.order.list_model import ListOD, SortColumn, SortList
from holdfast.errors import BadInput

_TOKEN = re.compile(rf"\s*(?:(?P<word>{WORD})|(?P<quoted>{QUOTED})|(?P<mark>[\[\],]))")
_END = ("mark", "")


def is_list_od(text: str) -> bool:
    """Whether a text means to be a list order dependency: nothing else begins with a bracket."""
    return text.lstrip().startswith("[")


def parse(text: str) -> ListOD:
    """The list order dependency that a text says."""
    reader = Reader(text, "write [A, B desc] orders [C]")
    by = reader.bracketed()
    reader.expect_word("orders")
    then = reader.bracketed()
    reader.expect("")
    if not then:
        raise BadInput(f"{text!r}: the list on the right is empty, so it says nothing; name a column")
    return ListOD(by, then)


@dataclass
class Reader:
    """Reads sorted columns token by token; `hint` ends every sentence about what is wrong."""

    text: str
    hint: str
    tokens: list[tuple[str, str]] = field(init=False)
    at: int = 0

    def __post_init__(self) -> None:
        self.tokens = list(_tokens(self.text, self.hint))

    def bracketed(self) -> SortList:
        """A list of columns in brackets, which may be empty."""
        self.expect("[")
        columns = () if self.peek() == ("mark", "]") else self.columns()
        self.expect("]")
        return columns

    def columns(self) -> SortList:
        """One column or more, with commas between."""
        found = [self.column()]
        while self.peek() == ("mark", ","):
            self.at += 1
            found.append(self.column())
        return tuple(found)

    def column(self) -> SortColumn:
        """A name, with its direction if one is told. What comes first is a name, even if it is the word `desc`."""
        kind, name = self.peek()
        if kind == "mark":
            raise self.wrong("a column name")
        self.at += 1
        return SortColumn(name, self.word_of(("asc", "desc")) == "desc")

    def word_of(self, words: Collection[str]) -> str | None:
        """The next token where it is one of some words, in any case; else None."""
        kind, value = self.peek()
        if kind != "word" or value.lower() not in words:
            return None
        self.at += 1
        return value.lower()

    def expect_word(self, word: str) -> None:
        """Go past a word that must be here."""
        if self.word_of((word,)) is None:
            raise self.wrong(repr(word))

    def expect(self, mark: str) -> None:
        """Go past a mark that must be here; "" is the end."""
        if self.peek() != ("mark", mark):
            raise self.wrong(repr(mark) if mark else "the end")
        self.at += 1

    def peek(self) -> tuple[str, str]:
        """Kind and value of the next token."""
        return self.tokens[min(self.at, len(self.tokens) - 1)]

    def wrong(self, wanted: str) -> BadInput:
        """What is wrong here."""
        found = self.peek()
        where = "at the end" if found == _END else f"where {found[1]!r} stands"
        return BadInput(f"{self.text!r}: expected {wanted} {where}; {self.hint}")


def _tokens(text: str, hint: str) -> Iterator[tuple[str, str]]:
    """Kind and value of each token; at the end an empty mark."""
    at, end = 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            rest = text[at:].strip()
            raise BadInput(
                f"{text!r}: cannot read {rest[:20]!r}; put names that aren't plain words in double quotes, and {hint}"
            )
        kind = str(found.lastgroup)
        yield kind, unquoted(found[kind])
        at = found.end()
    yield _END
