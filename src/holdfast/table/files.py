"""Segment files: named arrays of any lengths in one immutable, memory-mapped Arrow file.

The file is an Arrow IPC file with a single row, in which each named array is one list: any Arrow tool can read it,
and our arrays come back without a copy. Paths may be local or any URI that `pyarrow.fs` knows; local files are
memory-mapped and reach the disk before `write` returns, others are read whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import fs, ipc

Arrays = Mapping[str, "NDArray[Any] | pa.Array"]


def write(path: str, arrays: Arrays, facts: Mapping[str, Any] | None = None) -> int:
    """Write named arrays (and a few facts) to a new file; gives its size in bytes."""
    batch = _one_row(arrays)
    schema = batch.schema.with_metadata({"facts": json.dumps(dict(facts or {}))})
    where, name = _locate(path)
    with where.open_output_stream(name) as sink, ipc.new_file(sink, schema) as writer:
        writer.write_batch(batch.replace_schema_metadata(schema.metadata))
    if isinstance(where, fs.LocalFileSystem):
        flush(Path(name))
    return int(where.get_file_info(name).size)


def read(path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of a file by name (numbers as NumPy, bytes as Arrow arrays), and its facts."""
    where, name = _locate(path)
    source = pa.memory_map(name) if isinstance(where, fs.LocalFileSystem) else where.open_input_file(name)
    batch = ipc.open_file(source).get_batch(0)
    facts = json.loads(batch.schema.metadata[b"facts"])
    arrays = {}
    for field, column in zip(batch.schema, batch.columns, strict=True):
        values = column.values[column.offsets[0].as_py() : column.offsets[1].as_py()]
        numeric = not pa.types.is_large_binary(field.type.value_type)
        arrays[field.name] = values.to_numpy(zero_copy_only=True) if numeric else values
    return arrays, facts


def remove(path: str) -> None:
    """Delete a file, if it is there."""
    where, name = _locate(path)
    if where.get_file_info(name).type != fs.FileType.NotFound:
        where.delete_file(name)


def names(folder: str) -> list[str]:
    """The names of the files in a folder."""
    where, name = _locate(folder)
    listing = where.get_file_info(fs.FileSelector(name, allow_not_found=True))
    return [each.base_name for each in listing if each.type == fs.FileType.File]


def size(folder: str) -> int:
    """The bytes of all files in a folder."""
    where, name = _locate(folder)
    listing = where.get_file_info(fs.FileSelector(name, allow_not_found=True))
    return sum(each.size for each in listing if each.type == fs.FileType.File)


def make_folder(folder: str) -> None:
    """Create a folder and its parents."""
    where, name = _locate(folder)
    where.create_dir(name, recursive=True)


def flush(path: Path) -> None:
    """Wait until a file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _locate(path: str) -> tuple[fs.FileSystem, str]:
    if "://" in path:
        where, name = fs.FileSystem.from_uri(path)
        return where, name
    return fs.LocalFileSystem(), path


def _one_row(arrays: Arrays) -> pa.RecordBatch:
    lists = {}
    for name, array in arrays.items():
        values = pa.array(array) if isinstance(array, np.ndarray) else array
        lists[name] = pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values)
    return pa.RecordBatch.from_arrays(list(lists.values()), names=list(lists))
