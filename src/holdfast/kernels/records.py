"""Where the records of CSV bytes end: the one thing that a part of a file alone doesn't show.

A quote counts only at the start of a field, a doubled quote inside is a quote, text after the closing quote belongs to
the field, and LF and CR end a record: what `sources/records.py` does with patterns, at about a nanosecond a byte.
"""

from holdfast.kernels.arrays import Bytes, Ints
from holdfast.kernels.jit import inlined, kernel

FIELD_START, PLAIN, QUOTED, QUOTE_IN_QUOTED = 0, 1, 2, 3
_LF, _CR = 10, 13


@inlined
def _mode_after(mode: int, byte: int, separator: int, quote: int) -> int:
    """The mode behind a byte. FIELD_START: behind a separator, or behind the end of a record."""
    if mode == QUOTED:
        return QUOTE_IN_QUOTED if byte == quote else QUOTED
    if byte == quote and mode != PLAIN:
        return QUOTED
    return FIELD_START if byte in (_LF, _CR, separator) else PLAIN


@kernel
def find_cuts(
    data: Bytes, first: int, separator: int, quote: int, size: int, state: Ints,
    cuts: Ints
) -> int:  # fmt: skip
    """Look at the next bytes of a file; gives how many cuts were found among them.

    IN  data: bytes `first …` of the file; quote: -1 where nothing is quoted; size: least bytes between two cuts
    INOUT state: [mode, start of the record, last cut, length of the longest record, its start]
    OUT cuts: positions past the line break that ends a record
    """
    mode, start, cut, longest, longest_start = state[0], state[1], state[2], state[3], state[4]
    count = 0
    for i in range(len(data)):
        byte = data[i]
        mode = _mode_after(mode, byte, separator, quote)
        if mode == FIELD_START and byte != separator:
            end = first + i + 1
            if end - start > longest:
                longest, longest_start = end - start, start
            start = end
            if end - cut >= size:
                cuts[count] = cut = end
                count += 1
    state[0], state[1], state[2], state[3], state[4] = mode, start, cut, longest, longest_start
    return count


@kernel
def index_records(
    data: Bytes, first: int, line: int, separator: int, quote: int, starts: Ints,
    ends: Ints, lines: Ints, fields: Ints, state: Ints
) -> int:  # fmt: skip
    """Where each record begins and ends, on which line, and how many fields it has; gives how many records there are.

    IN  data: from byte `first` on, which is on line `line`; quote: -1 where nothing is quoted
    OUT starts, ends, lines, fields: with room for one record a line; empty lines are no records, and neither is what is
        left where a quote stays open
    OUT state: [mode at the end, the line there; where the record that is left begins, its line, its last quote]
    """
    mode, start, begun, separators, opened, count = FIELD_START, first, line, 0, -1, 0
    for i in range(first, len(data)):
        byte = data[i]
        if byte == _CR or (byte == _LF and (i == 0 or data[i - 1] != _CR)):
            line += 1
        before, mode = mode, _mode_after(mode, byte, separator, quote)
        if mode == QUOTED:
            opened = i if before == FIELD_START else opened
        elif mode == FIELD_START and byte == separator:
            separators += 1
        elif mode == FIELD_START:
            if i > start:
                starts[count], ends[count], lines[count], fields[count] = start, i + 1, begun, separators + 1
                count += 1
            start, begun, separators = i + 1, line, 0
    if mode != QUOTED and len(data) > start:
        starts[count], ends[count], lines[count], fields[count] = start, len(data), begun, separators + 1
        count += 1
    state[0], state[1], state[2], state[3], state[4] = mode, line, start, begun, opened
    return count
