"""What all readers of files share: errors in one sentence, and the longest record that is read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from holdfast.errors import BadInput

COMPRESSED = (".gz", ".bz2", ".zst")
# The most bytes of a CSV record or a JSON line; with a few hundred million Spark's JVM dies.
LONGEST_RECORD = 16 << 20
_AT_ONCE = 8 << 20  # less than LONGEST_RECORD, so that a longer line covers a whole read


@contextlib.contextmanager
def readable(path: str | Path, kind: str) -> Iterator[None]:
    """Turn errors of a file into one sentence."""
    if not Path(path).exists():
        raise BadInput(f"{path}: there is no such file; check the path")
    if Path(path).is_dir():
        raise BadInput(f"{path}: this is a folder; name a file in it")
    try:
        yield
    except PermissionError:
        raise BadInput(f"{path}: the file may not be read; check its permissions") from None
    except (OSError, pa.ArrowException) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise BadInput(f"{path}: not readable as {kind} ({reason}); check that the file is whole") from None


def refuse_long_lines(path: str | Path) -> None:
    """Refuse a text file with a line of more than LONGEST_RECORD bytes, before a reader fails on it."""
    if not str(path).endswith(COMPRESSED) and Path(path).stat().st_size <= LONGEST_RECORD:
        return
    line = position = 0  # where the line begins, and the bytes that come next
    with readable(path, "a text file"), pa.input_stream(str(path), compression="detect") as stream:
        while data := stream.read(_AT_ONCE):
            breaks = [at for at in (data.find(b"\n"), data.find(b"\r")) if at >= 0]
            if position + (min(breaks) if breaks else len(data)) - line > LONGEST_RECORD:
                raise too_long(path, line)
            if breaks:
                line = position + 1 + max(data.rfind(b"\n"), data.rfind(b"\r"))
            position += len(data)


def too_long(path: str | Path, start: int) -> BadInput:
    """The sentence about a record that begins at byte `start` and is too long."""
    number = 1
    with pa.input_stream(str(path), compression="detect") as stream:
        while start and (data := stream.read(min(start, _AT_ONCE))):
            number += data.count(b"\n") or data.count(b"\r")
            start -= len(data)
    return BadInput(
        f"{path}, line {number}: a record of more than {LONGEST_RECORD >> 20} MB; close an open quote or add a missing "
        "line break, or leave out the record"
    )
