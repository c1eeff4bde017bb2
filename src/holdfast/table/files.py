"""Segment files: named arrays of any lengths in one immutable, memory-mapped Arrow file.

The file is an Arrow IPC file with a single row, in which each named array is one list: any Arrow tool can read it,
and our arrays come back without a copy, each checked before it is given out (`checks`). Paths may be local or any URI
that `pyarrow.fs` knows; local files are memory-mapped and, but for those in a temporary folder, reach the disk before
`write` returns; others are read whole.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from mmap import mmap
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import ipc

from holdfast.errors import Damaged, Missing
from holdfast.table import arrow, checks
from holdfast.table.checks import CheckedArrays

if TYPE_CHECKING:
    from pyarrow import fs

Arrays = Mapping[str, "NDArray[Any] | pa.Array"]
_OURS = re.compile(r"[0-9a-f]{32}\.arrow")


def new_path(folder: str) -> str:
    """A path in a folder that no other file has, and no other attempt of the same task: `is_ours` knows its name."""
    return f"{folder}/{uuid.uuid4().hex}.arrow"


def write_new(folder: str, arrays: Arrays, facts: Mapping[str, Any] | None = None) -> str:
    """Write named arrays (and a few facts) to a new file in a folder; gives its path."""
    path = new_path(folder)
    write(path, arrays, facts)
    return path


_temporary: set[str] = set()  # folders whose files need not outlive this process


@contextmanager
def temporary_folder() -> Iterator[str]:
    """A folder that goes with its files in the end: what is written there does not wait for the disk."""
    with TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as folder:
        _temporary.add(folder)
        try:
            yield folder
        finally:
            _temporary.discard(folder)


def write(path: str, arrays: Arrays, facts: Mapping[str, Any] | None = None) -> int:
    """Write named arrays (and a few facts) to a new file; gives its size in bytes."""
    batch = _one_row(arrays)
    schema = batch.schema.with_metadata(checks.describe(batch, facts or {}))
    elsewhere = _elsewhere(path)
    with pa.BufferOutputStream() if elsewhere else pa.OSFile(path, "wb") as sink:
        with ipc.new_file(sink, schema) as writer:
            writer.write_batch(batch.replace_schema_metadata(schema.metadata))
        size = int(sink.tell())
        whole = bytearray(sink.getvalue()) if elsewhere else b""
    if elsewhere:
        checks.seal(memoryview(whole))
        with elsewhere[0].open_output_stream(elsewhere[1]) as sink:
            sink.write(whole)
        return size
    with Path(path).open("r+b") as file, mmap(file.fileno(), size) as mapped, memoryview(mapped) as seen:
        checks.seal(seen)
    if path.rpartition("/")[0] not in _temporary:
        flush(Path(path))
    return size


def read(path: str) -> tuple[CheckedArrays, dict[str, Any]]:
    """The arrays of a file by name (numbers as NumPy, bytes as Arrow arrays), and its facts."""
    return _read(path, *_opened(path))


def _read(path: str, source: Any, seen: checks.Seen) -> tuple[CheckedArrays, dict[str, Any]]:
    try:
        batch = ipc.open_file(source).get_batch(0)
        facts, about = checks.described(batch.schema.metadata)
        plain = checks.plain_arrays(batch, about)
    except Exception as error:  # whatever a reader makes of bytes that nobody wrote
        raise Damaged(path, str(error).partition("\n")[0]) from None
    return CheckedArrays(path, plain, about, seen), facts


def _opened(path: str) -> tuple[Any, checks.Seen]:
    """A file to read from, and what was seen of it before: a file elsewhere is read again each time."""
    try:
        if elsewhere := _elsewhere(path):
            with elsewhere[0].open_input_file(elsewhere[1]) as file:
                return pa.BufferReader(file.read_buffer()), checks.Seen()
        about = Path(path).stat()
        return pa.memory_map(path), checks.seen(path, (about.st_ino, about.st_size, about.st_mtime_ns))
    except FileNotFoundError:
        raise Missing(path) from None
    except OSError as error:
        if error.errno in (None, errno.EINVAL):  # nothing can be mapped of an empty file
            raise Damaged(path, str(error)) from None
        raise
    except pa.ArrowException as error:
        raise Damaged(path, str(error)) from None


def remove(path: str) -> None:
    """Delete a file, if it is there."""
    checks.forget(path)
    if elsewhere := _elsewhere(path):
        from pyarrow import fs

        where, name = elsewhere
        if where.get_file_info(name).type != fs.FileType.NotFound:
            where.delete_file(name)
    else:
        Path(path).unlink(missing_ok=True)


def sizes(folder: str) -> dict[str, int]:
    """The files in a folder, which need not be there, by name, with their bytes."""
    found: dict[str, int] = {}
    if elsewhere := _elsewhere(folder):
        from pyarrow import fs

        listing = elsewhere[0].get_file_info(fs.FileSelector(elsewhere[1], allow_not_found=True))
        return {each.base_name: each.size for each in listing if each.type == fs.FileType.File}
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for each in entries:
            with suppress(FileNotFoundError):  # a writer may have removed it meanwhile
                if each.is_file():
                    found[each.name] = each.stat().st_size
    return found


def is_ours(name: str) -> bool:
    """Whether a file has a name as we give them. Files with other names are someone's, and stay."""
    return _OURS.fullmatch(name) is not None


