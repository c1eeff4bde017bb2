"""From text to lists of sorted columns, `Year, Salary desc`, and to the rules about two of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from holdfast.changes.reader import END, Reader, token_pattern
from holdfast.engines.order.list_model import ListOD, SortColumn, SortList
from holdfast.errors import BadInput, suggest


def is_list_od(text: str) -> bool:
    """Whether a text means to be a list order dependency: nothing else begins with a bracket."""
    return text.lstrip().startswith("[")


def parse(text: str) -> ListOD:
    """The list order dependency that a text says."""
    reader = SortReader(text, "write [A, B desc] orders [C]")
    by = reader.bracketed()
    reader.expect_word("orders")
    then = reader.bracketed()
    reader.expect("")
    if not then:
        raise BadInput(f"{text!r}: the list on the right is empty, so it says nothing; name a column")
    return ListOD(by, then)


class SortReader(Reader):
    """Reads sorted columns."""

    pattern = token_pattern(r"[\[\],]")

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
        return SortColumn(self.name(), self.word_of(("asc", "desc")) == "desc")

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

    def here(self) -> str:
        """Where the reader is, in words."""
        found = self.peek()
        return "at the end" if found == END else f"where {found[1]!r} stands"

    def advice_on_names(self) -> str:
        """What to do about a text that has no tokens."""
        return f"{super().advice_on_names()}, and {self.hint}"


def refuse_unknown(text: str, columns: Sequence[SortColumn], names: Sequence[str]) -> None:
    """Say so where a list has a column that the table lacks."""
    for column in columns:
        if column.name not in names:
            raise BadInput(f"{text!r}: there is no column {column.name!r}; {suggest(column.name, names)}")
