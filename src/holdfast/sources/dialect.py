"""How a CSV file is written: separator, quote, header; given by the user or guessed from the file's head.

A guess looks at the head alone, and is reported, so that the user can correct it.
Cost: the head is split once for each candidate, at most four separators times two quotes.
"""

import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from holdfast.errors import BadInput
from holdfast.sources.grammar import CELL_OF_DATA
from holdfast.sources.records import Record, encoding_complaint, records, unquoted
from holdfast.visible import shown_fields

SEPARATORS = (",", ";", "\t", "|")
QUOTES = ('"', "'")


@dataclass(frozen=True)
class CsvOptions:
    """What the user says about a CSV file; None means: guess. `quote=""` means that nothing is quoted.

    >>> import holdfast as hf
    >>> hf.CsvOptions(separator=";", header=False)
    CsvOptions(separator=';', header=False)
    """

    separator: str | None = None
    quote: str | None = None
    header: bool | None = None
    nulls: tuple[str, ...] | None = None
    types: Literal["infer", "text"] = "infer"

    def __post_init__(self) -> None:
        """Refuse impossible options."""
        if self.separator is not None:
            _check_mark("separator", self.separator)
            if self.separator in QUOTES and self.quote is None:
                raise BadInput(f"the separator {self.separator} is a quote in most CSV; say which quote the file has")
        if self.quote:
            _check_mark("quote", self.quote)
            if self.quote == self.separator:
                raise BadInput(f"the separator and the quote are both {self.quote!r}; choose different ones")
        if self.types not in ("infer", "text"):
            raise BadInput(f"types must be 'infer' or 'text', not {self.types!r}")

    def __repr__(self) -> str:
        return shown_fields(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, fit for JSON."""
        plain = dataclasses.asdict(self)
        return plain | {"nulls": None if self.nulls is None else list(self.nulls)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "CsvOptions":
        """The inverse of `to_dict`; missing options have their defaults."""
        nulls = plain.get("nulls")
        return cls(**{**plain, "nulls": None if nulls is None else tuple(nulls)})


@dataclass(frozen=True)
class Dialect:
    """How one file is written, all decided. `names` is empty only for an empty file."""

    separator: str
    quote: str
    header: bool
    names: tuple[str, ...]

    def __str__(self) -> str:
        header = "header row" if self.header else "no header row"
        quote = f"quote {_shown(self.quote)}" if self.quote else "no quotes"
        return f"separator {_shown(self.separator)}, {header}, {quote}"


def as_before(head: bytes, options: CsvOptions, before: CsvOptions | None, names: Collection[str]) -> CsvOptions:
    """The options, with separator and quote of the earlier files of a table where they are left open, unless the head
    speaks against it: its first record must name columns of the table, and no other quote may occur.
    """
    if before is None or before.separator is None or before.quote is None:
        return options
    separator = options.separator or before.separator
    quote = before.quote if options.quote is None else options.quote
    others = [mark for mark in QUOTES if mark != quote] if options.quote is None else []
    if separator == quote or any(mark.encode() in head for mark in others):
        return options
    first = next(records(head, separator, quote), None)
    if first is None or not {unquoted(field, quote) for field in first.fields} <= set(names):
        return options
    return dataclasses.replace(options, separator=separator, quote=quote)


class HeadTooShort(BadInput):
    """The first record is longer than the head: read more and try again."""


def sniff(head: bytes, options: CsvOptions, *, complete: bool, name: str) -> tuple[Dialect, list[str]]:
    """The dialect of a file that begins with `head`, and what was guessed, in sentences.

    `complete` says that the head is the whole file; otherwise its last line is left out, for it may be cut.
    """
    data = head if complete else head[: 1 + max(head.rfind(b"\n"), head.rfind(b"\r"))]
    if complaint := encoding_complaint(data, name):
        raise BadInput(complaint)
    separator, quote, found = _choose(data, options, complete)
    if not found:
        if not complete:
            raise HeadTooShort(f"{name}: the first record does not end within the first {len(head)} bytes")
        return Dialect(separator, quote, options.header is not False, ()), []
    cells = [unquoted(field, quote) for field in found[0].fields]
    header = _has_header(cells) if options.header is None else options.header
    names = _names(cells, name) if header else tuple(f"c{i}" for i in range(1, len(cells) + 1))
    dialect = Dialect(separator, quote, header, names)
    unnamed = [i for i, cell in enumerate(cells, 1) if header and not cell.strip()]
    return dialect, _guesses(dialect, options, unnamed)


def _check_mark(role: str, mark: str) -> None:
    if len(mark) != 1 or not mark.isascii() or mark in "\r\n":
        raise BadInput(f"the {role} {mark!r} must be one ASCII character and no line break")


def _shown(mark: str) -> str:
    return {"\t": "tab", '"': "'\"'"}.get(mark, repr(mark))


def _choose(data: bytes, options: CsvOptions, complete: bool) -> tuple[str, str, list[Record]]:
    """The separator and the quote that fit best, and the records they give."""
    separators = SEPARATORS if options.separator is None else (options.separator,)
    quotes = QUOTES if options.quote is None else (options.quote,)
    marks = [(separator, quote) for separator in separators for quote in quotes if quote != separator]
    read = [(r for r in records(data, *pair) if r.closed or complete) for pair in marks]
    if len(marks) == 1:  # nothing to choose, and the first record has the columns
        return *marks[0], list(islice(read[0], 1))
    candidates = [(*pair, list(found)) for pair, found in zip(marks, read, strict=True)]
    return max(candidates, key=lambda candidate: _fitness(*candidate[1:]))


def _fitness(quote: str, found: list[Record]) -> tuple[bool | float, ...]:
    """Greater is better; of equals the first candidate wins.

    The first record sets the width, since it gives the columns; a good separator gives most records that width.
    Text after a closing quote shows a wrong separator: `"a,b";"c,d"` read with a comma.
    """
    width = len(found[0].fields) if found else 0
    share = sum(len(r.fields) == width for r in found) / max(1, len(found))
    clean = all(r.clean for r in found)
    splits = width > 1 and share >= 0.5
    plausible = quote == '"' or _apostrophe_quotes(quote, clean, found)
    return (plausible, splits, clean and splits, share if splits else 0.0, quote != '"', width if splits else 0)


def _apostrophe_quotes(quote: str, clean: bool, found: list[Record]) -> bool:
    """Whether there are fields in apostrophes, all closed, and no double quote at all: 's-Hertogenbosch is no quote."""
    if quote != "'":
        return True  # given by the user
    fields = [field for record in found for field in record.fields]
    return clean and any(f.startswith(b"'") for f in fields) and not any(b'"' in f for f in fields)


def _has_header(cells: list[str]) -> bool:
    return not any(not cell.strip() or re.fullmatch(CELL_OF_DATA, cell.strip()) for cell in cells)


def _names(cells: list[str], name: str) -> tuple[str, ...]:
    names = tuple(cell if cell.strip() else f"c{i}" for i, cell in enumerate(cells, 1))
    refuse_equal_names(names, name)
    return names


def refuse_equal_names(names: Iterable[str], source: str) -> None:
    """Refuse a source with two columns of one name."""
    places: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if name in places:
            raise BadInput(f"{source}: columns {places[name]} and {place} are both named {name!r}; rename one of them")
        places[name] = place


def _guesses(dialect: Dialect, options: CsvOptions, unnamed: list[int]) -> list[str]:
    guesses = [f"column {i} has no name and is called c{i}" for i in unnamed]
    if options.separator is None and dialect.separator != ",":
        guesses.append(f"guessed the separator {_shown(dialect.separator)}")
    if options.quote is None and dialect.quote != '"':
        guesses.append(f"guessed the quote {_shown(dialect.quote)}")
    if options.header is None and not dialect.header:
        guesses.append("guessed that there is no header row")
    if None in (options.separator, options.quote, options.header):
        guesses.append(str(dialect))
    return guesses