def copy(path: str, to: str) -> None:
    """Copy a file within one file system; a local one is on the disk when this returns."""
    source, target = _elsewhere(path), _elsewhere(to)
    try:
        if source and target:
            source[0].copy_file(source[1], target[1])
        else:
            shutil.copyfile(path, to)
            flush(Path(to))
    except FileNotFoundError:
        raise Missing(path) from None


def fetch(path: str, to: Path) -> int:
    """Copy a file from wherever it is to a new local one, which is on the disk and right when this returns; gives its
    size.
    """
    elsewhere = _elsewhere(path)
    try:
        source = elsewhere[0].open_input_stream(elsewhere[1]) if elsewhere else pa.OSFile(path)
    except FileNotFoundError:
        raise Missing(path) from None
    with source, to.open("xb") as copy:
        shutil.copyfileobj(source, copy, 1 << 20)
    flush(to)
    try:
        return check(str(to))
    except Damaged as error:
        raise Damaged(path, error.what) from None


def check(path: str) -> int:
    """Look at all of a file, seen before or not; gives its size. Raises where it is not what was written."""
    source = _opened(path)[0]
    arrays, _ = _read(path, source, checks.Seen())
    for name in arrays:
        _ = arrays[name]
    source.seek(0)
    whole = memoryview(source.read_buffer())
    try:
        checks.check_whole(whole)
    except ValueError as error:
        raise Damaged(path, str(error)) from None
    return len(whole)


def make_folder(folder: str) -> None:
    """Create a folder and its parents."""
    if elsewhere := _elsewhere(folder):
        elsewhere[0].create_dir(elsewhere[1], recursive=True)
    else:
        Path(folder).mkdir(parents=True, exist_ok=True)


def remove_empty(folder: str) -> None:
    """Delete a local folder that has nothing in it. Elsewhere folders are but parts of names."""
    if not _elsewhere(folder):
        with suppress(OSError):
            Path(folder).rmdir()


def flush(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_folder(folder: str) -> None:
    """Wait until the names in a local folder are on the disk."""
    if "://" not in folder:
        flush(Path(folder))


def _elsewhere(path: str) -> tuple[fs.FileSystem, str] | None:
    """The file system of a path that is an address, and the name there; None where it is a plain path of this machine.
    What Arrow knows of other storage is loaded only for addresses.
    """
    if "://" not in path:
        return None
    from pyarrow import fs

    where, name = fs.FileSystem.from_uri(path)
    return where, name


def _one_row(arrays: Arrays) -> pa.RecordBatch:
    lists = {}
    for name, array in arrays.items():
        values = arrow.from_numpy(array) if isinstance(array, np.ndarray) else array
        lists[name] = pa.LargeListArray.from_arrays(arrow.from_numpy(np.array([0, len(values)], np.int64)), values)
    return pa.RecordBatch.from_arrays(list(lists.values()), names=list(lists))
