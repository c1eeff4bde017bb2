"""Arrow arrays from NumPy ones and back, by their buffers.

Arrow's own ways (`pa.array`, `pa.scalar`, `to_numpy`) look for pandas when they first meet a Python value, to know its
marks of missing values. Importing pandas takes longer than applying a small batch does, so what a small batch passes
through does without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def to_numpy(values: pa.Array) -> NDArray[Any]:
    """The numbers or truth values of an array of fixed width; what stands where it has nulls is undefined. Numbers are
    not copied.
    """
    bits = values.buffers()[1]
    if pa.types.is_boolean(values.type):
        return truths(bits, values.offset, len(values))
    dtype = np.dtype(values.type.to_pandas_dtype())
    return np.frombuffer(bits or b"", dtype)[values.offset : values.offset + len(values)]


def valid(values: pa.Array) -> NDArray[np.bool_]:
    """Which of the values are not null."""
    if not values.null_count or pa.types.is_null(values.type):
        return np.full(len(values), not values.null_count)
    return truths(values.buffers()[0], values.offset, len(values))


def truths(bits: pa.Buffer | None, start: int, count: int) -> NDArray[np.bool_]:
    """Truth values that lie in a buffer, a bit each."""
    unpacked = np.unpackbits(np.frombuffer(bits or b"", np.uint8), count=start + count, bitorder="little")
    return unpacked[start:].view(np.bool_)


def from_numpy(numbers: NDArray[Any], *, null: NDArray[np.bool_] | None = None) -> pa.Array:
    """Numbers or truth values as an array, with nulls at some places. Numbers in a row are not copied."""
    kind = pa.from_numpy_dtype(numbers.dtype)
    plain = np.packbits(numbers, bitorder="little") if pa.types.is_boolean(kind) else np.ascontiguousarray(numbers)
    lacking = None if null is None else pa.py_buffer(np.packbits(~null, bitorder="little"))
    return pa.Array.from_buffers(kind, len(numbers), [lacking, pa.py_buffer(plain)])


def texts(values: Sequence[str], kind: pa.DataType | None = None) -> pa.Array:
    """Some texts as an array of a type of text."""
    encoded = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers).cast(kind or pa.string())


def text(value: str) -> pa.Scalar:
    """A text, to compare texts with."""
    return texts([value])[0]


def null_of(kind: pa.DataType) -> pa.Scalar:
    """The null of a type."""
    return pa.nulls(1, kind)[0]
