"""CSV bytes as records: where each begins, on which line, and its fields.

Reads as Arrow's reader and the csv module do: a quote counts only at the start of a field, a doubled quote inside is a
quote, text after the closing quote belongs to the field, and LF, CRLF and CR end a record. Empty lines are no records.
Arrow's reader can't say on which line a record begins, and the csv module limits the length of a field for the whole
process; so we have our own.

Cost: about a microsecond a field. Used for the head of a file, and to find what is wrong with a file.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

BOM = b"\xef\xbb\xbf"
UNCLOSED = "a quote is opened and never closed"


@dataclass(frozen=True, slots=True)
class Record:
    """One record: `fields` are raw bytes with their quotes; `end` is past the line break."""

    line: int
    start: int
    end: int
    fields: tuple[bytes, ...]
    closed: bool  # False where a quote is still open at the end of the data
    clean: bool  # False where text follows a closing quote


def records(data: bytes, separator: str, quote: str) -> Iterator[Record]:
    """The records of `data` in order; an unclosed one is the last."""
    field = _field_pattern(separator.encode(), quote.encode())
    position = len(BOM) if data.startswith(BOM) else 0
    line = 1
    while position < len(data):
        record = _record(data, field, position, line)
        if record.fields != (b"",):  # not an empty line
            yield record
        line += line_breaks(data[record.start : record.end])
        position = record.end


def _record(data: bytes, field: re.Pattern[bytes], start: int, line: int) -> Record:
    fields: list[bytes] = []
    clean = True
    position = start
    while match := field.match(data, position):
        text, tail, terminator = match.groups()
        fields.append(text)
        clean = clean and not tail
        position = match.end()
        if terminator in (b"\n", b"\r\n", b"\r", b""):
            return Record(line, start, position, tuple(fields), True, clean)
    fields.append(data[position:])
    return Record(line, start, len(data), tuple(fields), False, False)


@functools.cache
def _field_pattern(separator: bytes, quote: bytes) -> re.Pattern[bytes]:
    """A field, the text after its closing quote, and what ends it. No match: the quote is never closed."""
    s, q = re.escape(separator), re.escape(quote)
    plain = rb"[^%b\r\n]*+" % s
    body = rb"(%b()" % plain
    if quote:
        # Possessive: without backtracking, an unclosed quote can't be read in another way.
        body = rb"(%b(?:[^%b]++|%b%b)*+%b(%b)|(?!%b)%b" % (q, q, q, q, q, plain, q, plain)
    return re.compile(rb"%b)(%b|\r\n|\r|\n|\Z)" % (body, s))


def unquoted(field: bytes, quote: str) -> str:
    """The value of a raw field."""
    text = field.decode()
    if not quote or not text.startswith(quote):
        return text
    # The closing quote is the first one without a second; text after it belongs to the value.
    inside = re.match(f"(?:[^{re.escape(quote)}]++|{re.escape(quote) * 2})*+", text[1:])
    length = inside.end() if inside else 0
    return text[1 : 1 + length].replace(quote * 2, quote) + text[2 + length :]


def wrong_width(fields: int, expected: int) -> str:
    """What is wrong with a record that has too few or too many fields."""
    return f"{fields} field{'s' * (fields != 1)} where {expected} {'is' if expected == 1 else 'are'} expected"


def line_breaks(data: bytes) -> int:
    """How many line breaks the bytes hold; CRLF is one."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def encoding_complaint(data: bytes, name: str) -> str | None:
    """One sentence that says where `data` is not UTF-8, or None."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = 1 + line_breaks(data[: error.start])
        likely = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "LATIN1"
        return (
            f"{name}, line {line}: the byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8; "
            f"convert the file first, for example with: iconv -f {likely} -t UTF-8"
        )
    return None
