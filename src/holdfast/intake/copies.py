"""Local copies of what is read once: standard input (`-`), and files at `https:` and `s3:` addresses.

A source may be read more than once, in pieces and by several threads. So what is no local file is first copied whole to
the temporary folder, under its own name. The copy goes with the source that holds it.
"""

from __future__ import annotations

import base64
import errno
import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

import pyarrow as pa

from holdfast.errors import BadInput, clear_sentences, no_space
from holdfast.intake.paths import STANDARD_INPUT, is_web, refuse_lake_in_store, shows_format
from holdfast.sources.secrets import redacted, secrets_of, with_variables
from holdfast.table.runner import Threads

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

_AT_ONCE = 1 << 20
_PATIENCE = 60  # seconds that a server may be silent
# How the bytes of a file begin, and the ending of its name; a file that begins with none of these is CSV.
_MARKS = (
    (b"PAR1", ".parquet"), (b"ORC", ".orc"), (b"ARROW1", ".arrow"), (b"\x1f\x8b", ".gz"),
    (b"\x28\xb5\x2f\xfd", ".zst"),
)  # fmt: skip


class Copy:
    """A copy, and how people call it: `local` stands for `given` in every sentence. Its files go when it does."""

    def __init__(self, given: str) -> None:
        with clear_sentences(tempfile.gettempdir()):
            self.folder = tempfile.mkdtemp(prefix="holdfast-")
        self.path = self.folder
        self.local, self.given = self.folder, given
        self._gone = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def named(self, text: str) -> str:
        """A sentence with the names that people know."""
        return text.replace(self.local, self.given)


def copied(path: str) -> Copy:
    """A copy of a source."""
    if path == STANDARD_INPUT:
        return _standard_input()
    full, variables = with_variables(path)
    secrets = variables | secrets_of(full, {})
    return _from_web(full, path, secrets) if is_web(path) else _from_store(full, path, secrets)


# ---- standard input --------------------------------------------------------------------------------------------------


@cache  # it can be read only once
def _standard_input() -> Copy:
    copy = Copy("standard input")
    target = Path(copy.folder, "stdin")
    with clear_sentences(copy.folder), target.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, _AT_ONCE)
    copy.path = copy.local = str(_with_ending(target))
    return copy


def _with_ending(file: Path) -> Path:
    """The file under a name that shows its format, as its bytes do."""
    with file.open("rb") as opened:
        head = opened.read(8)
    ending = next((ending for mark, ending in _MARKS if head.startswith(mark)), "")
    packed = ending if ending in (".gz", ".zst") else ""
    if packed or not ending:
        renamed = file.rename(file.with_name(file.name + packed))
        with clear_sentences(file), pa.input_stream(str(renamed), compression="detect") as stream:
            text = stream.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
        ending = (".jsonl" if text.startswith((b"{", b"[")) else ".csv") + packed
        file = renamed
    return file.rename(file.with_name(file.name.removesuffix(packed) + ending))


# ---- the web ---------------------------------------------------------------------------------------------------------


def _from_web(url: str, given: str, secrets: set[str]) -> Copy:
    from urllib.request import Request, urlopen

    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    request = Request(urlunsplit(parts._replace(netloc=host, fragment="")))
    if parts.username:
        word = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        request.add_header("Authorization", f"Basic {base64.b64encode(word.encode()).decode()}")
    shown = redacted(given, secrets)
    copy = Copy(shown)
    target = Path(copy.folder, re.sub(r"[^\w.-]", "_", unquote(parts.path).rpartition("/")[2]) or "download")
    with _web_errors(shown, secrets), urlopen(request, timeout=_PATIENCE) as answer:
        with target.open("wb") as file:
            shutil.copyfileobj(answer, file, _AT_ONCE)
        promised, size = answer.headers.get("Content-Length"), target.stat().st_size
        if promised is not None and int(promised) != size:
            raise BadInput(f"{shown}: the server sent {size:,} of {int(promised):,} bytes; try again")
    copy.path = copy.local = str(target if shows_format(target.name) else _with_ending(target))
    return copy


@contextmanager
def _web_errors(shown: str, secrets: set[str]) -> Iterator[None]:
    from http.client import HTTPException
    from urllib.error import HTTPError

    try:
        yield
    except HTTPError as error:
        error.close()
        said = f"the server answers {error.code} ({error.reason}); check the address, and whether it wants a password"
        raise BadInput(redacted(f"{shown}: {said}", secrets)) from None
    except (OSError, HTTPException, ValueError) as error:
        said = f"it can't be read ({getattr(error, 'reason', error)}); check the address, and try again"
        raise _full_or(error, BadInput(redacted(f"{shown}: {said}", secrets))) from None


# ---- object stores ---------------------------------------------------------------------------------------------------


def _from_store(url: str, given: str, secrets: set[str]) -> Copy:
    from pyarrow.fs import FileSystem, FileType

    shown = redacted(given.partition("?")[0], secrets)
    address, question, parameters = url.partition("?")
    parts = address.split("/")
    first = next((place for place, part in enumerate(parts) if "*" in part), len(parts))
    with _store_errors(shown, secrets):
        store, place = FileSystem.from_uri("/".join(parts[:first]).rstrip("/") + question + parameters)
        refuse_lake_in_store(store, place, shown)
        found = store.get_file_info(place)
        if found.is_file and first == len(parts):
            copy = Copy(shown)
            copy.path = copy.local = _fetch(store, place.rpartition("/")[0], copy.folder, found)
            return copy
        files = [] if found.type == FileType.NotFound else _listed(store, place, parts[first:])
        if not files:
            raise BadInput(f"{shown}: there is no such file; check the address")
        copy = Copy("/".join(shown.split("/")[:first]).rstrip("/"))
        Threads().map(partial(_fetch, store, place, copy.folder), files)
        return copy


def _listed(store: FileSystem, folder: str, patterns: list[str]) -> list[FileInfo]:
    """The files in a folder, all or those whose names below it are as some patterns."""
    from pyarrow.fs import FileSelector

    def wanted(names: list[str]) -> bool:
        if any(name.startswith(("_", ".")) for name in names):
            return False
        return not patterns or (len(names) == len(patterns) and all(map(fnmatchcase, names, patterns)))

    files = [each for each in store.get_file_info(FileSelector(folder, recursive=True)) if each.is_file]
    return [each for each in files if wanted(each.path[len(folder) + 1 :].split("/"))]


def _fetch(store: FileSystem, folder: str, target: str, file: FileInfo) -> str:
    """Copy a file from below one folder to below another; gives its path there."""
    path = Path(target, file.path[len(folder) + 1 :])
    with store.open_input_stream(file.path, compression=None) as source:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as sink:
            shutil.copyfileobj(source, sink, _AT_ONCE)
    return str(path)


@contextmanager
def _store_errors(shown: str, secrets: set[str]) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException, ValueError) as error:
        reason = re.sub(r" \(Request ID: .*|; Details: .*", "", str(error).partition("\n")[0]).rstrip(".")
        sentence = f"{shown}: it can't be read: {reason}; check the address and who may read it"
        raise _full_or(error, BadInput(redacted(sentence, secrets))) from None


def _full_or(error: Exception, sentence: BadInput) -> BadInput:
    """The sentence about an error, which may be that of a full disk."""
    full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
    return no_space(tempfile.gettempdir()) if full else sentence
